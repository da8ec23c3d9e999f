"""Replay buffers of DQN and the like that keep steps in which the agents acted only."""

from typing import Any

import numpy as np
from stable_baselines3.common.buffers import DictReplayBuffer, ReplayBuffer


class ActedTransitions:
    """What is the same for both kinds of replay buffers.

    The transitions of all slots follow one another in a single column, and those of slots that
    wait for their worlds are left out: ``buffer_size`` counts what can be learned from. Who waits
    stands in the infos, ``"acted": False``.

    Args:
        buffer_size: How many transitions there is room for.
        observation_space, action_space, device: As the library gives them.
        n_envs: How many slots there are.
        optimize_memory_usage: Must be False: slots that wait break the sequence.
        handle_timeout_termination: Whether an agent that ran out of time counts as not done.

    Raises:
        ValueError: `optimize_memory_usage` is True.
    """

    def __init__(
        self, buffer_size: int, observation_space: Any, action_space: Any, device: Any = "auto",
        n_envs: int = 1, optimize_memory_usage: bool = False,
        handle_timeout_termination: bool = True,
    ) -> None:  # fmt: skip
        if optimize_memory_usage:
            raise ValueError(
                f"{type(self).__name__} keeps no unbroken sequences, so "
                f"optimize_memory_usage must be False"
            )
        super().__init__(
            buffer_size, observation_space, action_space, device, n_envs=1,
            handle_timeout_termination=handle_timeout_termination,
        )  # fmt: skip
        self.num_slots = n_envs

    def add(
        self, obs: Any, next_obs: Any, action: np.ndarray, reward: np.ndarray, done: np.ndarray,
        infos: list[dict[str, Any]],
    ) -> None:  # fmt: skip
        """Keep the transitions of all slots that acted; see the library's `ReplayBuffer`."""
        rows = np.flatnonzero([info.get("acted", True) for info in infos])[-self.buffer_size :]
        to = (self.pos + np.arange(len(rows))) % self.buffer_size
        self._put(self.observations, obs, to, rows)
        self._put(self.next_observations, next_obs, to, rows)
        self._put(self.actions, action, to, rows)
        self._put(self.rewards, reward, to, rows)
        self._put(self.dones, done, to, rows)
        if self.handle_timeout_termination:
            self.timeouts[to, 0] = [infos[row].get("TimeLimit.truncated", False) for row in rows]
        self.full |= self.pos + len(rows) >= self.buffer_size
        self.pos = (self.pos + len(rows)) % self.buffer_size

    def _put(self, kept: Any, given: Any, to: np.ndarray, rows: np.ndarray) -> None:
        if isinstance(kept, dict):
            for key, part in kept.items():
                self._put(part, given[key], to, rows)
        else:
            values = np.asarray(given)
            kept[to, 0] = values.reshape(self.num_slots, *kept.shape[2:])[rows]


class ActiveReplayBuffer(ActedTransitions, ReplayBuffer):
    """For observations that are one array."""


class ActiveDictReplayBuffer(ActedTransitions, DictReplayBuffer):
    """For `Dict` observations."""
