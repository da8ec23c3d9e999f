"""Stable-Baselines3: the agents of a group in all worlds as one `VecEnv`."""

import sys

from abmarl.external.sb3 import buffers
from abmarl.external.sb3.vec_env import SB3VecEnv

__all__ = ["SB3VecEnv"]

# Models saved by earlier versions name the buffers' former modules.
for _name in ("last_step", "replay_buffers", "rollout_buffers"):
    sys.modules[f"{__name__}.{_name}"] = buffers
