import re
import warnings
from collections import OrderedDict

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, Graph, MultiBinary, MultiDiscrete, Text, Tuple
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abmarl.sim.conversion import FlattenConversion, MultiDiscreteConversion, RavelConversion
from abmarl.sim.layout import SpaceLayout
from abmarl.sim.spaces import contains
from tests.naive.spaces import INTEGERS, flat, nested_spaces, number_of

QUICK = settings(
    max_examples=100, derandomize=True, database=None, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip


def samples(space, count, seed):
    space.seed(seed)
    return [space.sample() for _ in range(count)]


def equal(space, one, other):
    if isinstance(space, Dict):
        return one.keys() == other.keys() and all(equal(space[k], one[k], other[k]) for k in space)
    if isinstance(space, Tuple):
        return len(one) == len(other) and all(map(equal, space, one, other))
    return np.array_equal(one, other)


def stacked(space, points):
    """Points as arrays with the number of the point first, nested as the space."""
    if isinstance(space, Dict):
        return {key: stacked(space[key], [point[key] for point in points]) for key in space}
    if isinstance(space, Tuple):
        return tuple(stacked(part, [p[k] for p in points]) for k, part in enumerate(space))
    return np.array(points)


@QUICK
@given(nested_spaces(), st.integers(0, 2**31))
def test_ravel_is_that_of_the_twin_and_of_numpy(space, seed):
    conversion = RavelConversion(space)
    for point in samples(space, 3, seed):
        number, count = number_of(space, point)
        found = conversion.convert(point)
        assert type(found) is int
        assert found == number
        assert conversion.target == Discrete(count)
        back = conversion.restore(found)
        assert space.contains(back)
        assert equal(space, back, point)


@QUICK
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 2**31))
def test_ravel_of_a_multi_discrete_is_numpys(sizes, seed):
    space = MultiDiscrete(sizes)
    conversion = RavelConversion(space)
    for point in samples(space, 3, seed):
        assert conversion.convert(point) == np.ravel_multi_index(point, sizes)
        assert np.array_equal(conversion.restore(conversion.convert(point)), point)


@QUICK
@given(nested_spaces(), st.integers(0, 2**31))
def test_every_number_is_one_point(space, seed):
    conversion = RavelConversion(space)
    numbers = np.random.default_rng(seed).integers(conversion.num_points, size=3)
    for number in (0, *numbers.tolist(), conversion.num_points - 1):
        assert conversion.convert(conversion.restore(number)) == number


@QUICK
@given(nested_spaces((*INTEGERS, "float32", "float64")), st.integers(0, 2**31), st.booleans())
def test_flatten_is_that_of_the_twin(space, seed, one_hot):
    conversion = FlattenConversion(space, one_hot=one_hot)
    for point in samples(space, 3, seed):
        numbers, low, high = flat(space, point, one_hot)
        found = conversion.convert(point)
        assert found.dtype == conversion.target.dtype
        assert found.tolist() == numbers
        assert contains(conversion.target, found)
        assert conversion.target.low.tolist() == low
        assert conversion.target.high.tolist() == high
        back = conversion.restore(found)
        assert space.contains(back)
        assert equal(space, back, point)


@QUICK
@given(nested_spaces((*INTEGERS, "float32", "float64")), st.integers(0, 2**31), st.booleans())
def test_whatever_the_flat_space_holds_stands_for_a_point(space, seed, one_hot):
    conversion = FlattenConversion(space, one_hot=one_hot)
    for value in samples(conversion.target, 3, seed):
        assert space.contains(conversion.restore(value))


@QUICK
@given(nested_spaces((*INTEGERS, "float32")), st.integers(0, 2**31))
def test_flatten_agrees_with_gymnasium(space, seed):
    """It turns MultiDiscrete spaces into one-hot blocks as well, and cannot do empty spaces."""
    if any(part in repr(space) for part in ("MultiDiscrete", "Dict()", "Tuple()")):
        return
    for point in samples(space, 3, seed):
        assert np.array_equal(
            FlattenConversion(space).convert(point), gymnasium.spaces.utils.flatten(space, point)
        )


@QUICK
@given(nested_spaces((*INTEGERS, "float32")), st.integers(0, 2**31), st.sampled_from([0, 1, 2]))
def test_a_batch_is_its_points(space, seed, kind):
    if not FlattenConversion(space).layout.leaves:
        return
    if kind == 0 and "float" not in repr(space):
        conversion = RavelConversion(space)
    else:
        conversion = FlattenConversion(space, one_hot=kind == 1)
    points = samples(space, 4, seed)
    found = conversion.convert_batch(stacked(space, points))
    single = [conversion.convert(point) for point in points]
    assert np.array_equal(found, np.array(single))
    back = conversion.restore_batch(found)
    assert equal(space, back, stacked(space, points))
    two_dimensions = found.reshape(2, 2, *found.shape[1:])
    again = conversion.convert_batch(conversion.restore_batch(two_dimensions))
    assert np.array_equal(again, two_dimensions)


def test_large_integers_are_exact():
    space = Dict({"a": Box(-(2**62), 2**62 - 2, (), np.int64)})
    conversion = RavelConversion(space)
    for value in (-(2**62), 2**53 + 1, 2**62 - 2):
        assert conversion.convert({"a": value}) == value + 2**62
        assert conversion.restore(value + 2**62)["a"] == value
    flat_one = FlattenConversion(space)
    assert flat_one.convert({"a": 2**53 + 1}).tolist() == [2**53 + 1]


def test_the_most_points_that_64_bits_count():
    assert RavelConversion(Box(0, 2**63 - 2, (), np.int64)).num_points == 2**63 - 1
    with pytest.raises(ValueError, match="obs has 9223372036854775808 points and a 64-bit"):
        RavelConversion(Box(0, 1, (63,), int), "obs")


def test_key_order_is_that_of_the_space():
    parts = {"b": Discrete(2), "a": Discrete(5)}
    assert RavelConversion(Dict(parts)).convert({"b": 1, "a": 3}) == 3 * 2 + 1
    assert RavelConversion(parts).convert({"b": 1, "a": 3}) == 3 * 2 + 1
    meant = OrderedDict(parts)
    assert RavelConversion(meant).convert({"b": 1, "a": 3}) == 1 * 5 + 3


@pytest.mark.parametrize(
    ("space", "kind", "message"),
    [
        (Box(-1, 1, (2,)), ValueError, "obs is Box(-1.0, 1.0, (2,), float32), which has no finite"),
        (Dict(a=Box(0, 1, ())), ValueError, "obs['a'] is Box"),
        (Box(-np.inf, 5, (2,), np.int64), ValueError, "obs is Box"),
        (Box(-2, 4, (7, 7), int), ValueError, "obs has about 2.57e+41 points"),
        (Box(-2, 4, (3, 9), int), ValueError, "obs has 65712362363534280139543 points"),
        (Text(3), TypeError, "obs is Text(1, 3, charset="),
        (Tuple([Graph(Discrete(2), None)]), TypeError, "obs[0] is Graph"),
        (3, TypeError, "obs must be a space or a dict of spaces, got int 3"),
        (Box(0, 2**64 - 1, (1,), np.uint64), ValueError, "obs holds numbers that 64-bit integers"),
    ],
)
def test_what_cannot_be_ravelled(space, kind, message):
    with pytest.raises(kind, match="^" + re.escape(message)):
        RavelConversion(space, "obs")


def test_a_huge_discrete_has_no_one_hot_block():
    with pytest.raises(ValueError, match=r"space holds Discrete\(1000000000000\), .*one_hot=False"):
        FlattenConversion(Discrete(10**12))
    assert FlattenConversion(Discrete(10**12), one_hot=False).convert(10**11) == [10**11]


def test_one_hot_is_a_flag():
    with pytest.raises(TypeError, match="one_hot must be True or False, got 1"):
        FlattenConversion(Discrete(2), one_hot=1)


@pytest.mark.parametrize("point", [3, -1, 1.0, "1", [1], None, np.array([1])])
def test_a_point_outside_is_refused(point):
    with pytest.raises(ValueError, match=r"does not lie in act Discrete\(3\)"):
        RavelConversion(Discrete(3), "act").convert(point)
    with pytest.raises(
        ValueError, match=r"does not lie in Discrete\(3\), to which act is converted"
    ):
        RavelConversion(Discrete(3), "act").restore(point)


@pytest.mark.parametrize("value", [[0, 0], [0.0, 1.0, 0.0], [0, 2, 0], [0, -1, 0], 3])
def test_a_flat_point_outside_is_refused(value):
    with pytest.raises(ValueError, match=r"does not lie in Box\(0, 1, \(3,\), int64\)"):
        FlattenConversion(Discrete(3), "act").restore(value)


def test_what_is_not_one_hot_stands_for_its_largest_entry():
    conversion = FlattenConversion(Dict({"a": Discrete(3, start=5), "b": Box(0, 1, (1,))}))
    assert conversion.restore(np.array([0.2, 0.7, 0.7, 0.5]))["a"] == 6
    assert conversion.restore(np.array([0.0, 0.0, 0.0, 0.5]))["a"] == 5


def test_integers_among_floats_are_rounded():
    space = Dict({"a": Box(-3, 3, (2,), int), "b": Box(0, 1, (1,)), "c": MultiDiscrete([2])})
    conversion = FlattenConversion(space)
    found = conversion.restore(np.array([1.4, -2.6, 0.4, 1.9], np.float32))
    assert found["a"].tolist() == [1, -3]
    assert found["b"] == np.float32(0.4)
    assert found["c"].tolist() == [1]


def test_the_float_type_holds_the_integers():
    small = Dict({"a": Box(0, 1, ()), "b": Box(0, 2**24, (), int)})
    large = Dict({"a": Box(0, 1, ()), "b": Box(0, 2**24 + 1, (), int)})
    assert FlattenConversion(small).target.dtype == np.float32
    assert FlattenConversion(large).target.dtype == np.float64
    doubles = Dict({"a": Box(0, 1, (), np.float64), "b": MultiBinary(2)})
    assert FlattenConversion(doubles).target.dtype == np.float64


def test_a_float_box_may_be_unbounded():
    conversion = FlattenConversion(Dict({"a": Box(-np.inf, np.inf, (2,)), "b": Discrete(2)}))
    assert conversion.convert({"a": [3e30, -1], "b": 1}).tolist() == [np.float32(3e30), -1, 0, 1]


def test_spaces_without_entries():
    for space, point in ((Dict(), {}), (Tuple(()), ()), (Box(0, 1, (0, 2), int), np.zeros((0, 2)))):
        if space == Box(0, 1, (0, 2), int):
            point = point.astype(int)
        assert RavelConversion(space).target == Discrete(1)
        assert RavelConversion(space).convert(point) == 0
        assert FlattenConversion(space).convert(point).shape == (0,)
        assert equal(space, RavelConversion(space).restore(0), point)


def test_batches_are_checked():
    space = Dict({"a": Discrete(3), "b": Box(-1, 1, (2,), int)})
    a, b = np.zeros((4, 5), int), np.zeros((4, 5, 2), int)
    for conversion in (RavelConversion(space), FlattenConversion(space)):
        with pytest.raises(ValueError, match=r"a batch\['b'\] must have shape \(4, 5, 2\), got"):
            conversion.convert_batch({"a": a, "b": b[:3]})
    a[2, 3] = 3
    for conversion in (RavelConversion(space), FlattenConversion(space)):
        with pytest.raises(ValueError, match=r"point \(2, 3\) of the batch does not lie in Dict"):
            conversion.convert_batch({"a": a, "b": b})
    b[1, 0] = -2
    with pytest.raises(ValueError, match=r"point \(1, 0\) of the batch"):
        RavelConversion(space).convert_batch({"a": a, "b": b})


def test_batches_are_of_numbers():
    space = Dict({"a": Discrete(3), "b": Box(-1, 1, (2,))})
    a, b = np.zeros(4, int), np.zeros((4, 2))
    conversion = FlattenConversion(space)
    with pytest.raises(TypeError, match=r"a batch\['a'\] must be of integers, got float64"):
        conversion.convert_batch({"a": a / 2, "b": b})
    with pytest.raises(TypeError, match=r"a batch\['b'\] must be of numbers, got <U1"):
        conversion.convert_batch({"a": a, "b": b.astype("U1")})
    assert conversion.convert_batch({"a": a, "b": b.astype(int)}).shape == (4, 5)


@pytest.mark.parametrize("dtype", [bool, np.uint64, np.uint8, np.int16])
def test_batches_of_all_kinds_of_integers(dtype):
    space = Box(np.array([0, 0], dtype), np.array([1, 1], dtype), dtype=dtype)
    points = np.array([[0, 1], [1, 1]], dtype)
    for conversion, expected in (
        (RavelConversion(space), [1, 3]),
        (FlattenConversion(space), [[0, 1], [1, 1]]),
    ):
        assert conversion.convert_batch(points).tolist() == expected
        back = conversion.restore_batch(np.array(expected))
        assert back.dtype == dtype
        assert back.tolist() == points.tolist()


def test_large_unsigned_numbers_are_exact():
    space = Box(2**62, 2**62 + 2**40, (1,), np.uint64)
    points = np.array([[2**62 + 2**40 - 1]], np.uint64)
    for conversion in (RavelConversion(space), FlattenConversion(space)):
        assert (
            conversion.restore_batch(conversion.convert_batch(points)).tolist() == points.tolist()
        )
        assert conversion.restore(conversion.convert(points[0])).tolist() == points[0].tolist()


def test_values_of_a_batch_are_checked():
    ravel, flatten = RavelConversion(MultiDiscrete([3, 2])), FlattenConversion(Discrete(3))
    with pytest.raises(ValueError, match=r"value \(1, 2\) of the batch is 6, which does not lie"):
        ravel.restore_batch(np.array([[0, 1, 2], [3, 4, 6]]))
    with pytest.raises(TypeError, match=r"points of Discrete\(6\) must be integers, got float64"):
        ravel.restore_batch(np.zeros(3))
    with pytest.raises(ValueError, match=r"value \(1,\) of the batch is \[0, 0, 2\]"):
        flatten.restore_batch(np.array([[0, 0, 1], [0, 0, 2]]))
    with pytest.raises(TypeError, match="points of the flat space must be integers, got float64"):
        flatten.restore_batch(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"values must have shape \(.*\), got \(2, 4\)"):
        flatten.restore_batch(np.zeros((2, 4), int))
    odd = FlattenConversion(Box(-1, 1, (2,)))
    with pytest.raises(ValueError, match=r"value \(0,\) of the batch is \[0\.0, nan\]"):
        odd.restore_batch(np.array([[0.0, np.nan]]))


def test_results_go_where_they_are_wanted():
    space = Dict({"a": Discrete(3), "b": Box(-1, 1, (2,), np.int8)})
    points = {"a": np.array([2, 0]), "b": np.array([[0, 1], [-1, 1]], np.int8)}
    for conversion in (RavelConversion(space), FlattenConversion(space)):
        out = conversion.empty((2,))
        assert conversion.convert_batch(points, out) is out
        back = conversion.layout.empty((2,))
        assert conversion.restore_batch(out, back) is back
        assert back["a"].tolist() == [2, 0]
        assert back["b"].tolist() == [[0, 1], [-1, 1]]
        assert back["b"].dtype == np.int8


def test_results_go_nowhere_else():
    conversion = FlattenConversion(Dict({"a": Box(-1, 1, (2,), int)}))
    points = {"a": np.zeros((3, 2), int)}
    strided = np.zeros((6, 2), int)[::2]
    for out in (strided, np.zeros((2, 2), int), np.zeros((3, 2), np.int8)):
        with pytest.raises(ValueError, match=r"out must be a contiguous int64 array of shape"):
            conversion.convert_batch(points, out)
    for out in (strided, np.zeros((2, 2), int)):
        with pytest.raises(ValueError, match=r"as those of layout\.empty\(\(3,\)\)"):
            conversion.restore_batch(points["a"], {"a": out})


def test_old_gym_spaces():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = pytest.importorskip("gym").spaces
    space = {"a": old.Discrete(3), "b": old.Dict({"c": old.Box(-1, 1, (2,), int)})}
    point = {"a": 2, "b": {"c": [0, 1]}}
    assert RavelConversion(space).convert(point) == 2 * 9 + 5
    assert FlattenConversion(space).convert(point).tolist() == [0, 0, 1, 0, 1]


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
