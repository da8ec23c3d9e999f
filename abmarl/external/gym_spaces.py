"""Spaces of gymnasium as spaces of the old gym package."""

import copy
from collections import OrderedDict
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.extras import load

gym = load("gym", "gym", "abmarl.external.gym")


def to_gym(space: spaces.Space, name: str = "space") -> Any:
    """Turn a gymnasium space into a gym space.

    The points are the same. Keys keep their order, and random streams their state.

    Args:
        space: a gymnasium space.
        name: what it is called in messages.

    Raises:
        TypeError: gym has no such space.
    """
    make = _TO_GYM.get(type(space))
    if make is None:
        raise TypeError(
            f"{name} is a {type(space).__name__}, which cannot be converted to gym; "
            f"these can: {', '.join(kind.__name__ for kind in _TO_GYM)}"
        )
    return make(space, name)


def _stream(space: spaces.Space) -> np.random.Generator | None:
    # Not the property np_random, which would make a stream where there is none.
    stream = space._np_random
    return None if stream is None else np.random.Generator(copy.deepcopy(stream.bit_generator))


def _box(space: spaces.Box, name: str) -> Any:
    made = gym.spaces.Box(
        space.low.copy(), space.high.copy(), space.shape, space.dtype, _stream(space)
    )
    # An unbounded side of an integer box is the limit of the dtype by now; only the flags tell.
    made.bounded_below, made.bounded_above = space.bounded_below.copy(), space.bounded_above.copy()
    return made


def _discrete(space: spaces.Discrete, name: str) -> Any:
    return gym.spaces.Discrete(int(space.n), _stream(space), int(space.start))


def _multi_discrete(space: spaces.MultiDiscrete, name: str) -> Any:
    if np.any(space.start):
        raise TypeError(
            f"{name} is {space}, but a MultiDiscrete of gym starts at 0; "
            f"ravel the simulation with RavelDiscreteWrapper"
        )
    return gym.spaces.MultiDiscrete(space.nvec, space.dtype, _stream(space))


def _multi_binary(space: spaces.MultiBinary, name: str) -> Any:
    return gym.spaces.MultiBinary(space.n, _stream(space))


def _dict(space: spaces.Dict, name: str) -> Any:
    parts = ((key, to_gym(part, f"{name}[{key!r}]")) for key, part in space.spaces.items())
    # gym sorts the keys of every mapping but an OrderedDict.
    return gym.spaces.Dict(OrderedDict(parts), _stream(space))


def _tuple(space: spaces.Tuple, name: str) -> Any:
    parts = [to_gym(part, f"{name}[{i}]") for i, part in enumerate(space.spaces)]
    return gym.spaces.Tuple(parts, _stream(space))


_TO_GYM = {
    spaces.Box: _box,
    spaces.Discrete: _discrete,
    spaces.MultiDiscrete: _multi_discrete,
    spaces.MultiBinary: _multi_binary,
    spaces.Dict: _dict,
    spaces.Tuple: _tuple,
}
