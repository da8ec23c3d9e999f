"""Where the numbers of a point of a space lie: nested points as rows of numbers and back."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.spaces import Space

from abmarl.sim.spaces import to_gymnasium


@dataclass(frozen=True, eq=False)
class Leaf:
    """A space within a nested space that is not nested itself.

    Attributes:
        space: `Discrete`, `MultiDiscrete`, `MultiBinary` or `Box`.
        path: keys and numbers that lead from the point to the leaf's value.
        start, stop: its entries in the row of the point.
        low, high: flat bounds, both inclusive: int64, or float64 for a `Box` of floats.
        bounded: whether all bounds were given; those of an integer `Box` may only be its dtype's.
    """

    space: Space
    path: tuple[Any, ...]
    start: int
    stop: int
    low: np.ndarray
    high: np.ndarray
    bounded: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value, () for a number."""
        return self.space.shape or ()

    @property
    def width(self) -> int:
        """How many entries there are."""
        return self.stop - self.start

    @property
    def integer(self) -> bool:
        """Whether the entries are integers."""
        return self.low.dtype.kind == "i"

    @property
    def where(self) -> str:
        """The path as it is written behind the name of a point."""
        return "".join(f"[{key!r}]" for key in self.path)

    def value(self, points: Any) -> Any:
        """Return what lies at the leaf in a (nested) point or batch of points."""
        for key in self.path:
            points = points[key]
        return points


class SpaceLayout:
    """The entries of the points of a space: leaf by leaf in the space's order, row-major each.

    Args:
        space: a space of gymnasium or the old gym, or a dict of spaces.
        name: what the space is called in error messages.

    Attributes:
        space: the space, as gymnasium's.
        leaves: the spaces it consists of, in their order.
        width: how many entries a point has.
        low, high: [width] bounds of the entries, int64 when all are integers, else float64.
        integer: whether all entries are integers.

    Raises:
        TypeError: the space, or one in it, is of a kind that has no fixed number of entries.
        ValueError: its integers do not fit 64 bits.
    """

    def __init__(self, space: Any, name: str = "space") -> None:
        self.space = to_gymnasium(space, name)
        self.leaves: list[Leaf] = []
        self.width = 0
        self._collect(self.space, (), name)
        self.integer = all(leaf.integer for leaf in self.leaves)
        self.dtype = np.dtype(np.int64 if self.integer else np.float64)
        self.low = self._joined([leaf.low for leaf in self.leaves])
        self.high = self._joined([leaf.high for leaf in self.leaves])

    def read(self, point: Any) -> np.ndarray:
        """Return the entries of a point that lies in the space, ``[1, width]``."""
        row = np.empty((1, self.width), self.dtype)
        for leaf in self.leaves:
            value = leaf.value(point)
            if leaf.shape == ():
                row[0, leaf.start] = value
            else:
                row[0, leaf.start : leaf.stop] = np.asarray(value).reshape(-1)
        return row

    def point(self, row: np.ndarray) -> Any:
        """Return the point with the entries ``[width]``, with the types that the space holds."""
        return self._assemble(iter(self.leaves), lambda leaf: _value(leaf, row))

    def empty(self, lead: tuple[int, ...]) -> Any:
        """Return uninitialised arrays ``[*lead, *shape]`` for a batch, nested as the space."""
        return self._assemble(
            iter(self.leaves), lambda leaf: np.empty((*lead, *leaf.shape), leaf.space.dtype)
        )

    def lead(self, points: Any) -> tuple[int, ...]:
        """Return the dimensions of a batch that come before those of the space."""
        if not self.leaves:
            return ()
        leaf = self.leaves[0]
        shape = np.shape(leaf.value(points))
        return shape[: len(shape) - len(leaf.shape)]

    def is_writable(self, points: Any, lead: tuple[int, ...]) -> bool:
        """Tell whether a batch of points can be written into the arrays without a copy."""
        arrays = [(leaf, leaf.value(points)) for leaf in self.leaves]
        return all(
            array.shape == (*lead, *leaf.shape) and array.flags.c_contiguous
            for leaf, array in arrays
        )

    def rows(self, points: Any) -> Iterator[tuple[Leaf, np.ndarray]]:
        """Yield every leaf with its part of a batch, ``[M, leaf.width]``, a view if possible.

        Args:
            points: arrays ``[*lead, *shape]``, nested as the space.

        Raises:
            TypeError: an array is not of numbers, or of floats where the space has integers.
            ValueError: an array has the wrong shape.
        """
        lead = self.lead(points)
        count = int(np.prod(lead, dtype=np.int64))
        for leaf in self.leaves:
            array = np.asarray(leaf.value(points))
            if array.shape != (*lead, *leaf.shape):
                raise ValueError(
                    f"a batch{leaf.where} must have shape {(*lead, *leaf.shape)}, got {array.shape}"
                )
            if array.dtype.kind not in ("biu" if leaf.integer else "biuf"):
                kind = "integers" if leaf.integer else "numbers"
                raise TypeError(f"a batch{leaf.where} must be of {kind}, got {array.dtype}")
            if array.dtype == np.uint64:
                # The numbers of every space fit int64; kernels would mix the two to floats.
                array = array.view(np.int64)
            yield leaf, array.reshape(count, leaf.width)

    def _collect(self, space: Any, path: tuple[Any, ...], name: str) -> None:
        if isinstance(space, (spaces.Dict, spaces.Tuple)):
            parts: Any = space.spaces
            for key in parts if isinstance(parts, dict) else range(len(parts)):
                self._collect(parts[key], (*path, key), f"{name}[{key!r}]")
            return
        low, high, bounded = _bounds(space, name)
        stop = self.width + low.size
        self.leaves.append(Leaf(space, path, self.width, stop, low, high, bounded))
        self.width = stop

    def _joined(self, parts: list[np.ndarray]) -> np.ndarray:
        return np.concatenate([np.empty(0, self.dtype), *parts]).astype(self.dtype)

    def _assemble(self, leaves: Iterator[Leaf], value: Any, space: Space | None = None) -> Any:
        space = self.space if space is None else space
        if isinstance(space, spaces.Dict):
            return {key: self._assemble(leaves, value, part) for key, part in space.spaces.items()}
        if isinstance(space, spaces.Tuple):
            return tuple([self._assemble(leaves, value, part) for part in space.spaces])
        return value(next(leaves))


def _value(leaf: Leaf, row: np.ndarray) -> Any:
    if isinstance(leaf.space, spaces.Discrete):
        return int(row[leaf.start])
    return row[leaf.start : leaf.stop].reshape(leaf.shape).astype(leaf.space.dtype)


def _bounds(space: Any, name: str) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return flat bounds of a space that is not nested, and whether they were all given."""
    bounded = True
    low: Any
    high: Any
    if isinstance(space, spaces.Discrete):
        low, high = [int(space.start)], [int(space.start) + int(space.n) - 1]
    elif isinstance(space, spaces.MultiBinary):
        low, high = np.zeros(space.shape, np.int64), np.ones(space.shape, np.int64)
    elif isinstance(space, spaces.MultiDiscrete):
        low = space.start.astype(np.int64)
        high = low + (space.nvec.astype(np.int64) - 1)
    elif isinstance(space, spaces.Box):
        low, high = space.low, space.high
        bounded = bool(space.bounded_below.all() and space.bounded_above.all())
        if low.dtype.kind == "f":
            low, high = low.astype(np.float64), high.astype(np.float64)
    else:
        raise TypeError(
            f"{name} is {space!r:.200}; what can be converted are Discrete, MultiBinary, "
            f"MultiDiscrete and Box spaces, and Dict and Tuple spaces of these"
        )
    low, high = np.asarray(low).reshape(-1), np.asarray(high).reshape(-1)
    if low.dtype.kind != "f":
        limits = np.iinfo(np.int64)
        if any(int(bound) > limits.max or int(bound) < limits.min for bound in (*low, *high)):
            raise ValueError(f"{name} holds numbers that 64-bit integers do not reach: {space}")
        low, high = low.astype(np.int64), high.astype(np.int64)
    return low, high, bounded
