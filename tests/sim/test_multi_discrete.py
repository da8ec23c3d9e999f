import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple
from hypothesis import given, settings
from hypothesis import strategies as st

from abmarl.sim.conversion import MultiDiscreteConversion
from abmarl.sim.layout import SpaceLayout
from tests.naive.spaces import nested_spaces

SPACE = Dict(
    {
        "attack": Discrete(3, start=1),
        "move": Box(-1, 2, (2,), np.int8),
        "rest": Tuple((MultiBinary(2), MultiDiscrete([4, 2]))),
    }
)


def test_entries_count_from_zero():
    conversion = MultiDiscreteConversion(SPACE)
    assert conversion.target == MultiDiscrete([3, 4, 4, 2, 2, 4, 2])
    point = {
        "attack": 2, "move": np.array([-1, 2], np.int8),
        "rest": (np.array([0, 1], np.int8), np.array([3, 0])),
    }  # fmt: skip
    assert conversion.convert(point).tolist() == [1, 0, 3, 0, 1, 3, 0]
    assert SPACE.contains(conversion.restore(np.array([1, 0, 3, 0, 1, 3, 0])))


@settings(max_examples=50, derandomize=True, database=None, deadline=None)
@given(nested_spaces(), st.integers(0, 2**31))
def test_there_and_back(space, seed):
    if not SpaceLayout(space).width:
        with pytest.raises(ValueError, match="nothing to choose"):
            MultiDiscreteConversion(space)
        return
    conversion = MultiDiscreteConversion(space)
    conversion.target.seed(seed)
    rows = np.array([conversion.target.sample() for _ in range(6)]).reshape(2, 3, -1)
    points = conversion.restore_batch(rows)
    assert np.array_equal(conversion.convert_batch(points), rows)
    point = conversion.restore(rows[1, 2])
    assert space.contains(point)
    assert np.array_equal(conversion.convert(point), rows[1, 2])


def test_what_cannot_be_converted():
    with pytest.raises(ValueError, match=r"space\['x'\].*only bounded integer spaces"):
        MultiDiscreteConversion(Dict({"x": Box(0.0, 1.0, (2,))}))
    with pytest.raises(ValueError, match="nothing to choose"):
        MultiDiscreteConversion(Dict({}))
    conversion = MultiDiscreteConversion(SPACE)
    rows = np.zeros((2, 7), np.int64)
    rows[1, 3] = 2
    with pytest.raises(ValueError, match=r"value \(1,\) of the batch is \[0, 0, 0, 2, 0, 0, 0\]"):
        conversion.restore_batch(rows)
    with pytest.raises(TypeError, match="must be integers, got float64"):
        conversion.restore_batch(rows / 2)
    with pytest.raises(ValueError, match=r"point \(1,\) of the batch"):
        MultiDiscreteConversion(Discrete(3)).convert_batch(np.array([0, 3]))
