"""Points of complex spaces as simpler ones, one at a time or in whole batches.

A `Conversion` maps the points of a space one to one into a simpler space: `RavelConversion` into
one number, `FlattenConversion` into one flat array, `MultiDiscreteConversion` into one row of
choices. `joint_masks` makes action masks of ravelled actions from those of their parts.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.kernels.spaces import (
    first_outside,
    flatten_rows,
    join_masks,
    ravel_rows,
    unflatten_rows,
    unravel_rows,
)
from abmarl.sim.layout import Leaf, SpaceLayout
from abmarl.sim.spaces import contains

# A joint mask of one agent; beyond, masks would take more memory than anything else.
MOST_CHOICES = 65_536

_MOST_POINTS = np.iinfo(np.int64).max
_MOST_ENTRIES = 10_000_000


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

    target: Any

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

    def empty(self, lead: tuple[int, ...]) -> np.ndarray:
        """Return an uninitialised array for a batch of points of the target."""
        return np.empty((*lead, *self.target.shape), self.target.dtype)

    @abstractmethod
    def convert_into(self, points: Any, out: np.ndarray) -> int:
        """Convert a batch; return the first point that does not lie in the source, else -1."""

    @abstractmethod
    def restore_into(self, values: np.ndarray, out: Any) -> None:
        """Restore a batch that lies in the target."""

    @abstractmethod
    def outside(self, values: np.ndarray) -> int:
        """Return the number of the first point that does not lie in the target, -1 when all do.

        Raises:
            TypeError: the values are not of the target's kind.
        """

    @abstractmethod
    def _convert(self, row: np.ndarray) -> Any: ...

    @abstractmethod
    def _restore(self, value: Any, row: np.ndarray) -> None: ...


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
        kind: Any = np.dtype(dtype) if self.layout.integer else self._float_dtype()
        self.target = spaces.Box(_joined(low, kind), _joined(high, kind), dtype=kind)
        sides = self.target.low, self.target.high
        self._bounds = [side.astype(self.layout.dtype) for side in sides]
        widths = [len(part) for part in low]
        self._integral = np.repeat([leaf.integer for leaf in self.layout.leaves], widths)

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
        """Return flat points with whole numbers where the entries are integers."""
        if self.layout.integer or not self._integral.any():
            return flat
        return np.where(self._integral, np.rint(flat), flat)

    def _float_dtype(self) -> np.dtype:
        """Return the dtype of the floats, or float64 where that would not hold the integers."""
        leaves = self.layout.leaves
        found = np.result_type(*{leaf.space.dtype for leaf in leaves if not leaf.integer})
        bounds = [(leaf.low, leaf.high) for leaf in leaves if leaf.integer and leaf.bounded]
        largest = max(
            (abs(int(bound)) for pair in bounds for side in pair for bound in side), default=0
        )
        return np.dtype(np.float64) if largest > 2 ** (np.finfo(found).nmant + 1) else found


def _flat_bounds(leaf: Leaf, one_hot: bool, name: str) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Return bounds of the flat entries of a leaf, its number of one-hot entries or 0, shift."""
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


def is_by_entry(mask_shape: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Return whether action masks of a channel speak of its entries one by one.

    They have the shape of an entry, with the options of each number behind it; other masks have a
    value per choice of the whole entry.
    """
    return tuple(mask_shape[:-1]) == tuple(shape)


def is_flattened(conversion: RavelConversion, masks: Any) -> bool:
    """Return whether masks speak of channels that the actions, one flat array, no longer have."""
    return isinstance(masks, Mapping) and any(not leaf.path for leaf in conversion.layout.leaves)


def joint_masks(
    conversion: RavelConversion, masks: Any, lead: tuple[int, ...], whose: str
) -> np.ndarray:
    """Return masks of ravelled actions, made of the masks of their channels.

    Args:
        conversion: how the actions are ravelled.
        masks: bool arrays ``[*lead, ...]``, nested as the actions; what is missing is all allowed.
        lead: the dimensions before those of the actions.
        whose: whose actions they are, for messages.

    Returns:
        bool array ``[*lead, number of actions]``: an action is allowed when all its parts are.

    Raises:
        ValueError: there are too many actions for a mask, or they were flattened before.
    """
    if is_flattened(conversion, masks):
        raise ValueError(
            f"{whose} has masks of channels, and its actions were flattened before they were "
            f"ravelled. Flatten with actions=False, then ravel."
        )
    if conversion.num_points > MOST_CHOICES:
        raise ValueError(
            f"{whose} has {conversion.num_points} joint actions; masks are made for "
            f"{MOST_CHOICES} at most. Ask the simulation wrapped for the masks of its channels."
        )
    rows = math.prod(lead)
    joint = np.ones((rows, 1), bool)
    for leaf in conversion.layout.leaves:
        part = _at(masks, leaf.path)
        if part is None:
            part = np.ones((*lead, int(np.prod(leaf.high - leaf.low + 1))), bool)
        entries = leaf.width if is_by_entry(part.shape[len(lead) :], leaf.shape) else 1
        part = part.reshape(rows, entries, -1)
        for entry in range(entries):
            out = np.empty((rows, joint.shape[1] * part.shape[2]), bool)
            join_masks(joint, np.ascontiguousarray(part[:, entry]), out)
            joint = out
    return joint.reshape(*lead, -1)


def _at(masks: Any, path: tuple[Any, ...]) -> np.ndarray | None:
    """Return the mask of a channel, None when it has none."""
    for key in path:
        if not isinstance(masks, Mapping) or key not in masks:
            return None
        masks = masks[key]
    return masks
