"""Adapters: simulations as other libraries want them, and what they trained as policies.

One module per library, which is imported on first use; without it, an ImportError says what to
install.
"""

import importlib

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


def __getattr__(name: str):
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
