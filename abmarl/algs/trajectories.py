"""Episodes of many agents side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass
class Trajectories:
    """K episodes of single agents, one per column, of at most T steps.

    Attributes:
        observations: int64 [T, K], what was seen before each step.
        actions: int64 [T, K].
        rewards: float64 [T, K], what each step brought.
        lengths: int64 [K], how many steps each episode has; what comes after does not matter.
    """

    observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(
        cls,
        observations: Sequence[Sequence[int]],
        actions: Sequence[Sequence[int]],
        rewards: Sequence[Sequence[float]],
    ) -> "Trajectories":
        """Episodes from lists, one list per episode.

        Args:
            observations: what was seen; the observation after the last step may be there too.
            actions: actions.
            rewards: as many as actions.

        Raises:
            ValueError: the lists do not have as many entries as one another.
        """
        lengths = np.array([len(one) for one in actions], np.int64)
        made = cls(
            *(np.zeros((lengths.max(initial=0), len(lengths)), kind) for kind in (int, int, float)),
            lengths,
        )
        for k, (seen, done, got) in enumerate(zip(observations, actions, rewards, strict=True)):
            n = len(done)
            if len(got) != n or len(seen) not in (n, n + 1):
                raise ValueError(
                    f"episode {k} has {len(seen)} observations, {n} actions and {len(got)} "
                    f"rewards; it must have as many rewards as actions, and one observation more"
                )
            made.observations[:n, k] = seen[:n]
            made.actions[:n, k], made.rewards[:n, k] = done, got
        return made

    @property
    def valid(self) -> np.ndarray:
        """Which entries are steps of the episodes, bool [T, K]."""
        return np.arange(len(self.rewards))[:, None] < self.lengths

    def __len__(self) -> int:
        return len(self.lengths)
