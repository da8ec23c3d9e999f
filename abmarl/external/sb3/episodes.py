"""The infos of a step: how the agents of the slots ended, and who waits."""

import time
from typing import Any

import numpy as np


class SlotEpisodes:
    """Adds up the rewards of every slot until its agent ends.

    Args:
        num_slots: How many slots there are.
    """

    def __init__(self, num_slots: int) -> None:
        self.returns = np.zeros(num_slots)
        self.lengths = np.zeros(num_slots, np.int64)
        self.start = time.time()

    def reset(self) -> None:
        """All episodes start anew."""
        self.returns[:] = 0
        self.lengths[:] = 0

    def close_step(
        self, acted: np.ndarray, rewards: np.ndarray, done: np.ndarray, truncated: np.ndarray,
        last: Any,
    ) -> list[dict[str, Any]]:  # fmt: skip
        """The infos of a step.

        Slots where nothing happens share one dict, and those that wait share another one: making
        a thousand dicts a step would cost more than the step.

        Args:
            acted: bool [slots], whose agents acted.
            rewards: float [slots].
            done: bool [slots], whose agents ended.
            truncated: bool [slots], which of them because time was up.
            last: Function of numbers of slots that returns a list of their last observations.
        """
        self.returns += rewards
        self.lengths += acted
        nothing, waits = {}, {"acted": False}
        infos = [nothing] * len(acted)
        for slot in np.flatnonzero(~acted).tolist():
            infos[slot] = waits
        ends = np.flatnonzero(done)
        if len(ends):
            seconds = round(time.time() - self.start, 6)
            for slot, seen in zip(ends.tolist(), last(ends), strict=True):
                infos[slot] = {
                    "terminal_observation": seen,
                    "TimeLimit.truncated": bool(truncated[slot]),
                    "episode": {
                        "r": float(self.returns[slot]),
                        "l": int(self.lengths[slot]),
                        "t": seconds,
                    },
                }
            self.returns[ends] = 0
            self.lengths[ends] = 0
        return infos
