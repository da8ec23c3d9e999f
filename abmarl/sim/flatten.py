"""Points of spaces as one flat array."""

from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.kernels.spaces import first_outside, flatten_rows, unflatten_rows
from abmarl.sim.conversion import Conversion
from abmarl.sim.layout import Leaf

_MOST_ENTRIES = 10_000_000


class FlattenConversion(Conversion):
    """Points as one flat `Box`: of int64 when every part is an integer, else of floats.

    A `Discrete` of n points becomes n entries, all 0 but one; other spaces keep their numbers. The
    upper bounds of a `MultiDiscrete` are its sizes, as in Abmarl; the last number of each entry is
    one less, and so a flat point beyond it stands for the last. On the way back a one-hot block
    stands for its largest entry, and numbers of integer parts are rounded.

    Args:
        space: `Discrete`, `MultiBinary`, `MultiDiscrete`, `Box`, or a `Dict` or `Tuple` of these.
        name: what the space is called in error messages.
        one_hot: whether a `Discrete` becomes one entry for each of its points; else it becomes one
            entry that counts from 0.
        dtype: dtype of an integer target.

    Raises:
        TypeError: a space in it is of another kind.
    """

    def __init__(
        self, space: Any, name: str = "space", one_hot: bool = True, dtype: Any = np.int64
    ) -> None:
        super().__init__(space, name)
        if not isinstance(one_hot, bool):
            raise TypeError(f"one_hot must be True or False, got {one_hot!r:.60}")
        low, high, blocks = [], [], []
        self.width = 0
        for leaf in self.layout.leaves:
            leaf_low, leaf_high, size, shift = _flat_bounds(leaf, one_hot, name)
            blocks.append((leaf.start, leaf.width, self.width, size, shift))
            low.append(leaf_low)
            high.append(leaf_high)
            self.width += len(leaf_low)
        self._blocks = np.array(blocks, np.int64).reshape(-1, 5)
        # Numbered from the first entry of the leaf, for batches, which come leaf by leaf.
        self._leaf_blocks = [block[None] * (0, 1, 1, 1, 1) for block in self._blocks]
        kind = np.dtype(dtype) if self.layout.integer else self._float_dtype()
        self.target = spaces.Box(_joined(low, kind), _joined(high, kind), dtype=kind)
        sides = self.target.low, self.target.high
        self._bounds = [side.astype(self.layout.dtype) for side in sides]
        widths = [len(part) for part in low]
        self._integral = np.repeat([leaf.integer for leaf in self.layout.leaves], widths)

    def empty(self, lead: tuple[int, ...]) -> np.ndarray:
        return np.empty((*lead, self.width), self.target.dtype)

    def convert_into(self, points: Any, out: np.ndarray) -> int:
        flat = out.reshape(-1, self.width)
        wrong = -1
        for (_, values), blocks in zip(self.layout.rows(points), self._leaf_blocks, strict=True):
            row = flatten_rows(values, blocks, flat)
            if row >= 0 and (wrong < 0 or row < wrong):
                wrong = row
        return wrong

    def restore_into(self, values: np.ndarray, out: Any) -> None:
        flat = self._rounded(values.reshape(-1, self.width))
        for (leaf, rows), blocks in zip(self.layout.rows(out), self._leaf_blocks, strict=True):
            unflatten_rows(flat, blocks, leaf.low, leaf.high, rows)

    def outside(self, values: np.ndarray) -> int:
        if values.dtype.kind not in ("iu" if self.layout.integer else "iuf"):
            kind = "integers" if self.layout.integer else "numbers"
            raise TypeError(f"points of the flat {self.name} must be {kind}, got {values.dtype}")
        return first_outside(values.reshape(-1, self.width), *self._bounds)

    def _convert(self, row: np.ndarray) -> np.ndarray:
        out = self.empty((1,))
        flatten_rows(row, self._blocks, out)
        return out[0]

    def _restore(self, value: Any, row: np.ndarray) -> None:
        flat = self._rounded(np.asarray(value, self.layout.dtype).reshape(1, -1))
        unflatten_rows(flat, self._blocks, self.layout.low, self.layout.high, row)

    def _rounded(self, flat: np.ndarray) -> np.ndarray:
        """Flat points with whole numbers where the entries are integers."""
        if self.layout.integer or not self._integral.any():
            return flat
        return np.where(self._integral, np.rint(flat), flat)

    def _float_dtype(self) -> np.dtype:
        """That of the floats in the space, or float64 where it would not hold the integers."""
        leaves = self.layout.leaves
        found = np.result_type(*{leaf.space.dtype for leaf in leaves if not leaf.integer})
        bounds = [(leaf.low, leaf.high) for leaf in leaves if leaf.integer and leaf.bounded]
        largest = max(
            (abs(int(bound)) for pair in bounds for side in pair for bound in side), default=0
        )
        return np.dtype(np.float64) if largest > 2 ** (np.finfo(found).nmant + 1) else found


def _flat_bounds(leaf: Leaf, one_hot: bool, name: str) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Bounds of the flat entries of a leaf, number of one-hot entries (0: not one-hot), shift."""
    low, high = leaf.low, leaf.high
    if isinstance(leaf.space, spaces.Discrete):
        size, shift = int(leaf.space.n), int(leaf.space.start)
        if not one_hot:
            return low - shift, high - shift, 0, shift
        if size > _MOST_ENTRIES:
            raise ValueError(
                f"{name} holds {leaf.space!r}, which is too large for one entry per point; "
                f"flatten it with one_hot=False"
            )
        return np.zeros(size, np.int64), np.ones(size, np.int64), size, shift
    if isinstance(leaf.space, spaces.MultiDiscrete):
        return low, high + 1, 0, 0
    return low, high, 0, 0


def _joined(parts: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *parts]).astype(dtype)
