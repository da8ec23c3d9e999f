"""Done components in the object form."""

import pytest

from abmarl.gridworld import ActiveDone, OneTeamRemainingDone, TargetEncodingInactiveDone
from tests.support.grid_worlds import battle, build, fighter, wall


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
