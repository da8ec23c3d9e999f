"""Tables of values: a row for every observation, a column for every action."""

from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.resources import check_memory


def require_discrete(name: str, space: spaces.Space) -> None:
    """Refuse a space that is not `Discrete`.

    Raises:
        TypeError: it is not; says what it is.
    """
    if not isinstance(space, spaces.Discrete):
        raise TypeError(
            f"{name} must be Discrete, got {space!r:.200}; "
            f"RavelDiscreteWrapper(sim) and vec.ravel() make Discrete spaces of others"
        )


def places(space: spaces.Discrete, values: Any, kind: str) -> np.ndarray:
    """The rows or columns of a table that points of a space stand for.

    Args:
        space: whose lowest point is at place 0.
        values: a number or an int array.
        kind: what to call a value in an error.

    Returns:
        int64 array of the shape of `values`.

    Raises:
        ValueError: a value does not lie in the space.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise ValueError(f"{kind}s must be integers of {space}, got {array.dtype}")
    places = array.astype(np.int64) - int(space.start)
    outside = (places < 0) | (places >= int(space.n))
    if outside.any():
        raise ValueError(
            f"the {kind} {array[outside].flat[0]} does not lie in the policy's space {space}"
        )
    return places


def empty_table(shape: tuple[int, int]) -> np.ndarray:
    """float64 zeros [observations, actions].

    Raises:
        MemoryError: there is no room for it.
    """
    check_memory(
        8 * shape[0] * shape[1],
        f"a table of {shape[0]} observations and {shape[1]} actions takes",
        "coarser observations have fewer points",
    )
    return np.zeros(shape)


def checked_table(table: Any, shape: tuple[int, int]) -> np.ndarray:
    """The table itself.

    Raises:
        TypeError: it is not a float64 array.
        ValueError: it has another shape.
    """
    if not isinstance(table, np.ndarray) or table.dtype != np.float64:
        raise TypeError(
            f"q_table must be a float64 array, got {getattr(table, 'dtype', type(table).__name__)}"
        )
    if table.shape != shape:
        raise ValueError(
            f"q_table must have shape {shape}, observations by actions, got {table.shape}"
        )
    return table
