"""Stable-Baselines3: the agents of a group in all worlds as one `VecEnv`."""

from abmarl.external.sb3.vec_env import SB3VecEnv

__all__ = ["SB3VecEnv"]
