"""gymnasium spaces as JSON and back, exactly.

    Box(-1, 1, (2,), int8)
    {"type": "Box", "dtype": "int8", "shape": [2], "low": -1, "high": 1}

Bounds that are the same everywhere are one number, infinite ones the strings "inf" and "-inf".
Entries of a Dict are pairs, because a JSON object has no integer keys.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces


def space_to_json(space: spaces.Space) -> dict[str, Any]:
    """Describe a space.

    Args:
        space: Box, Discrete, MultiDiscrete, MultiBinary, or a Dict (str or int keys) or Tuple of
            such.

    Returns:
        A structure that ``json.dumps`` takes, in strict JSON.

    Raises:
        TypeError: For any other space or key.
    """
    for kind, (write, _) in TABLE.items():
        if type(space).__name__ == kind:
            return {"type": kind, **write(space)}
    raise TypeError(
        f"a space of type {type(space).__name__} cannot be written; allowed are {', '.join(TABLE)}"
    )


def space_from_json(description: dict[str, Any]) -> spaces.Space:
    """Make the space that `space_to_json` described.

    Raises:
        ValueError: When the description is not one.
    """
    try:
        return TABLE[description["type"]][1](description)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"not the description of a space: {description!r}") from error


def _write_box(space: spaces.Box) -> dict[str, Any]:
    return {
        "dtype": space.dtype.name,
        "shape": list(space.shape),
        "low": _numbers(space.low),
        "high": _numbers(space.high),
    }


def _read_box(description: dict[str, Any]) -> spaces.Box:
    dtype, shape = np.dtype(description["dtype"]), tuple(description["shape"])
    return spaces.Box(
        _array(description["low"], shape, dtype),
        _array(description["high"], shape, dtype),
        shape,
        dtype,
    )


def _write_discrete(space: spaces.Discrete) -> dict[str, Any]:
    return {"n": int(space.n), "start": int(space.start), "dtype": np.dtype(space.dtype).name}


def _read_discrete(description: dict[str, Any]) -> spaces.Discrete:
    n, start, dtype = description["n"], description["start"], np.dtype(description["dtype"])
    # Older gymnasium versions know one dtype only and take no such argument.
    more = {} if dtype == np.int64 else {"dtype": dtype}
    return spaces.Discrete(n, start=start, **more)


def _write_multi_discrete(space: spaces.MultiDiscrete) -> dict[str, Any]:
    return {
        "nvec": space.nvec.tolist(),
        "start": space.start.tolist(),
        "dtype": np.dtype(space.dtype).name,
    }


def _read_multi_discrete(description: dict[str, Any]) -> spaces.MultiDiscrete:
    dtype = np.dtype(description["dtype"])
    return spaces.MultiDiscrete(
        np.array(description["nvec"], dtype),
        dtype=dtype,
        start=np.array(description["start"], dtype),
    )


def _write_multi_binary(space: spaces.MultiBinary) -> dict[str, Any]:
    return {"n": list(space.n) if isinstance(space.n, tuple) else int(space.n)}


def _read_multi_binary(description: dict[str, Any]) -> spaces.MultiBinary:
    return spaces.MultiBinary(description["n"])


def _write_dict(space: spaces.Dict) -> dict[str, Any]:
    for key in space.spaces:
        if isinstance(key, bool) or not isinstance(key, str | int | np.integer):
            raise TypeError(f"the key {key!r} of a Dict space cannot be written; use str or int")
    return {
        "spaces": [
            [key if isinstance(key, str) else int(key), space_to_json(inner)]
            for key, inner in space.spaces.items()
        ]
    }


def _read_dict(description: dict[str, Any]) -> spaces.Dict:
    # A sequence of pairs keeps its order; a dict would be sorted.
    return spaces.Dict([(key, space_from_json(inner)) for key, inner in description["spaces"]])


def _write_tuple(space: spaces.Tuple) -> dict[str, Any]:
    return {"spaces": [space_to_json(inner) for inner in space.spaces]}


def _read_tuple(description: dict[str, Any]) -> spaces.Tuple:
    return spaces.Tuple([space_from_json(inner) for inner in description["spaces"]])


TABLE: dict[str, tuple[Callable[[Any], dict], Callable[[dict], spaces.Space]]] = {
    "Box": (_write_box, _read_box),
    "Discrete": (_write_discrete, _read_discrete),
    "MultiDiscrete": (_write_multi_discrete, _read_multi_discrete),
    "MultiBinary": (_write_multi_binary, _read_multi_binary),
    "Dict": (_write_dict, _read_dict),
    "Tuple": (_write_tuple, _read_tuple),
}


def _numbers(array: np.ndarray) -> Any:
    """An array as nested lists, or as one number when it is the same everywhere."""
    if array.size and (array == array.flat[0]).all():
        return _number(array.flat[0])
    return _nested(array.tolist())


def _nested(value: Any) -> Any:
    return [_nested(entry) for entry in value] if isinstance(value, list) else _number(value)


def _number(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return str(value) if isinstance(value, float) and np.isinf(value) else value


def _array(value: Any, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if isinstance(value, list):
        entries = [float(v) if isinstance(v, str) else v for v in _flat(value)]
        return np.array(entries, dtype).reshape(shape)
    return np.full(shape, float(value) if isinstance(value, str) else value, dtype)


def _flat(value: Any) -> list:
    return [e for entry in value for e in _flat(entry)] if isinstance(value, list) else [value]
