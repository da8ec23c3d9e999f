"""Buffers that leave out the steps of slots that wait for their worlds."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from abmarl.extras import load

_buffers = load("stable_baselines3.common.buffers", "sb3", "abmarl.external.sb3")


class LastStep:
    """Which slots acted in the last step: written by an `SB3VecEnv`, read by rollout buffers.

    It is saved empty with a model, because a saved model has no environment.
    """

    def __init__(self) -> None:
        self._acted: np.ndarray | None = None

    @property
    def acted(self) -> np.ndarray:
        """Which slots acted, bool [slots]; written by the environment."""
        if self._acted is None:
            raise ValueError(
                "the buffer does not know who acted, because it has no environment: load the "
                "model with PPO.load(path, env, **env.on_policy())"
            )
        return self._acted

    @acted.setter
    def acted(self, acted: np.ndarray) -> None:
        self._acted = acted

    def __reduce__(self) -> tuple:
        return LastStep, ()


class ActedRows:
    """A rollout buffer that trains only on steps in which the agents acted.

    A slot whose agent has ended waits for its world. These steps are kept, because buffers are
    rectangular, but `get` leaves them out. Advantages need no change: an agent's last step is the
    last of an episode, so nothing of what comes after flows back into it.

    Args:
        last_step: Where the environment writes who acted.
    """

    def __init__(self, *args: Any, last_step: LastStep, **kwargs: Any) -> None:
        self.last_step = last_step
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """Forget everything."""
        self.acted = np.zeros((self.buffer_size, self.n_envs), bool)
        super().reset()

    def add(self, *args: Any, **kwargs: Any) -> None:
        """Keep a step of all slots; called right after it."""
        self.acted[self.pos] = self.last_step.acted
        super().add(*args, **kwargs)

    def get(self, batch_size: int | None = None) -> Iterator[Any]:
        """Yield minibatches of the steps in which agents acted, in a random order.

        Their sizes differ by one at most, so that none is too small to normalise.

        Args:
            batch_size: How many steps at most; None: all of them.
        """
        if not self.generator_ready:
            next(super().get(1))  # makes the library lay out the rows slot by slot
        rows = np.flatnonzero(self.acted.T)
        if not len(rows):
            raise ValueError(
                f"no agent acted in {self.buffer_size} steps of {self.n_envs} slots: there is "
                f"nothing to learn from; take more worlds or a larger n_steps"
            )
        # The library seeds NumPy's global generator, and draws from it here, too.
        order = np.random.permutation(rows)  # noqa: NPY002
        for batch in np.array_split(order, -(-len(rows) // (batch_size or len(rows)))):
            yield self._get_samples(batch)


class ActiveRolloutBuffer(ActedRows, _buffers.RolloutBuffer):
    """For observations that are one array."""


class ActiveDictRolloutBuffer(ActedRows, _buffers.DictRolloutBuffer):
    """For `Dict` observations."""


class ActedTransitions:
    """A replay buffer that keeps only steps in which the agents acted.

    The transitions of all slots follow one another in a single column, and those of slots that
    wait for their worlds are left out: ``buffer_size`` counts what can be learned from. Infos of
    slots that wait have ``"acted": False``.

    Args:
        buffer_size: How many transitions it can hold.
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


class ActiveReplayBuffer(ActedTransitions, _buffers.ReplayBuffer):
    """For observations that are one array."""


class ActiveDictReplayBuffer(ActedTransitions, _buffers.DictReplayBuffer):
    """For `Dict` observations."""
