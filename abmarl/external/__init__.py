"""Adapters: simulations as other libraries want them, and what they trained as policies.

One module per library, which is imported on first use; without it, an ImportError says what to
install.
"""

from typing import TYPE_CHECKING

from abmarl.lazy import names_from

if TYPE_CHECKING:
    from abmarl.external.checkpoints import load_policy as load_policy
    from abmarl.external.environment import gym_to_abmarl as gym_to_abmarl
    from abmarl.external.gym import GymWrapper as GymWrapper
    from abmarl.external.gymnasium import GymnasiumVectorEnv as GymnasiumVectorEnv
    from abmarl.external.gymnasium import GymnasiumWrapper as GymnasiumWrapper
    from abmarl.external.openspiel import OpenSpielWrapper as OpenSpielWrapper
    from abmarl.external.pettingzoo import PettingZooAECWrapper as PettingZooAECWrapper
    from abmarl.external.pettingzoo import PettingZooParallelWrapper as PettingZooParallelWrapper
    from abmarl.external.rllib import MultiAgentWrapper as MultiAgentWrapper
    from abmarl.external.rllib import multi_agent_to_abmarl as multi_agent_to_abmarl
    from abmarl.external.sb3 import SB3VecEnv as SB3VecEnv
    from abmarl.external.torchrl import TorchRLEnv as TorchRLEnv

_HOME = {
    "GymWrapper": "gym",
    "GymnasiumWrapper": "gymnasium",
    "GymnasiumVectorEnv": "gymnasium",
    "gym_to_abmarl": "environment",
    "PettingZooParallelWrapper": "pettingzoo",
    "PettingZooAECWrapper": "pettingzoo",
    "SB3VecEnv": "sb3",
    "OpenSpielWrapper": "openspiel",
    "TorchRLEnv": "torchrl",
    "MultiAgentWrapper": "rllib",
    "multi_agent_to_abmarl": "rllib",
    "load_policy": "checkpoints",
}

__all__ = list(_HOME)

__getattr__, __dir__ = names_from(__name__, _HOME)
