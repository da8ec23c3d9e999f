"""The channels of a space: what becomes a column of its own in a rollout."""

from typing import Any

import numpy as np
from gymnasium import spaces

# The only channel of a space that is not a Dict, as ravelled and flattened simulations have them.
POINT = "point"


def channels_of(space: spaces.Space) -> dict[Any, tuple[tuple, spaces.Space]]:
    """The parts of a space that are one array each.

    Args:
        space: of one agent.

    Returns:
        channel -> (path, space). The path leads to the channel's array in nested arrays. A key of
        a `Dict` is the channel's name, nested ones are joined by a dot; a space that is not nested
        is the channel ``"point"``.
    """
    if not isinstance(space, spaces.Dict | spaces.Tuple):
        return {POINT: ((), space)}
    found = {}
    for key, part in _parts(space):
        for inner, (path, leaf) in channels_of(part).items():
            nested = isinstance(part, spaces.Dict | spaces.Tuple)
            found[f"{key}.{inner}" if nested else key] = ((key, *path), leaf)
    return found


def at(nested: Any, path: tuple) -> Any:
    """The array that a path leads to."""
    for key in path:
        nested = nested[key]
    return nested


def lowest(space: spaces.Space, lead: tuple[int, ...]) -> Any:
    """Arrays ``[*lead, *shape]``, nested as the space, that hold its lowest point everywhere."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = [(key, lowest(part, lead)) for key, part in _parts(space)]
        return dict(parts) if isinstance(space, spaces.Dict) else tuple(p for _, p in parts)
    bottom = np.asarray(getattr(space, "start", getattr(space, "low", 0)), space.dtype)
    return np.broadcast_to(bottom, (*lead, *space.shape)).copy()


def picked(nested: Any, rows: tuple[np.ndarray, ...]) -> Any:
    """Some rows of nested arrays, as arrays of their own."""
    if isinstance(nested, dict):
        return {key: picked(part, rows) for key, part in nested.items()}
    if isinstance(nested, tuple):
        return tuple(picked(part, rows) for part in nested)
    return nested[rows]


def _parts(space: spaces.Dict | spaces.Tuple) -> list[tuple[Any, spaces.Space]]:
    return list(space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces))


def column_dtype(space: spaces.Space) -> np.dtype:
    """Return the narrowest dtype that holds every point of a channel's space.

    Raises:
        TypeError: When a channel of such a space cannot be a column.
    """
    if isinstance(space, spaces.Discrete):
        first = int(space.start)
        return _narrowest(first, first + int(space.n) - 1)
    if isinstance(space, spaces.MultiDiscrete):
        return _narrowest(int(space.start.min()), int((space.start + space.nvec).max()) - 1)
    if isinstance(space, spaces.Box) and space.dtype.kind in "iu" and space.low.size:
        return _narrowest(int(space.low.min()), int(space.high.max()))
    if isinstance(space, spaces.Box | spaces.MultiBinary):
        return np.dtype(space.dtype)
    raise TypeError(
        f"a channel of {type(space).__name__} cannot be a column; allowed are Box, Discrete, "
        f"MultiDiscrete and MultiBinary"
    )


def _narrowest(low: int, high: int) -> np.dtype:
    for dtype in (np.int8, np.int16, np.int32):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return np.dtype(dtype)
    return np.dtype(np.int64)
