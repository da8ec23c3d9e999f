"""Gymnasium: one world or thousands of them as environments, and the shipped ones by name.

Importing this package makes the names known to `gymnasium.make`.
"""

from abmarl.external.gymnasium.registration import register_shipped
from abmarl.external.gymnasium.vector_env import GymnasiumVectorEnv
from abmarl.external.gymnasium.wrapper import GymnasiumWrapper

__all__ = ["GymnasiumVectorEnv", "GymnasiumWrapper"]

register_shipped()
