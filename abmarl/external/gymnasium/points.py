"""Batches of points of one agent per world: with and without the axis of the agents.

A vectorised simulation has arrays ``[num_envs, n, *shape]``, nested in dicts by channel; with one
agent per world Gymnasium has ``[num_envs, *shape]``.
"""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.spaces import Space


def first_of_each(nested: Any, copy: bool) -> Any:
    """What the only agent of each world has: arrays ``[num_envs, *shape]``.

    Args:
        nested: arrays ``[num_envs, 1, *shape]``, nested in dicts and tuples.
        copy: whether to return fresh arrays instead of views.
    """
    if isinstance(nested, dict):
        return {key: first_of_each(part, copy) for key, part in nested.items()}
    if isinstance(nested, tuple):
        return tuple(first_of_each(part, copy) for part in nested)
    return nested[:, 0].copy() if copy else nested[:, 0]


def column(points: Any, space: Space, num_envs: int, name: str = "actions") -> Any:
    """The points of all worlds with an axis for the only agent: ``[num_envs, 1, *shape]``.

    Args:
        points: arrays ``[num_envs, *shape]``, nested as the space is.
        space: the space of one point.
        num_envs: how many worlds there are.
        name: what the points are called in messages.

    Raises:
        TypeError: a dict or tuple was expected.
        ValueError: keys or shapes are not those of the space.
    """
    if isinstance(space, spaces.Dict):
        if not isinstance(points, dict):
            raise TypeError(
                f"{name} must be a dict with the keys {list(space.spaces)}, "
                f"got {type(points).__name__}"
            )
        if points.keys() != space.spaces.keys():
            raise ValueError(
                f"{name} must have exactly the keys {list(space.spaces)}, got {list(points)}"
            )
        return {
            key: column(points[key], part, num_envs, f"{name}[{key!r}]")
            for key, part in space.spaces.items()
        }
    if isinstance(space, spaces.Tuple):
        if not isinstance(points, tuple) or len(points) != len(space.spaces):
            raise TypeError(f"{name} must be a tuple of {len(space.spaces)}")
        return tuple(
            column(point, part, num_envs, f"{name}[{i}]")
            for i, (point, part) in enumerate(zip(points, space.spaces, strict=True))
        )
    array = np.asarray(points)
    if array.shape != (num_envs, *space.shape):
        raise ValueError(
            f"{name} must have the shape {(num_envs, *space.shape)}, one entry for each world, "
            f"got {array.shape}"
        )
    return array[:, None]


def entries(nested: Any, worlds: np.ndarray) -> list:
    """Fresh points of some worlds, one by one.

    Args:
        nested: arrays ``[num_envs, 1, *shape]``, nested in dicts and tuples.
        worlds: int [k].

    Returns:
        k points.
    """
    if isinstance(nested, dict):
        parts = [entries(part, worlds) for part in nested.values()]
        return [dict(zip(nested, point, strict=True)) for point in zip(*parts, strict=True)]
    if isinstance(nested, tuple):
        return list(zip(*(entries(part, worlds) for part in nested), strict=True))
    return list(nested[worlds, 0])
