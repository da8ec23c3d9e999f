"""Twins of ravelling and flattening: points taken apart by recursion, plain lists and numbers.

Also random spaces to try them on. A point here is one that lies in the space.
"""

import numpy as np
from gymnasium import spaces
from hypothesis import strategies as st


def entries(space, point):
    """The numbers of a point in the space's order, as ``(kind, number, low, high)`` each."""
    if isinstance(space, spaces.Dict):
        return [one for key in space for one in entries(space[key], point[key])]
    if isinstance(space, spaces.Tuple):
        parts = zip(space, point, strict=True)
        return [one for part, value in parts for one in entries(part, value)]
    if isinstance(space, spaces.Discrete):
        return [("discrete", int(point), int(space.start), int(space.start + space.n) - 1)]
    numbers = np.asarray(point).reshape(-1).tolist()
    if isinstance(space, spaces.MultiBinary):
        return [("binary", number, 0, 1) for number in numbers]
    if isinstance(space, spaces.MultiDiscrete):
        low = space.start.reshape(-1).tolist()
        size = space.nvec.reshape(-1).tolist()
        return [("multi", number, low[k], low[k] + size[k] - 1) for k, number in enumerate(numbers)]
    kind = "float" if space.dtype.kind == "f" else "box"
    low, high = space.low.reshape(-1).tolist(), space.high.reshape(-1).tolist()
    return [(kind, number, low[k], high[k]) for k, number in enumerate(numbers)]


def number_of(space, point):
    """The number of a point and how many points there are."""
    number, count = 0, 1
    for _, value, low, high in entries(space, point):
        number = number * (high - low + 1) + value - low
        count *= high - low + 1
    return number, count


def flat(space, point, one_hot):
    """The flat numbers of a point, and their lower and upper bounds."""
    numbers, lows, highs = [], [], []
    for kind, value, low, high in entries(space, point):
        if kind == "discrete" and one_hot:
            count = high - low + 1
            numbers += [int(k == value - low) for k in range(count)]
            lows += [0] * count
            highs += [1] * count
        elif kind == "discrete":
            numbers.append(value - low)
            lows.append(0)
            highs.append(high - low)
        else:
            numbers.append(value)
            lows.append(low)
            highs.append(high + 1 if kind == "multi" else high)
    return numbers, lows, highs


@st.composite
def boxes(draw, dtypes):
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    shape = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    count = int(np.prod(shape))
    if dtype.kind == "f":
        low = np.array(draw(st.lists(st.integers(-3, 0), min_size=count, max_size=count)))
        low = low.reshape(shape).astype(dtype)
        return spaces.Box(low / 2, low + dtype.type(3.25), shape, dtype)
    bottom = 0 if dtype.kind in "ub" else -5
    low = np.array(draw(st.lists(st.integers(bottom, 0), min_size=count, max_size=count)), dtype)
    size = draw(st.lists(st.integers(0, 1 if dtype.kind == "b" else 3), min_size=count,
                         max_size=count))  # fmt: skip
    high = (low.astype(int) + size).astype(dtype)
    return spaces.Box(low.reshape(shape), high.reshape(shape), shape, dtype)


INTEGERS = ("int64", "int32", "int8", "uint8")


def plain_spaces(dtypes=INTEGERS):
    """Spaces that are not nested."""
    sizes = st.lists(st.integers(1, 4), min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda n, start: spaces.Discrete(n, start=start), st.integers(1, 5),
                  st.integers(-3, 3)),
        st.builds(spaces.MultiDiscrete, sizes),
        st.builds(lambda nvec: spaces.MultiDiscrete([nvec, nvec], start=[[-1] * len(nvec)] * 2),
                  st.lists(st.integers(1, 4), min_size=1, max_size=2)),
        st.builds(spaces.MultiBinary, st.integers(1, 3)),
        st.builds(lambda n: spaces.MultiBinary([n, 2]), st.integers(1, 2)),
        boxes(dtypes),
    )  # fmt: skip


def nested_spaces(dtypes=INTEGERS):
    """Dicts and tuples of spaces, nested at will."""
    keys = st.sampled_from(["b", "a", "x1"]) | st.integers(0, 3)
    return st.recursive(
        plain_spaces(dtypes),
        lambda part: st.one_of(
            st.dictionaries(keys, part, max_size=3).map(spaces.Dict),
            st.lists(part, max_size=3).map(lambda parts: spaces.Tuple(parts)),
        ),
        max_leaves=5,
    )
