"""Forms: the spaces of actions and observations as plain number arrays."""

from collections.abc import Mapping

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete

_INTEGERS = {int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])}


class Form:
    """What the entries of one channel look like for one kind of agent.

    An entry of a Dict space is one row of numbers: the values of its keys side by side, in the
    order of the space.

    Attributes:
        space: The gymnasium space that it stands for.
        parts: Of a Dict space, ``{key: (where it starts in the row, its form)}``; else empty.
        shape: Shape of an entry; () for a number.
        low, high: [K] flat bounds, both inclusive; infinite where there are none.
        dtype: int8 or int32 where the values fit and are integers, else float64.
    """

    def __init__(self, space):
        self.space = space
        self.parts = {}
        if isinstance(space, Dict) and space.spaces:
            low, high = self._join(space)
        elif isinstance(space, Discrete):
            low, high = space.start, space.start + space.n - 1
        elif isinstance(space, MultiDiscrete):
            low, high = space.start, space.start + space.nvec - 1
        elif isinstance(space, MultiBinary):
            low, high = np.zeros(space.shape, int), np.ones(space.shape, int)
        elif isinstance(space, Box):
            low, high = space.low, space.high
        else:
            raise TypeError(
                "A channel needs a Box, Discrete, MultiBinary or MultiDiscrete space, or a Dict of "
                f"such, got {space}."
            )
        low, high = np.asarray(low), np.asarray(high)
        self.shape = low.shape
        self.integer = low.dtype.kind in "iub"
        self.low, self.high = low.reshape(-1), high.reshape(-1)
        self.dtype = narrow(low.min(), high.max()) if self.integer else np.dtype(np.float64)
        if self.integer:
            self.low, self.high = self.low.astype(np.int64), self.high.astype(np.int64)
        # One pair of bounds for all entries, as scalars of the narrow dtype, where that is so.
        self.common = None
        if len(self.low) and (self.low == self.low[0]).all() and (self.high == self.high[0]).all():
            self.common = self.dtype.type(self.low[0]), self.dtype.type(self.high[0])
        self._bounds = self.low.tolist(), self.high.tolist()
        self._least, self._most = min(self._bounds[0]), max(self._bounds[1])
        self._kinds = "iu" if self.integer else "iuf"

    @property
    def width(self) -> int:
        """Numbers in an entry."""
        return len(self.low)

    def _join(self, space):
        """Makes the parts; returns the bounds of the whole row."""
        start = 0
        for key, inner in space.spaces.items():
            form = Form(inner)
            self.parts[key] = start, form
            start += form.width
        forms = [form for _, form in self.parts.values()]
        if len({form.integer for form in forms}) > 1:
            raise TypeError(
                "A Dict channel is one array, so its parts must be all of integers or all of "
                f"floats, got {space}."
            )
        return tuple(
            np.concatenate([getattr(one, end) for one in forms]) for end in ("low", "high")
        )

    def takes(self, dtype) -> bool:
        """Whether numbers of this dtype can be entries: integers for integer spaces."""
        return np.dtype(dtype).kind in self._kinds

    def narrow_space(self):
        """The space of the entries as they are in arrays, with their shape and dtype."""
        if self.parts and all(isinstance(part, Discrete) for part in self.space.values()):
            return MultiDiscrete(self.high - self.low + 1, start=self.low)
        if isinstance(self.space, Discrete):
            return Discrete(int(self.space.n), start=int(self.space.start), dtype=self.dtype)
        if isinstance(self.space, Box | Dict):
            sides = (side.reshape(self.shape).astype(self.dtype) for side in (self.low, self.high))
            return Box(*sides, self.shape, self.dtype)
        return self.space

    def put(self, value, flat, at) -> bool:
        """Writes one entry to ``flat[at:]``; False and no change when it is not in the space."""
        if self.parts:
            return self._put_parts(value, flat, at)
        if not self.shape:
            if type(value) is not int and not self._is_scalar(value):
                return False
            if not self._least <= value <= self._most:
                return False
            flat[at] = value
            return True
        try:
            array = value if type(value) is np.ndarray else np.asarray(value)
        except ValueError:
            return False
        if array.shape != self.shape or array.dtype.kind not in self._kinds:
            return False
        entries = array.tolist() if array.ndim == 1 else array.reshape(-1).tolist()
        if self.common is not None:
            for entry in entries:
                if not self._least <= entry <= self._most:
                    return False
        elif not all(
            low <= entry <= high for entry, low, high in zip(entries, *self._bounds, strict=True)
        ):
            return False
        for entry in entries:
            flat[at] = entry
            at += 1
        return True

    def stack(self, values):
        """Several entries as rows of an integer array [n, K].

        Only of an integer space without parts.

        Returns:
            The array; None when one of them is not in the space, or they are of several kinds and
            have to be looked at one by one.
        """
        if not self.shape:
            if not set(map(type, values)) <= _INTEGERS:
                return None
            inside = self._least <= min(values) and max(values) <= self._most
            return np.array(values)[:, None] if inside else None
        array = self._stacked(values)
        if array is None or array.dtype.kind not in "iu":
            return None
        array = array.reshape(len(values), -1)
        if self.common is not None:
            # ``array.min`` takes twice as long for few values.
            least, most = np.minimum.reduce(array, None), np.maximum.reduce(array, None)
            inside = least >= self._least and most <= self._most
        else:
            inside = ((array >= self.low) & (array <= self.high)).all()
        return array if inside else None

    def _stacked(self, values):
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

    def point(self, flat, at):
        """The entry that stands at ``flat[at:]``, as a point of the space."""
        if self.parts:
            return {key: form.point(flat, at + start) for key, (start, form) in self.parts.items()}
        if not self.shape:
            return flat.item(at)
        return flat[at : at + self.width].reshape(self.shape).astype(self.space.dtype)

    def _put_parts(self, value, flat, at):
        if not isinstance(value, Mapping) or value.keys() != self.parts.keys():
            return False
        before = flat[at : at + self.width].copy()
        for key, (start, form) in self.parts.items():
            if not form.put(value[key], flat, at + start):
                flat[at : at + self.width] = before
                return False
        return True

    def _is_scalar(self, value):
        kind = getattr(getattr(value, "dtype", None), "kind", None)
        if kind is not None:
            return kind in self._kinds and value.shape == ()
        kinds = int if self.integer else int | float
        return isinstance(value, kinds) and not isinstance(value, bool)


def narrow(low, high) -> np.dtype:
    """int8 where it holds both bounds, else int16, int32 or int64."""
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return np.dtype(dtype)
    raise ValueError(f"{low}..{high} does not fit 64 bits.")
