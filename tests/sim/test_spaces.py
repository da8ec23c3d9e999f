import re
import subprocess
import sys
import warnings
from collections import OrderedDict
from types import MappingProxyType

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from abmarl.sim.spaces import contains, is_space, known_to_contain, to_gymnasium


@pytest.fixture(scope="module")
def gym_spaces():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("gym").spaces


def test_gymnasium_space_is_returned_as_it_is():
    space = spaces.Dict({"a": spaces.Discrete(2)})
    assert to_gymnasium(space) is space


def test_nested_dicts_become_dict_spaces():
    part = spaces.Discrete(2)
    space = to_gymnasium({"b": {2: part, 1: part}, "a": part})
    assert space == spaces.Dict({"a": part, "b": spaces.Dict({1: part, 2: part})})
    assert space["b"][1] is part
    assert to_gymnasium({}) == spaces.Dict()
    assert to_gymnasium(MappingProxyType({"a": part})) == spaces.Dict({"a": part})


def test_keys_are_sorted_unless_their_order_was_meant():
    part = spaces.Discrete(2)
    assert list(to_gymnasium({"b": part, "a": part})) == ["a", "b"]
    assert list(to_gymnasium(OrderedDict(b=part, a=part))) == ["b", "a"]
    assert list(to_gymnasium({"b": part, 1: part})) == ["b", 1]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "it must be a space or a dict of spaces, got int 3"),
        (None, "it must be a space or a dict of spaces, got NoneType None"),
        ({"a": {1: "x"}}, "it['a'][1] must be a space or a dict of spaces, got str 'x'"),
        (spaces.Discrete, "it must be a space or a dict of spaces, got type "),
    ],
)
def test_what_is_no_space_is_refused_with_its_place(value, message):
    with pytest.raises(TypeError, match="^" + re.escape(message)):
        to_gymnasium(value, "it")


def test_is_space(gym_spaces):
    assert is_space(spaces.Discrete(2))
    assert is_space(gym_spaces.Discrete(2))
    assert not any(is_space(value) for value in ({}, None, 3, spaces.Discrete))


def test_gym_spaces_are_converted(gym_spaces):
    gym = gym_spaces
    low, high = np.array([[-2, 6, 3], [0, 0, 1]]), np.array([[2, 12, 5], [2, 4, 2]])
    old = gym.Dict(
        {
            "a": gym.MultiDiscrete([5, 3]),
            "b": gym.MultiBinary(4),
            "c": gym.Box(low, high, dtype=int),
            "d": gym.Dict({1: gym.Discrete(3, start=-1), 2: gym.Box(-1, 1, (2,))}),
            "e": gym.Tuple((gym.MultiBinary([2, 3]), gym.Dict({"x": gym.Discrete(11)}))),
            "f": gym.MultiDiscrete([[2, 3]], dtype=np.int8),
        }
    )
    new = spaces.Dict(
        {
            "a": spaces.MultiDiscrete([5, 3]),
            "b": spaces.MultiBinary(4),
            "c": spaces.Box(low, high, dtype=int),
            "d": spaces.Dict({1: spaces.Discrete(3, start=-1), 2: spaces.Box(-1, 1, (2,))}),
            "e": spaces.Tuple(
                (spaces.MultiBinary([2, 3]), spaces.Dict({"x": spaces.Discrete(11)}))
            ),
            "f": spaces.MultiDiscrete([[2, 3]], dtype=np.int8),
        }
    )
    converted = to_gymnasium(old)
    assert converted == new
    assert converted["f"].dtype == np.int8
    assert converted["b"].n == 4
    assert converted["e"][0].n == (2, 3)
    for _ in range(20):
        assert converted.sample() in new


def test_gym_spaces_in_plain_dicts_are_converted(gym_spaces):
    mixed = {"a": {"b": gym_spaces.Discrete(2)}, "c": spaces.Discrete(3)}
    expected = spaces.Dict({"a": spaces.Dict({"b": spaces.Discrete(2)}), "c": spaces.Discrete(3)})
    assert to_gymnasium(mixed) == expected


def test_order_of_a_gym_dict_is_kept(gym_spaces):
    part = gym_spaces.Discrete(2)
    assert list(to_gymnasium(gym_spaces.Dict(OrderedDict(b=part, a=part)))) == ["b", "a"]


def test_box_owns_its_bounds_and_keeps_what_is_unbounded(gym_spaces):
    old = gym_spaces.Box(-np.inf, np.array([3.0, np.inf]), (2,), np.float64)
    new = to_gymnasium(old)
    assert new.dtype == np.float64
    assert new.bounded_below.tolist() == [False, False]
    assert new.bounded_above.tolist() == [True, False]
    new.high[0] = 1.0
    assert old.high[0] == 3.0


def test_unbounded_integer_box_is_still_unbounded(gym_spaces):
    new = to_gymnasium(gym_spaces.Box(-np.inf, 5, (2,), np.int32))
    assert not new.is_bounded("below")
    assert new.is_bounded("above")
    new = to_gymnasium(gym_spaces.Box(0, np.inf, (2,), np.int32))
    assert new.is_bounded("below")
    assert not new.is_bounded("above")


def test_gym_subclass_is_converted_as_what_it_is(gym_spaces):
    class Mine(gym_spaces.Discrete):
        pass

    assert to_gymnasium(Mine(4)) == spaces.Discrete(4)


def test_seeded_gym_space_goes_on_with_its_stream(gym_spaces):
    old = gym_spaces.Discrete(1000, seed=5)
    new = to_gymnasium(old)
    drawn = [int(new.sample()) for _ in range(5)]
    assert drawn == [int(old.sample()) for _ in range(5)]
    # An unseeded one is not given a stream.
    lazy = gym_spaces.Discrete(3)
    to_gymnasium(lazy)
    assert lazy._np_random is None


def test_gym_space_without_a_counterpart_is_refused(gym_spaces):
    message = (
        "x['a'] is a gym Text, which cannot be converted to gymnasium; of gym's spaces these can: "
        "Discrete, MultiDiscrete, MultiBinary, Box, Dict, Tuple"
    )
    with pytest.raises(TypeError, match="^" + re.escape(message) + "$"):
        to_gymnasium({"a": gym_spaces.Text(3)}, "x")


def test_gym_is_not_imported():
    code = (
        "import sys, gymnasium.spaces as s; from abmarl.sim import Agent;"
        "Agent(id='a', action_space=s.Discrete(2), observation_space={}).finalize();"
        "sys.exit('gym' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("space", "inside", "outside"),
    [
        (
            spaces.Discrete(3, start=-1),
            [-1, 1, np.int8(0), np.array(1), np.uint64(1)],
            [-2, 2, 0.0, "0", None, [0], 2**70],
        ),
        (
            spaces.Box(-1, 1, (2,)),
            [[0, 0], (0.5, -1), np.zeros(2), np.ones(2, np.int64), np.array([True, False])],
            [[0, 2], [0], 0, [np.nan, 0], ["a", "b"], [[0], [0, 1]], [2**70, 0], None, {}],
        ),
        (
            spaces.Box(-2, 3, (2,), np.int8),
            [[0, 3], np.array([-2, 0]), np.array([0, 1], np.uint64)],
            [[0.5, 0], np.zeros(2), [0, 259], [0, -3]],
        ),
        (
            spaces.MultiDiscrete([3, 2], dtype=np.int8),
            [[2, 1], np.array([0, 0]), (0, 1)],
            [[3, 0], [0, -1], [0.0, 0.0], [256, 0], [0]],
        ),
        (spaces.MultiDiscrete([3], start=[-1]), [[-1], [1]], [[2], [-2]]),
        (
            spaces.MultiBinary((1, 2)),
            [[[0, 1]], np.ones((1, 2), bool), np.zeros((1, 2))],
            [[0, 1], [[0, 2]], [[0.5, 0]], [["", ""]]],
        ),
        (
            spaces.Tuple((spaces.Discrete(2), spaces.Box(0, 1, (1,)))),
            [(0, [0.5]), [1, np.zeros(1)]],
            [(0,), (2, [0.5]), (0, [0.5], 1), 0, None],
        ),
        (
            spaces.Dict({1: spaces.Discrete(2), "b": spaces.Dict({"c": spaces.Discrete(2)})}),
            [{1: 0, "b": {"c": 1}}, MappingProxyType({1: 0, "b": {"c": 0}})],
            [{}, {1: 0}, {1: 0, "b": {"c": 2}}, {1: 0, "b": {"c": 0}, "d": 0}, [0], None],
        ),
        (spaces.Text(3), ["abc"], ["abcd", 3]),
    ],
)
def test_contains(space, inside, outside):
    for check in (contains, known_to_contain):
        assert [check(space, point) for point in inside] == [True] * len(inside)
        assert [check(space, point) for point in outside] == [False] * len(outside)


leaves = st.one_of(
    st.integers(1, 5).map(spaces.Discrete),
    st.integers(1, 3).map(spaces.MultiBinary),
    st.lists(st.integers(1, 4), min_size=1, max_size=3).map(spaces.MultiDiscrete),
    st.integers(1, 3).map(lambda n: spaces.Box(-2, n, (n, 2), int)),
    st.integers(1, 3).map(lambda n: spaces.Box(-1, n, (n,))),
)
nested = st.recursive(
    leaves,
    lambda parts: st.one_of(
        st.dictionaries(st.sampled_from(["a", "b", "c"]), parts, max_size=3).map(spaces.Dict),
        st.lists(parts, max_size=3).map(spaces.Tuple),
    ),
    max_leaves=5,
)


@given(nested)
def test_every_sample_lies_in_its_space(space):
    point = space.sample()
    assert contains(space, point)
    assert known_to_contain(space, point)
    assert known_to_contain(space, point)


def test_shared_point_is_looked_at_once_and_the_list_stays_short(monkeypatch):
    from abmarl.sim import spaces as module

    looked = []
    monkeypatch.setattr(module, "contains", lambda *args: looked.append(args) or contains(*args))
    space, point = spaces.Dict({"a": spaces.Box(-1, 1, (2,), int)}), np.zeros(2, int)
    for _ in range(3):
        assert known_to_contain(space, {"a": point})
    assert len(looked) == 1
    for _ in range(200):
        assert known_to_contain(space, {"a": np.zeros(2, int)})
    assert len(module._known) <= 64
    bad = np.full(2, 5)
    assert not known_to_contain(space, {"a": bad})
    assert not known_to_contain(space, {"a": bad})
