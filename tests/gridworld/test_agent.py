"""Grid agents as data: parameters, equality, copies."""

import copy

import numpy as np
import pytest

from abmarl.gridworld import (
    Grid,
    GridWorldAgent,
    MovingAgent,
    PositionState,
    TeamAgent,
    TeamObserver,
    TeamState,
)
from tests.support.grid_worlds import FighterAgent, build, fighter


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"encoding": 0}, ValueError, r"encoding must not be 0 \(empty\)"),
        ({"encoding": -1}, ValueError, "encoding must not be"),
        ({"encoding": -2}, ValueError, "encoding must not be"),
        ({"encoding": 1.0}, TypeError, "encoding must be an int, got 1.0"),
        ({"encoding": True}, TypeError, "encoding must be an int"),
        ({"encoding": 2**31}, ValueError, "encoding must fit 32 bits"),
        ({"view_range": -1}, ValueError, 'view_range must be 0 or more or "FULL", got -1'),
        ({"move_range": "ALL"}, TypeError, "move_range must be an int"),
        ({"attack_range": 0.5}, TypeError, "attack_range must be an int"),
        ({"attack_strength": 1.1}, ValueError, r"attack_strength must be in \[0, 1\], got 1.1"),
        ({"attack_accuracy": float("nan")}, ValueError, r"attack_accuracy must be in \[0, 1\]"),
        ({"simultaneous_attacks": -1}, ValueError, "simultaneous_attacks must be 0 or more"),
        ({"initial_health": 0}, ValueError, r"initial_health must be in \(0, 1\], got 0"),
        ({"blocking": 1}, TypeError, "blocking must be True or False"),
        ({"at": (1, 2, 3)}, ValueError, "initial_position must be a row and a column"),
        ({"at": ("a", "b")}, ValueError, "initial_position must be a row and a column"),
        ({"at": (0.5, 1)}, ValueError, "initial_position must be a row and a column"),
        ({"group": 3}, TypeError, "group must be a name"),
    ],
)
def test_parameters(parameters, error, message):
    with pytest.raises(error, match=message):
        fighter("a", **parameters)


def test_full_range_is_the_whole_grid():
    sim = build([fighter("a", view_range="FULL", at=(0, 0)), fighter("b", at=(2, 4))])
    sim.reset(seed=0)
    assert sim.agents["a"].view_range == 4
    window = sim.get_obs("a")["position_centered_encoding"]
    assert window.shape == (9, 9)
    assert window[4 + 2, 4 + 4] == 1


def test_equality_looks_at_all_attributes():
    assert fighter("a") == fighter("a")
    assert fighter("a") != fighter("a", view_range=2)
    assert fighter("a") != fighter("b")
    one, other = build([fighter("a")]), build([fighter("a")])
    assert one.agents["a"] == other.agents["a"]
    other.agents["a"].health = 0.5
    assert one.agents["a"] != other.agents["a"]


def test_agents_of_a_simulation_are_copied_into_the_next():
    agents = {"a": fighter("a", at=(1, 1))}
    first = build(agents.values())
    first.reset(seed=0)
    second = build(first.agents.values(), rows=5, cols=7)
    second.reset(seed=0)
    assert first.agents["a"] is not second.agents["a"]
    second.agents["a"].health = 0.5
    assert first.agents["a"].health == 1.0
    assert second.agents["a"].position.tolist() == [1, 1]


def test_full_survives_a_copy_into_a_larger_grid():
    # A copy must not keep the number that "FULL" became on the first grid.
    first = build([fighter("a", view_range="FULL")])
    second = build(first.agents.values(), rows=5, cols=9)
    assert second.agents["a"].view_range == 8


def test_the_start_can_move_between_episodes():
    sim = build([fighter("a", at=(0, 0))])
    agent = sim.agents["a"]
    agent.initial_position = (2, 3)
    sim.reset(seed=0)
    assert agent.position.tolist() == [2, 3]
    with pytest.raises(
        ValueError, match=r"Agent 'a' starts at \(9, 9\), which is not on the 3 x 5"
    ):
        agent.initial_position = (9, 9)
    assert agent.initial_position.tolist() == [2, 3]


def test_an_initial_position_is_replaced_as_a_whole():
    loose, sim = fighter("b", at=(0, 1)), build([fighter("a", at=(0, 0))])
    for agent in (loose, sim.agents["a"], copy.deepcopy(loose)):
        with pytest.raises(ValueError, match="read-only"):
            agent.initial_position[0] = 2
        agent.initial_position = agent.initial_position + np.array([1, 2])
    sim.reset(seed=0)
    assert sim.agents["a"].position.tolist() == [1, 2]


def test_the_team_can_change_between_episodes():
    class PlayerAgent(FighterAgent, TeamAgent):
        """Has a team."""

    for states in ([PositionState], [PositionState, TeamState]):
        # At first every team is an encoding, and views could be copied from the encodings.
        agents = [fighter("a", kind=PlayerAgent), fighter("b", 3)]
        sim = build(agents, states=states, observers=[TeamObserver])
        player = sim.agents["a"]
        for team, found in ((None, 1), (3, 3), (None, 1), (2, 2)):
            player.initial_team = team
            sim.reset(seed=0)
            assert (player.initial_team, player.team) == (team, found)
            assert sim.store.teams().tolist() == [[found, 3]]
            assert sim.vectorize(2).store.initial_teams.tolist() == [found, 3]
            assert sim.get_obs("a")["team"][1, 1] == found
        for name in ("initial_team", "team"):
            with pytest.raises(ValueError, match="The teams of this simulation go up to 3, got 4"):
                setattr(player, name, 4)
            assert (player.initial_team, player.team) == (2, 2)


def test_errors_name_the_agent():
    with pytest.raises(ValueError, match=r"Agent 'k': encoding must not be 0 \(empty\)"):
        MovingAgent(id="k", encoding=0)


def test_a_full_view_of_a_huge_grid_is_refused():
    with pytest.raises(ValueError, match="view_range of agent 'a' is 39999 cells on a 1 x 40000"):
        build([fighter("a", view_range="FULL")], rows=1, cols=40000)


@pytest.mark.parametrize(
    ("name", "value"),
    [("encoding", 2), ("blocking", True), ("view_range", 9), ("simultaneous_attacks", 3)],
)
def test_what_shapes_arrays_cannot_change(name, value):
    sim = build([fighter("a")])
    before = getattr(sim.agents["a"], name)
    with pytest.raises(ValueError, match="cannot change once it is in a simulation"):
        setattr(sim.agents["a"], name, value)
    assert getattr(sim.agents["a"], name) == before


def test_teams():
    class PlayerAgent(TeamAgent, MovingAgent):
        """Has a team."""

    assert TeamAgent(id="a", encoding=4).team == 4
    assert TeamAgent(id="a", encoding=4, team=2).team == 2
    with pytest.raises(ValueError, match="team must be 1 or more, got 0"):
        TeamAgent(id="a", encoding=4, team=0)
    # Teams as large as encodings stay apart.
    sim = build(
        [GridWorldAgent(id=f"a{e}", encoding=e) for e in (1, 65537)], observers=[], actors=[]
    )
    assert np.unique(sim.store.teams()).tolist() == [1, 65537]


def test_a_misspelt_parameter_is_noticed():
    agents = {"a": MovingAgent(id="a", encoding=1, move_range=1, initial_helth=0.5)}
    message = "Agent 'a' took no notice of 'initial_helth'; did you mean 'initial_health'"
    with pytest.warns(UserWarning, match=message):
        Grid(3, 5).bind(agents)
