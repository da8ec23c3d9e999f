"""Adapters: simulations as other libraries want them, and what they trained as policies.

One module per library, which is imported on first use; without it, an ImportError says what to
install.
"""

from abmarl.lazy import names_from

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
