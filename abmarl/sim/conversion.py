"""Points of complex spaces as simpler ones, one at a time or in whole batches."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from gymnasium.spaces import Space

from abmarl.sim.layout import SpaceLayout
from abmarl.sim.spaces import contains


class Conversion(ABC):
    """A one-to-one map from the points of a space into a simpler space.

    Args:
        space: a space of gymnasium or the old gym, or a dict of spaces.
        name: what the space is called in error messages.

    Attributes:
        layout: the entries of the points of the space.
        source: the space, as gymnasium's.
        target: the simpler space.
    """

    target: Space

    def __init__(self, space: Any, name: str = "space") -> None:
        self.layout = SpaceLayout(space, name)
        self.source = self.layout.space
        self.name = name

    def convert(self, point: Any) -> Any:
        """Turn a point of the source into one of the target.

        Raises:
            ValueError: it does not lie in the source.
        """
        if not contains(self.source, point):
            raise ValueError(f"{point!r:.300} does not lie in {self.name} {self.source!r:.300}")
        return self._convert(self.layout.read(point))

    def restore(self, value: Any) -> Any:
        """Turn a point of the target back into one of the source.

        Raises:
            ValueError: it does not lie in the target.
        """
        if not contains(self.target, value):
            raise ValueError(
                f"{value!r:.300} does not lie in {self.target!r:.300}, "
                f"to which {self.name} is converted"
            )
        row = np.empty((1, self.layout.width), self.layout.dtype)
        self._restore(value, row)
        return self.layout.point(row[0])

    def convert_batch(self, points: Any, out: np.ndarray | None = None) -> np.ndarray:
        """Turn a whole batch of points of the source into points of the target.

        Args:
            points: arrays ``[*lead, *shape]``, nested as the source; the same `lead` everywhere.
            out: where to put the result; None: into a new array.

        Returns:
            Array ``[*lead, *shape of the target]``.

        Raises:
            ValueError: an array has the wrong shape, or a point does not lie in the source.
        """
        lead = self.layout.lead(points)
        made = self.empty(lead)
        if out is None:
            out = made
        elif (out.shape, out.dtype) != (made.shape, made.dtype) or not out.flags.c_contiguous:
            raise ValueError(f"out must be a contiguous {made.dtype} array of shape {made.shape}")
        row = self.convert_into(points, out)
        if row >= 0:
            at = tuple(map(int, np.unravel_index(row, lead)))
            raise ValueError(f"point {at} of the batch does not lie in {self.source!r:.300}")
        return out

    def restore_batch(self, values: np.ndarray, out: Any = None) -> Any:
        """Turn a whole batch of points of the target back into points of the source.

        Args:
            values: array ``[*lead, *shape of the target]``.
            out: arrays nested as the source to put the result into; None: into new ones.

        Returns:
            Arrays ``[*lead, *shape]``, nested as the source.

        Raises:
            TypeError: `values` are of the wrong kind.
            ValueError: `values` have the wrong shape, or one does not lie in the target.
        """
        values = np.asarray(values)
        inner = self.target.shape
        lead = values.shape[: values.ndim - len(inner)]
        if values.shape != (*lead, *inner):
            raise ValueError(f"values must have shape (..., {inner}), got {values.shape}")
        row = self.outside(values)
        if row >= 0:
            at = tuple(map(int, np.unravel_index(row, lead)))
            raise ValueError(
                f"value {at} of the batch is {values[at].tolist()!r:.200}, "
                f"which does not lie in {self.target!r:.300}"
            )
        if out is None:
            out = self.layout.empty(lead)
        elif not self.layout.is_writable(out, lead):
            raise ValueError(f"out must be contiguous arrays as those of layout.empty({lead})")
        self.restore_into(values, out)
        return out

    @abstractmethod
    def empty(self, lead: tuple[int, ...]) -> np.ndarray:
        """An uninitialised array for a batch of points of the target."""

    @abstractmethod
    def convert_into(self, points: Any, out: np.ndarray) -> int:
        """Convert a batch; return the first point that does not lie in the source, else -1."""

    @abstractmethod
    def restore_into(self, values: np.ndarray, out: Any) -> None:
        """Restore a batch that lies in the target."""

    @abstractmethod
    def outside(self, values: np.ndarray) -> int:
        """The number of the first point that does not lie in the target, -1 when all do.

        Raises:
            TypeError: the values are not of the target's kind.
        """

    @abstractmethod
    def _convert(self, row: np.ndarray) -> Any: ...

    @abstractmethod
    def _restore(self, value: Any, row: np.ndarray) -> None: ...
