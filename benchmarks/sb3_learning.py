"""PPO of Stable-Baselines3 on foraging worlds, and on an environment that costs nothing."""

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv

from abmarl.examples import foraging
from abmarl.external import SB3VecEnv
from benchmarks.interleaved import Contest
from benchmarks.worlds import HORIZON

# Five updates make an episode.
STEPS = HORIZON // 5


class ConstantVecEnv(VecEnv):
    """Returns the same arrays in every step.

    Args:
        like: The environment whose size and spaces it has.
    """

    def __init__(self, like):
        self.render_mode = None
        super().__init__(like.num_envs, like.observation_space, like.action_space)
        self._obs = np.zeros((self.num_envs, *self.observation_space.shape), np.int8)
        self._rest = (
            np.zeros(self.num_envs, np.float32),
            np.zeros(self.num_envs, bool),
            [{}] * self.num_envs,
        )

    def reset(self):
        """Return the same as always."""
        return self._obs

    def step_async(self, actions):
        """Nothing happens."""

    def step_wait(self):
        """Return the same as always."""
        return self._obs, *self._rest

    def close(self):
        """There is nothing to close."""

    def get_attr(self, attr_name, indices=None):
        """Return an attribute, once per slot."""
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name, value, indices=None):
        """There is nothing to set."""

    def env_method(self, method_name, *method_args, indices=None, **method_kwargs):
        """There is nothing to call."""

    def env_is_wrapped(self, wrapper_class, indices=None):
        """Whether it is wrapped: as if by a Monitor, as ours is."""
        return [True] * self.num_envs


def learning(worlds, epochs=4):
    """PPO with foragers against the same PPO with nothing, per step of a slot.

    Args:
        worlds: How many; one slot each.
        epochs: How often each step is learned from.
    """
    torch.set_num_threads(1)
    vec = foraging().vectorize(worlds, seed=0, horizon=HORIZON)
    ours = SB3VecEnv(vec)
    sides = [(ours, ours.on_policy()), (ConstantVecEnv(ours), {})]
    return Contest(*(_learn(env, buffers, epochs) for env, buffers in sides))


def _learn(env, buffers, epochs):
    model = PPO(
        "MlpPolicy", env, n_steps=STEPS, batch_size=min(4096, STEPS * env.num_envs),
        n_epochs=epochs, seed=0, device="cpu", **buffers,
    )  # fmt: skip

    def learn():
        # A whole episode, so that its end, where all values are asked for, counts.
        model.learn(HORIZON * env.num_envs, reset_num_timesteps=False)
        return HORIZON * env.num_envs

    return learn
