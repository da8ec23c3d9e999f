"""Done components in the object form."""

import numpy as np
import pytest

from abmarl.gridworld import (
    ActiveDone,
    OneTeamRemainingDone,
    TargetAgentInactiveDone,
    TargetAgentOverlapDone,
    TargetEncodingInactiveDone,
)
from tests.support.grid_worlds import act, battle, build, fighter, wall


def kill(sim, *names):
    for name in names:
        sim.agents[name].health = 0


def test_active_done():
    sim = battle(dones=[ActiveDone])
    sim.reset(seed=0)
    kill(sim, "red0")
    assert [sim.get_done(name) for name in sim.agents] == [True, False, False, False]
    assert not sim.get_all_done()
    kill(sim, "red1", "blue0", "blue1")
    assert sim.get_all_done()


@pytest.mark.parametrize(("ignored", "over"), [(None, False), ({9}, True), (9, True), ([9], True)])
def test_walls_count_as_a_team_unless_ignored(ignored, over):
    agents = [fighter("a", 1, (0, 0)), fighter("b", 2, (0, 1)), wall("w", 9, (2, 2))]
    sim = build(agents, dones=[OneTeamRemainingDone], ignore_encodings=ignored)
    sim.reset(seed=0)
    assert not sim.get_all_done()
    kill(sim, "b")
    assert sim.get_all_done() is over
    assert sim.dones[0].get_done(sim.agents["b"]) is True
    assert sim.dones[0].get_all_done() is over


@pytest.mark.parametrize("one", [True, False])
def test_targets(one):
    agents = [fighter("a", 1, (0, 0)), fighter("b", 2, (0, 1)), fighter("c", 3, (2, 2))]
    sim = build(
        agents,
        dones=[TargetEncodingInactiveDone],
        target_mapping={1: 2, 2: {1, 3}},
        sim_ends_if_one_done=one,
    )
    sim.reset(seed=0)
    assert [sim.get_done(name) for name in "abc"] == [False] * 3
    kill(sim, "b")
    assert [sim.get_done(name) for name in "abc"] == [True, False, False]
    assert sim.get_all_done() is one
    kill(sim, "a")
    assert not sim.get_done("b")
    kill(sim, "c")
    assert sim.get_done("b")
    assert sim.get_all_done()


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"target_mapping": {}}, ValueError, r"needs a target_mapping, like \{1: \{2\}\}"),
        ({"target_mapping": {1: 4}}, ValueError, "target_mapping names encoding 4, which no agent"),
        ({"target_mapping": {1: "a"}}, TypeError, "target_mapping must map encodings"),
        (
            {"target_mapping": {1: 1}, "sim_ends_if_one_done": 1},
            TypeError,
            "sim_ends_if_one_done must be True or False",
        ),
    ],
)
def test_parameters_of_targets(parameters, error, message):
    with pytest.raises(error, match=message):
        build([fighter("a")], dones=[TargetEncodingInactiveDone], **parameters)


def test_parameters_of_teams():
    with pytest.raises(TypeError, match="ignore_encodings must be a set of encodings, got 'x'"):
        build([fighter("a")], dones=[OneTeamRemainingDone], ignore_encodings="x")


def race(kind, mapping=None):
    """Two runners and two goals, which they may enter.

    a . x . .
    . . . . .
    b y . . .
    """
    agents = [
        fighter("a", 1, (0, 0)),
        fighter("b", 1, (2, 0)),
        wall("x", 2, (0, 2), blocking=False),
        wall("y", 2, (2, 1), blocking=False),
    ]
    mapping = {"a": "x", "b": "y"} if mapping is None else mapping
    sim = build(agents, dones=[kind], overlapping={1: 2}, target_mapping=mapping)
    sim.reset(seed=0)
    return sim


def dones(sim):
    return [sim.get_done(name) for name in sim.agents]


def test_overlap():
    sim = race(TargetAgentOverlapDone)
    assert dones(sim) == [False] * 4
    sim.step({"a": act(0, (0, 1)), "b": act(0, (0, 1))})
    assert dones(sim) == [False, True, False, False]
    assert sim.dones[0].get_done(sim.agents["b"]) is True
    assert not sim.get_all_done()
    sim.step({"a": act(0, (0, 1)), "b": act()})
    assert dones(sim) == [True, True, False, False]
    assert sim.get_all_done()
    sim.step({"a": act(), "b": act(0, (0, 1))})
    assert dones(sim) == [True, False, False, False]
    assert not sim.get_all_done()


def test_overlap_before_anybody_is_placed():
    sim = race(TargetAgentOverlapDone)
    sim.grid.reset()
    assert dones(sim) == [False] * 4


def test_inactive():
    sim = race(TargetAgentInactiveDone, {"a": "x", "b": "x", "y": "b"})
    assert dones(sim) == [False] * 4
    sim.agents["x"].health = 0
    assert dones(sim) == [True, True, False, False]
    assert not sim.get_all_done()
    assert sim.dones[0].get_all_done() is False
    sim.agents["b"].health = 0
    assert dones(sim) == [True, True, False, True]
    assert sim.get_all_done()


@pytest.mark.parametrize("kind", [TargetAgentOverlapDone, TargetAgentInactiveDone])
def test_objects_are_as_good_as_ids(kind):
    agents = race(kind).agents
    sim = race(kind, {agents["a"]: agents["x"], "b": agents["y"]})
    assert sim.dones[0].target_mapping == {"a": "x", "b": "y"}


@pytest.mark.parametrize("kind", [TargetAgentOverlapDone, TargetAgentInactiveDone])
def test_many_worlds(kind):
    vec = race(kind).vectorize(3, seed=0, autoreset=False)
    vec.reset()
    if kind is TargetAgentOverlapDone:
        actions = {name: {k: v * 0 for k, v in one.items()} for name, one in zeros(vec).items()}
        actions["fighter"]["move"][1, 1] = (0, 1)
        _, _, terminated, _, _ = vec.step(actions)
    else:
        vec.store.active[1, 3] = False
        _, _, terminated, _, _ = vec.step(zeros(vec))
    assert terminated["fighter"].tolist() == [[False, False], [False, True], [False, False]]


def zeros(vec):
    return {
        name: {key: np.zeros_like(array) for key, array in channels.items()}
        for name, channels in vec.sample_actions().items()
    }


@pytest.mark.parametrize("kind", [TargetAgentOverlapDone, TargetAgentInactiveDone])
@pytest.mark.parametrize(
    ("mapping", "error", "message"),
    [
        ({}, ValueError, 'needs a target_mapping, like {"runner": "goal"}'),
        (["a"], TypeError, r"target_mapping must be a dict \{agent id: target id\}, got \['a'\]"),
        ({"a": "z"}, ValueError, "target_mapping names agent 'z', which does not exist"),
        ({"z": "a"}, ValueError, "target_mapping names agent 'z', which does not exist"),
        ({"a": 1}, TypeError, "target_mapping takes ids of agents or agents, got 1"),
        ({"a": {"x"}}, TypeError, "target_mapping takes ids of agents or agents, got {'x'}"),
    ],
)
def test_parameters(kind, mapping, error, message):
    with pytest.raises(error, match=message):
        race(kind, mapping)


def test_the_mapping_is_needed():
    with pytest.raises(ValueError, match="TargetAgentOverlapDone needs a target_mapping"):
        build([fighter("a")], dones=[TargetAgentOverlapDone])
