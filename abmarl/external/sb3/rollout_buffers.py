"""Rollout buffers of PPO and A2C that train on steps in which the agents acted only."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from stable_baselines3.common.buffers import DictRolloutBuffer, RolloutBuffer

from abmarl.external.sb3.last_step import LastStep


class ActedRows:
    """What is the same for all kinds of rollout buffers.

    A slot whose agent has ended waits for its world. These steps are kept, because buffers are
    rectangles, but `get` leaves them out. Advantages need no change: an agent's last step is the
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
        """Minibatches of the steps in which agents acted, in a random order.

        They are of equal size, to one, so that none is too small to normalise.

        Args:
            batch_size: How many steps at most; None: all of them.

        Raises:
            ValueError: Nobody has acted.
        """
        if not self.generator_ready:
            next(super().get(1))  # lays the rows out, slot by slot
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


class ActiveRolloutBuffer(ActedRows, RolloutBuffer):
    """For observations that are one array."""


class ActiveDictRolloutBuffer(ActedRows, DictRolloutBuffer):
    """For `Dict` observations."""
