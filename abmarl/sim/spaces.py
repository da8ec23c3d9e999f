"""Spaces as users give them, turned into gymnasium spaces; membership of points.

Three things are accepted as a space: a gymnasium space, a space made with the old ``gym`` package,
and a (nested) dict of such. Old spaces are recognised by the module of their class and read by
attribute, so gym is never imported here.
"""

import copy
import operator
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.spaces import Space


def is_space(value: Any) -> bool:
    """Tell whether `value` is a space of gymnasium or of the old gym package."""
    return isinstance(value, Space) or _gym_class_name(value) is not None


def to_gymnasium(value: Any, name: str = "space") -> Space:
    """Turn a space, or a (nested) dict of spaces, into a gymnasium space.

    A gymnasium space is returned as it is. A plain dict becomes a `Dict`, whose keys gymnasium
    sorts where they can be compared; keys may be ints. An old gym space keeps its order of keys,
    and the state of its random stream where it has one.

    Args:
        value: a gymnasium space, an old gym space, or a dict of these, nested at will.
        name: what the value is called in error messages.

    Returns:
        A gymnasium space.

    Raises:
        TypeError: `value`, or something nested in it, is not a space that can be converted.
        ValueError: an old space that gymnasium does not allow, such as a `Box` with low above high.
    """
    if isinstance(value, Space):
        return value
    gym_name = _gym_class_name(value)
    if gym_name is not None:
        if gym_name not in _FROM_GYM:
            raise TypeError(
                f"{name} is a gym {type(value).__name__}, which cannot be converted to gymnasium; "
                f"of gym's spaces these can: {', '.join(_FROM_GYM)}"
            )
        return _FROM_GYM[gym_name](value, name)
    if isinstance(value, Mapping):
        # gymnasium sorts the keys of every mapping but an OrderedDict, whose order was meant.
        parts = {key: to_gymnasium(part, f"{name}[{key!r}]") for key, part in value.items()}
        return spaces.Dict(OrderedDict(parts) if isinstance(value, OrderedDict) else parts)
    raise TypeError(f"{name} must be a space or a dict of spaces, got {_shown(value)}")


def contains(space: Space, point: Any) -> bool:
    """Tell whether `point` lies in `space`, by value and not by dtype.

    More lenient than ``point in space`` in form (lists and any integer dtype will do, integers
    will do for a float `Box`), stricter in value (gymnasium cuts the list ``[0.5]`` down to 0 for
    an integer `Box`), and it never warns.

    Args:
        space: a gymnasium space.
        point: anything.

    Returns:
        True when the point lies in the space.
    """
    if isinstance(space, spaces.Discrete):
        try:
            number = operator.index(point)
        except TypeError:
            return False
        return int(space.start) <= number < int(space.start) + int(space.n)
    if isinstance(space, spaces.Dict):
        return (
            isinstance(point, Mapping)
            and point.keys() == space.spaces.keys()
            and all(contains(part, point[key]) for key, part in space.spaces.items())
        )
    if isinstance(space, spaces.Tuple):
        return (
            isinstance(point, (Sequence, np.ndarray))
            and len(point) == len(space.spaces)
            and all(contains(part, value) for part, value in zip(space.spaces, point, strict=True))
        )
    if isinstance(space, (spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary)):
        return _array_lies_in(space, point)
    return space.contains(point)


def is_given(null: Any) -> bool:
    """Tell whether an agent's null point is one: None and {} mean that there is none.

    {} is what components fill in; nothing filled in means that there is no null point.
    """
    return null is not None and not (isinstance(null, dict) and not null)


def known_to_contain(space: Space, point: Any) -> bool:
    """Tell what `contains` tells, looking only once at a point that many agents share.

    For null points: a hundred thousand agents with one space and one null array are one check.
    Arrays are recognised by identity and so must not be changed in place afterwards.
    """
    if isinstance(space, spaces.Dict):
        return (
            isinstance(point, Mapping)
            and point.keys() == space.spaces.keys()
            and all(known_to_contain(part, point[key]) for key, part in space.spaces.items())
        )
    if not isinstance(point, np.ndarray):
        return contains(space, point)
    known = _known.get((id(space), id(point)))
    # Holding both keeps their ids from being given to something else.
    if known is not None and known[0] is space and known[1] is point:
        return True
    if not contains(space, point):
        return False
    if len(_known) >= 64:
        _known.clear()
    _known[id(space), id(point)] = (space, point)
    return True


_known: dict[tuple[int, int], tuple[Space, np.ndarray]] = {}


def _array_lies_in(space: Any, point: Any) -> bool:
    try:
        array = np.asarray(point)
    except ValueError:  # rows of different lengths
        return False
    kinds = "biuf" if space.dtype.kind == "f" or isinstance(space, spaces.MultiBinary) else "biu"
    if array.shape != space.shape or array.dtype.kind not in kinds:
        return False
    if isinstance(space, spaces.MultiBinary):
        return bool(((array == 0) | (array == 1)).all())
    if isinstance(space, spaces.MultiDiscrete):
        # The largest entry, because start + nvec can lie outside a narrow dtype.
        return bool(((array >= space.start) & (array <= space.start + (space.nvec - 1))).all())
    return bool(((array >= space.low) & (array <= space.high)).all())


def _gym_class_name(value: Any) -> str | None:
    """Name of the first class of gym that `value` is an instance of; None for anything else."""
    for cls in type(value).__mro__:
        if cls.__module__.startswith("gym."):
            return cls.__name__
    return None


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {value!r:.60}"


def _stream(space: Any) -> np.random.Generator | None:
    # The attribute behind np_random: reading the property would make a stream where there is none.
    stream = getattr(space, "_np_random", None)
    if isinstance(stream, np.random.Generator):
        return np.random.Generator(copy.deepcopy(stream.bit_generator))
    return None


def _from_gym_discrete(space: Any, name: str) -> Space:
    # Old releases of gym have no start.
    return spaces.Discrete(int(space.n), start=int(getattr(space, "start", 0)), seed=_stream(space))


def _from_gym_multi_discrete(space: Any, name: str) -> Space:
    return spaces.MultiDiscrete(space.nvec, dtype=space.dtype, seed=_stream(space))


def _from_gym_multi_binary(space: Any, name: str) -> Space:
    n = [int(side) for side in space.n] if np.ndim(space.n) else int(space.n)
    return spaces.MultiBinary(n, seed=_stream(space))


def _from_gym_box(space: Any, name: str) -> Space:
    box = spaces.Box(
        space.low.copy(), space.high.copy(), space.shape, space.dtype, seed=_stream(space)
    )
    # An unbounded side of an integer box is the dtype's limit by now; only the flags still tell.
    box.bounded_below = np.array(space.bounded_below)
    box.bounded_above = np.array(space.bounded_above)
    return box


def _from_gym_dict(space: Any, name: str) -> Space:
    parts = ((key, to_gymnasium(part, f"{name}[{key!r}]")) for key, part in space.spaces.items())
    return spaces.Dict(OrderedDict(parts), seed=_stream(space))


def _from_gym_tuple(space: Any, name: str) -> Space:
    parts = [to_gymnasium(part, f"{name}[{i}]") for i, part in enumerate(space.spaces)]
    return spaces.Tuple(parts, seed=_stream(space))


_FROM_GYM: dict[str, Callable[[Any, str], Space]] = {
    "Discrete": _from_gym_discrete,
    "MultiDiscrete": _from_gym_multi_discrete,
    "MultiBinary": _from_gym_multi_binary,
    "Box": _from_gym_box,
    "Dict": _from_gym_dict,
    "Tuple": _from_gym_tuple,
}
