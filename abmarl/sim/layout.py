"""Spaces as rows of numbers: where the numbers of a point lie, and which ones are allowed."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.spaces import Space

from abmarl.sim.spaces import to_gymnasium

# The name of the only leaf of a space that is not nested.
POINT = "point"

_INTEGERS = {int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])}


class Leaf:
    """A space within a nested space that is not nested itself.

    Attributes:
        space: ``Discrete``, ``MultiDiscrete``, ``MultiBinary`` or ``Box``.
        path: Keys and numbers that lead from the point to the leaf's value.
        start, stop, width: Its entries in the row of the point, and how many.
        shape: Shape of the value, () for a number.
        low, high: Flat bounds, both inclusive: int64, or float64 for a ``Box`` of floats.
        bounded: Whether all bounds were given; those of an integer ``Box`` may only be its dtype's.
        integer: Whether the entries are integers.
    """

    def __init__(self, space: Space, path: tuple[Any, ...], start: int, name: str) -> None:
        self.space, self.path, self.start = space, path, start
        self.low, self.high, self.bounded = _bounds(space, name)
        self.width = self.low.size
        self.stop = start + self.width
        self.shape: tuple[int, ...] = space.shape or ()
        self.integer = self.low.dtype.kind == "i"

    @property
    def where(self) -> str:
        """The path as it is written behind the name of a point."""
        return "".join(f"[{key!r}]" for key in self.path)

    @property
    def name(self) -> Any:
        """The key of the leaf; that of a nested one is joined by dots."""
        if len(self.path) < 2:
            return self.path[0] if self.path else POINT
        return ".".join(map(str, self.path))

    @functools.cached_property
    def dtype(self) -> np.dtype:
        """The narrowest dtype that holds every value: for floats that of the space."""
        given = np.dtype(self.space.dtype)
        if given.kind not in "iu" or not self.low.size:
            return given
        return narrow(self.low.min(), self.high.max())

    def value(self, points: Any) -> Any:
        """Return what lies at the leaf in a (nested) point or batch of points."""
        return value_at(points, self.path)

    def read(self, flat: np.ndarray, at: int) -> Any:
        """Return the value with the entries ``flat[at:]``, with the type that the space holds."""
        if isinstance(self.space, spaces.Discrete):
            return int(flat[at])
        return flat[at : at + self.width].reshape(self.shape).astype(self.space.dtype)

    def put(self, value: Any, flat: np.ndarray, at: int) -> bool:
        """Write a value to ``flat[at:]``; return False, and write nothing, if it is not allowed."""
        if not self.shape:
            if type(value) is not int and not self._is_number(value):
                return False
            low, high = self._extremes
            if not low <= value <= high:
                return False
            flat[at] = value
            return True
        try:
            array = value if type(value) is np.ndarray else np.asarray(value)
        except ValueError:
            return False
        if array.shape != self.shape or not self.takes(array.dtype):
            return False
        entries = array.tolist() if array.ndim == 1 else array.reshape(-1).tolist()
        if self.common is not None:
            low, high = self._extremes
            for entry in entries:
                if not low <= entry <= high:
                    return False
        elif not all(
            low <= entry <= high for entry, low, high in zip(entries, *self._limits, strict=True)
        ):
            return False
        for entry in entries:
            flat[at] = entry
            at += 1
        return True

    def stack(self, values: Sequence[Any]) -> np.ndarray | None:
        """Return values of a leaf of integers as rows of an integer array ``[n, width]``.

        None when one of them is not allowed, or they are of several kinds and have to be looked at
        one by one.
        """
        if not self.shape:
            if not set(map(type, values)) <= _INTEGERS:
                return None
            low, high = self._extremes
            inside = low <= min(values) and max(values) <= high
            return np.array(values)[:, None] if inside else None
        array = self._stacked(values)
        if array is None or array.dtype.kind not in "iu":
            return None
        array = array.reshape(len(values), -1)
        if self.common is not None:
            # ``array.min`` takes twice as long for few values.
            low, high = self._extremes
            least, most = np.minimum.reduce(array, None), np.maximum.reduce(array, None)
            inside = least >= low and most <= high
        else:
            inside = ((array >= self.low) & (array <= self.high)).all()
        return array if inside else None

    def takes(self, dtype: Any) -> bool:
        """Tell whether numbers of this dtype can be entries: integers for integer spaces."""
        return np.dtype(dtype).kind in ("iu" if self.integer else "iuf")

    @functools.cached_property
    def common(self) -> tuple[Any, Any] | None:
        """One pair of bounds for all entries, as scalars of the narrow dtype, where that is so."""
        low, high = self.low, self.high
        if not low.size or (low != low[0]).any() or (high != high[0]).any():
            return None
        kind = self.dtype.type if self.integer else np.float64
        return kind(low[0]), kind(high[0])

    @functools.cached_property
    def _limits(self) -> tuple[list, list]:
        return self.low.tolist(), self.high.tolist()

    @functools.cached_property
    def _extremes(self) -> tuple[Any, Any]:
        return min(self._limits[0]), max(self._limits[1])

    def _stacked(self, values: Sequence[Any]) -> np.ndarray | None:
        if len(self.shape) == 1:
            # The fastest way to one array; ``casting`` lets one dtype through and no other.
            try:
                if set(map(len, values)) != {self.width}:
                    return None
                dtype = getattr(values[0], "dtype", np.int64)
                array = np.concatenate(values, dtype=dtype, casting="no")
            except (TypeError, ValueError, OverflowError):
                return None
            return array if array.ndim == 1 else None
        if set(map(type, values)) != {np.ndarray}:
            return None
        if len({(one.shape, one.dtype) for one in values}) > 1 or values[0].shape != self.shape:
            return None
        return np.array(values)

    def _is_number(self, value: Any) -> bool:
        dtype = getattr(value, "dtype", None)
        if dtype is not None:
            return value.shape == () and self.takes(dtype)
        kinds = int if self.integer else int | float
        return isinstance(value, kinds) and not isinstance(value, bool)


class SpaceLayout:
    """The entries of the points of a space: leaf by leaf in the space's order, row-major each.

    Args:
        space: A space of gymnasium or the old gym, or a dict of spaces.
        name: What the space is called in error messages.

    Attributes:
        space: The space, as gymnasium's.
        leaves: The spaces it consists of, in their order.
        nested: Whether it is a ``Dict`` or ``Tuple``.
        shape: Shape of a point as one array: that of the space, ``(width,)`` of a nested one.
        width: How many entries a point has.
        low, high: [width] bounds of the entries, int64 when all are integers, else float64.
        integer: Whether all entries are integers.
        dtype: int64 or float64, which holds every entry.

    Raises:
        TypeError: The space, or one in it, is of a kind that has no fixed number of entries.
        ValueError: Its integers do not fit 64 bits.
    """

    def __init__(self, space: Any, name: str = "space") -> None:
        self.space = to_gymnasium(space, name)
        self.leaves: list[Leaf] = []
        self.width = 0
        self._collect(self.space, (), name)
        self.nested = isinstance(self.space, (spaces.Dict, spaces.Tuple))
        self.shape = (self.width,) if self.nested else self.leaves[0].shape
        self.integer = all(leaf.integer for leaf in self.leaves)
        self.dtype = np.dtype(np.int64 if self.integer else np.float64)
        self.low = self._joined([leaf.low for leaf in self.leaves])
        self.high = self._joined([leaf.high for leaf in self.leaves])

    @functools.cached_property
    def narrow(self) -> np.dtype:
        """The narrowest integers that hold every entry, or float64."""
        return narrow(self.low.min(), self.high.max()) if self.integer else np.dtype(np.float64)

    def takes(self, dtype: Any) -> bool:
        """Tell whether numbers of this dtype can be entries: integers for integer spaces."""
        return np.dtype(dtype).kind in ("iu" if self.integer else "iuf")

    def narrow_space(self) -> Space:
        """Return the space of points as single arrays with the narrow dtype."""
        space = self.space
        if isinstance(space, spaces.Dict) and all(
            isinstance(part, spaces.Discrete) for part in space.spaces.values()
        ):
            return spaces.MultiDiscrete(self.high - self.low + 1, start=self.low)
        if isinstance(space, spaces.Discrete):
            return spaces.Discrete(int(space.n), start=int(space.start), dtype=self.narrow.type)
        if isinstance(space, spaces.Box | spaces.Dict):
            low, high = (
                side.reshape(self.shape).astype(self.narrow) for side in (self.low, self.high)
            )
            return spaces.Box(low, high, self.shape, self.narrow.type)
        return space

    # --- single points ---

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

    def point(self, flat: np.ndarray, at: int = 0) -> Any:
        """Return the point with the entries ``flat[at:]``, with the types that the space holds."""
        return self._assemble(iter(self.leaves), lambda leaf: leaf.read(flat, at + leaf.start))

    def put(self, point: Any, flat: np.ndarray, at: int) -> bool:
        """Write a point to ``flat[at:]``; return False, and write nothing, if it lies outside."""
        if not self.nested:
            return self.leaves[0].put(point, flat, at)
        values: list[Any] = []
        if not _take_apart(self.space, point, values):
            return False
        row = np.empty(self.width, flat.dtype)
        for leaf, value in zip(self.leaves, values, strict=True):
            if not leaf.put(value, row, leaf.start):
                return False
        flat[at : at + self.width] = row
        return True

    # --- batches of points ---

    def empty(self, lead: tuple[int, ...]) -> Any:
        """Return uninitialised arrays ``[*lead, *shape]``, nested as the space."""
        return self._assemble(
            iter(self.leaves), lambda leaf: np.empty((*lead, *leaf.shape), leaf.space.dtype)
        )

    def lowest(self, lead: tuple[int, ...]) -> Any:
        """Return arrays ``[*lead, *shape]``, nested as the space, of its lowest point."""
        found = self.empty(lead)
        for leaf in self.leaves:
            leaf.value(found)[...] = leaf.low.reshape(leaf.shape)
        return found

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
        """Yield every leaf with its part of a batch ``[M, leaf.width]``, a view if possible.

        Args:
            points: Arrays ``[*lead, *shape]``, nested as the space.

        Raises:
            TypeError: An array is not of numbers, or of floats where the space has integers.
            ValueError: An array has the wrong shape.
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
            for key, part in _parts(space):
                self._collect(part, (*path, key), f"{name}[{key!r}]")
            return
        self.leaves.append(Leaf(space, path, self.width, name))
        self.width = self.leaves[-1].stop

    def _joined(self, parts: list[np.ndarray]) -> np.ndarray:
        return np.concatenate([np.empty(0, self.dtype), *parts]).astype(self.dtype)

    def _assemble(
        self, leaves: Iterator[Leaf], value: Callable[[Leaf], Any], space: Space | None = None
    ) -> Any:
        space = self.space if space is None else space
        if isinstance(space, spaces.Dict):
            return {key: self._assemble(leaves, value, part) for key, part in space.spaces.items()}
        if isinstance(space, spaces.Tuple):
            return tuple([self._assemble(leaves, value, part) for part in space.spaces])
        return value(next(leaves))


def value_at(nested: Any, path: tuple[Any, ...]) -> Any:
    """Return what the keys and numbers of a path lead to."""
    for key in path:
        nested = nested[key]
    return nested


def mapped(function: Callable, *nested: Any) -> Any:
    """Return ``function`` of the arrays at the same place of equally nested dicts and tuples."""
    first = nested[0]
    if isinstance(first, dict):
        return {key: mapped(function, *(one[key] for one in nested)) for key in first}
    if isinstance(first, tuple):
        return tuple(mapped(function, *parts) for parts in zip(*nested, strict=True))
    return function(*nested)


def narrow(low: int, high: int) -> np.dtype:
    """Return int8 where it holds both bounds, else int16, int32 or int64."""
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return np.dtype(dtype)
    raise ValueError(f"{low}..{high} does not fit 64 bits.")


def _parts(space: Any) -> list[tuple[Any, Any]]:
    return list(space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces))


def _take_apart(space: Space, point: Any, values: list[Any]) -> bool:
    """Append the values of all leaves; return False where the point is not nested as the space."""
    if isinstance(space, spaces.Dict):
        if not isinstance(point, Mapping) or point.keys() != space.spaces.keys():
            return False
    elif isinstance(space, spaces.Tuple):
        if not isinstance(point, Sequence) or len(point) != len(space.spaces):
            return False
    else:
        values.append(point)
        return True
    return all(_take_apart(part, point[key], values) for key, part in _parts(space))


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
            f"{name} is {space!r:.200}; allowed are Discrete, MultiBinary, MultiDiscrete and Box "
            "spaces, and Dict and Tuple spaces of these"
        )
    low, high = np.asarray(low).reshape(-1), np.asarray(high).reshape(-1)
    if low.dtype.kind != "f":
        limits = np.iinfo(np.int64)
        if any(int(bound) > limits.max or int(bound) < limits.min for bound in (*low, *high)):
            raise ValueError(f"{name} holds numbers that 64-bit integers do not reach: {space}")
        low, high = low.astype(np.int64), high.astype(np.int64)
    return low, high, bounded
