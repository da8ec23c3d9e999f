"""Points of discrete spaces as one number."""

import math
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.kernels.spaces import ravel_rows, unravel_rows
from abmarl.sim.conversion import Conversion

_MOST_POINTS = np.iinfo(np.int64).max


class RavelConversion(Conversion):
    """Points as one number: mixed radix in row-major order, later entries fastest.

    The numbering is that of `numpy.ravel_multi_index` over all entries of the point, in the order
    of the space (a gymnasium `Dict` sorts its keys), each counted from its lowest value.

    Args:
        space: `Discrete`, `MultiBinary`, `MultiDiscrete`, bounded integer `Box`, or a `Dict` or
            `Tuple` of these.
        name: what the space is called in error messages.

    Raises:
        TypeError: a space in it is of another kind.
        ValueError: a part is not an integer or not bounded, or there are more points than a 64-bit
            integer counts.
    """

    def __init__(self, space: Any, name: str = "space") -> None:
        super().__init__(space, name)
        for leaf in self.layout.leaves:
            if not leaf.integer or not leaf.bounded:
                raise ValueError(
                    f"{name}{leaf.where} is {leaf.space!r:.200}, which has no finite number of "
                    f"points to count; only bounded integer spaces can be ravelled"
                )
        radices = [
            int(high) - int(low) + 1
            for low, high in zip(self.layout.low, self.layout.high, strict=True)
        ]
        self._refuse_too_many(radices)
        weights = [1]
        for radix in reversed(radices):
            weights.append(weights[-1] * radix)
        # One more than there are entries: the first weight is the number of points.
        self._weights = np.array(weights[::-1], np.int64)
        self.num_points = weights[-1]
        self.target = spaces.Discrete(self.num_points)

    @property
    def weights(self) -> np.ndarray:
        """int64 [width]: how much one of each entry counts."""
        return self._weights[1:]

    def empty(self, lead: tuple[int, ...]) -> np.ndarray:
        return np.empty(lead, np.int64)

    def convert_into(self, points: Any, out: np.ndarray) -> int:
        flat = out.reshape(-1)
        flat.fill(0)
        wrong = -1
        for leaf, values in self.layout.rows(points):
            weights = self._weights[leaf.start + 1 : leaf.stop + 1]
            row = ravel_rows(values, leaf.low, leaf.high, weights, flat)
            if row >= 0 and (wrong < 0 or row < wrong):
                wrong = row
        return wrong

    def restore_into(self, values: np.ndarray, out: Any) -> None:
        codes = np.asarray(values, np.int64).reshape(-1)
        for leaf, rows in self.layout.rows(out):
            weights = self._weights[leaf.start : leaf.stop + 1]
            unravel_rows(codes, weights[0], leaf.low, weights[1:], rows)

    def outside(self, values: np.ndarray) -> int:
        if values.dtype.kind not in "iu":
            raise TypeError(f"points of {self.target} must be integers, got {values.dtype}")
        wrong = ((values < 0) | (values >= self.num_points)).reshape(-1)
        return int(np.argmax(wrong)) if wrong.any() else -1

    def _convert(self, row: np.ndarray) -> int:
        code = np.zeros(1, np.int64)
        ravel_rows(row, self.layout.low, self.layout.high, self._weights[1:], code)
        return int(code[0])

    def _restore(self, value: Any, row: np.ndarray) -> None:
        codes = np.array([value], np.int64)
        unravel_rows(codes, self._weights[0], self.layout.low, self._weights[1:], row)

    def _refuse_too_many(self, radices: list[int]) -> None:
        digits = sum(map(math.log10, radices))
        # Beyond that the exact product would be long to compute and longer to read.
        count = math.prod(radices) if digits < 40 else None
        if count is not None and count <= _MOST_POINTS:
            return
        size = count if count is not None else f"about {10 ** (digits % 1):.2f}e+{int(digits)}"
        raise ValueError(
            f"{self.name} has {size} points and a 64-bit integer counts {_MOST_POINTS} at most; "
            f"flatten it instead, or observe less: {self.source!r:.200}"
        )
