import json
import re

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Text, Tuple
from hypothesis import given
from hypothesis import strategies as st

from abmarl.archive import space_from_json, space_to_json

DTYPES = ["int8", "uint8", "int16", "int32", "int64", "float32", "float64"]


@st.composite
def boxes(draw):
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = tuple(draw(st.lists(st.integers(1, 3), max_size=3)))
    if dtype.kind == "f":
        width = dtype.itemsize * 8
        numbers = st.floats(width=width, allow_nan=False, allow_infinity=False)
        numbers = numbers.filter(lambda v: abs(v) < 1e30)
        low, high = st.one_of(st.just(-np.inf), numbers), st.one_of(st.just(np.inf), numbers)
    else:
        info = np.iinfo(dtype)
        # gymnasium keeps the greatest 64-bit number to itself.
        low = high = st.integers(int(info.min), min(int(info.max), 2**63 - 2))
    count = int(np.prod(shape))
    if draw(st.booleans()):
        pairs = [(draw(low), draw(high))] * count
    else:
        pairs = [(draw(low), draw(high)) for _ in range(count)]
    lows = np.array([min(p) for p in pairs], dtype).reshape(shape)
    highs = np.array([max(p) for p in pairs], dtype).reshape(shape)
    return Box(lows, highs, shape, dtype)


def leaves():
    small = st.integers(1, 9)
    starts = st.integers(-5, 5)
    return st.one_of(
        boxes(),
        st.builds(lambda n, s: Discrete(n, start=s), small, starts),
        st.builds(lambda n: Discrete(n, dtype=np.int32), small),
        st.builds(MultiDiscrete, st.lists(small, min_size=1, max_size=3)),
        st.builds(
            lambda a, b, s: MultiDiscrete([[a], [b]], start=[[s], [0]]), small, small, starts
        ),
        st.builds(MultiBinary, small),
        st.builds(lambda a, b: MultiBinary([a, b]), small, small),
    )


spaces = st.recursive(
    leaves(),
    lambda inner: st.one_of(
        st.builds(Tuple, st.lists(inner, min_size=1, max_size=3)),
        st.dictionaries(st.one_of(st.integers(-3, 3), st.text(max_size=3)), inner, max_size=3).map(
            lambda d: Dict(list(d.items()))
        ),
    ),
    max_leaves=5,
)


def identical(a, b):
    assert type(a) is type(b)
    if isinstance(a, Dict):
        assert [(type(k), k) for k in a.spaces] == [(type(k), k) for k in b.spaces]
        for key in a.spaces:
            identical(a.spaces[key], b.spaces[key])
    elif isinstance(a, Tuple):
        assert len(a) == len(b)
        for left, right in zip(a.spaces, b.spaces, strict=True):
            identical(left, right)
    else:
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if isinstance(a, Box):
            assert (a.low == b.low).all()
            assert (a.high == b.high).all()
        assert a == b


@given(spaces)
def test_round_trip(space):
    text = json.dumps(space_to_json(space), allow_nan=False)
    identical(space, space_from_json(json.loads(text)))


def test_what_it_looks_like():
    assert space_to_json(Dict({"b": Box(-1, 1, (2,), np.int8), 3: Discrete(4)})) == {
        "type": "Dict",
        "spaces": [
            ["b", {"type": "Box", "dtype": "int8", "shape": [2], "low": -1, "high": 1}],
            [3, {"type": "Discrete", "n": 4, "start": 0, "dtype": "int64"}],
        ],
    }
    assert space_to_json(Box(-np.inf, np.inf, (3,), np.float32))["low"] == "-inf"


def test_what_cannot_be_written():
    with pytest.raises(TypeError, match="of type Text cannot be written; allowed are Box, Disc"):
        space_to_json(Dict({"t": Text(3)}))
    with pytest.raises(TypeError, match=re.escape("the key (1, 2) of a Dict space cannot")):
        space_to_json(Dict([((1, 2), Discrete(2))]))


@pytest.mark.parametrize("wrong", [{}, {"type": "Sphere"}, {"type": "Box"}, 3, {"type": []}])
def test_what_cannot_be_read(wrong):
    with pytest.raises(ValueError, match="not the description of a space"):
        space_from_json(wrong)
