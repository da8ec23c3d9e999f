"""Points of discrete spaces as one row of numbers that all count from 0."""

from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.sim.conversion import Conversion


class MultiDiscreteConversion(Conversion):
    """Points as one `MultiDiscrete`: their entries side by side, each counted from its lowest.

    For spaces with more points than one number should count: one entry is one choice.

    Args:
        space: `Discrete`, `MultiBinary`, `MultiDiscrete`, bounded integer `Box`, or a `Dict` or
            `Tuple` of these.
        name: what the space is called in error messages.

    Raises:
        TypeError: a space in it is of another kind.
        ValueError: a part is not an integer or not bounded, or there is no part.
    """

    def __init__(self, space: Any, name: str = "space") -> None:
        super().__init__(space, name)
        for leaf in self.layout.leaves:
            if not leaf.integer or not leaf.bounded:
                raise ValueError(
                    f"{name}{leaf.where} is {leaf.space!r:.200}, which has no finite number of "
                    f"choices; only bounded integer spaces become a MultiDiscrete"
                )
        if not self.layout.width:
            raise ValueError(f"{name} is {self.source!r:.200}, in which there is nothing to choose")
        self.target = spaces.MultiDiscrete(self.layout.high - self.layout.low + 1)

    def empty(self, lead: tuple[int, ...]) -> np.ndarray:
        return np.empty((*lead, self.layout.width), np.int64)

    def convert_into(self, points: Any, out: np.ndarray) -> int:
        flat = out.reshape(-1, self.layout.width)
        for leaf, values in self.layout.rows(points):
            np.subtract(values, leaf.low, out=flat[:, leaf.start : leaf.stop])
        return self.outside(flat)

    def restore_into(self, values: np.ndarray, out: Any) -> None:
        flat = values.reshape(-1, self.layout.width)
        for leaf, rows in self.layout.rows(out):
            rows[...] = flat[:, leaf.start : leaf.stop] + leaf.low

    def outside(self, values: np.ndarray) -> int:
        if values.dtype.kind not in "iu":
            raise TypeError(f"points of {self.target} must be integers, got {values.dtype}")
        flat = values.reshape(-1, self.layout.width)
        wrong = ((flat < 0) | (flat >= self.target.nvec)).any(axis=1)
        return int(np.argmax(wrong)) if wrong.any() else -1

    def _convert(self, row: np.ndarray) -> np.ndarray:
        return row[0] - self.layout.low

    def _restore(self, value: Any, row: np.ndarray) -> None:
        row[...] = value + self.layout.low
