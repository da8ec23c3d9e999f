"""Forms: the spaces of actions and observations as plain number arrays."""

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete


class Form:
    """What the entries of one channel look like for one kind of agent.

    Attributes:
        space: The gymnasium space that it stands for.
        shape: Shape of an entry; () for a number.
        low, high: [K] flat bounds, both inclusive; infinite where there are none.
        dtype: int8 or int32 where the values fit and are integers, else float64.
    """

    def __init__(self, space):
        self.space = space
        if isinstance(space, Discrete):
            low, high = space.start, space.start + space.n - 1
        elif isinstance(space, MultiDiscrete):
            low, high = space.start, space.start + space.nvec - 1
        elif isinstance(space, MultiBinary):
            low, high = np.zeros(space.shape, int), np.ones(space.shape, int)
        elif isinstance(space, Box):
            low, high = space.low, space.high
        else:
            raise TypeError(
                f"A channel needs a Box, Discrete, MultiBinary or MultiDiscrete space, got {space}."
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

    def takes(self, dtype) -> bool:
        """Whether numbers of this dtype can be entries: integers for integer spaces."""
        return np.dtype(dtype).kind in self._kinds

    def narrow_space(self):
        """The space with the dtype that arrays of it have."""
        if isinstance(self.space, Discrete):
            return Discrete(int(self.space.n), start=int(self.space.start), dtype=self.dtype)
        if isinstance(self.space, Box):
            sides = (side.reshape(self.shape).astype(self.dtype) for side in (self.low, self.high))
            return Box(*sides, self.shape, self.dtype)
        return self.space

    def put(self, value, flat, at) -> bool:
        """Writes one entry to ``flat[at:]``; False and no change when it is not in the space."""
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
