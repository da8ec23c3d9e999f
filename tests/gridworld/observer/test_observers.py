"""Observers in the object form; their windows are compared with naive ones in tests/kernels."""

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from abmarl.gridworld import (
    AbsoluteEncodingObserver,
    AbsolutePositionObserver,
    GridObservingAgent,
    GridWorldAgent,
    MovingAgent,
    PositionCenteredEncodingObserver,
    SmartGridWorldSimulation,
    StackedPositionCenteredEncodingObserver,
    TeamAgent,
    TeamObserver,
)
from abmarl.gridworld.observer import ObserverBase
from abmarl.sim import ObservingAgent
from tests.support.equivalence import replay
from tests.support.grid_worlds import WINDOW, FighterAgent, act, battle, build, fighter, wall


def test_a_window():
    # a w b
    # . . .      w blocks; a is in the corner of the grid
    sim = build(
        [fighter("a", 1, (0, 0), view_range=2), wall("w", 9, (0, 1)), fighter("b", 2, (0, 2))]
    )
    sim.reset(seed=0)
    obs = sim.get_obs("a")
    assert list(obs) == [WINDOW]
    assert obs[WINDOW].dtype == int
    assert obs in sim.agents["a"].observation_space
    assert obs[WINDOW].tolist() == [
        [-1, -1, -1, -1, -1],
        [-1, -1, -1, -1, -2],
        [-1, -1, 1, 9, -2],
        [-1, -1, 0, 0, -2],
        [-1, -1, 0, 0, 0],
    ]
    assert sim.observers[0].get_obs(sim.agents["w"]) == {}
    assert (sim.agents["a"].null_observation[WINDOW] == -2).all()


def test_observations_are_the_readers_own():
    sim = battle()
    sim.reset(seed=0)
    kept = sim.get_obs("red0")[WINDOW]
    before = kept.copy()
    sim.step({"red0": {"attack": 1, "move": np.array([1, 0])}})
    assert np.array_equal(kept, before)
    assert not np.array_equal(sim.get_obs("red0")[WINDOW], before)


def test_nobody_spoils_the_observations_of_others():
    observers = [PositionCenteredEncodingObserver, TeamObserver, LuckObserver]
    sim = battle(observers=observers)
    sim.reset(seed=0)
    one = sim.get_obs("red0")
    assert list(one) == ["luck", WINDOW, "team"]
    kept = {key: np.copy(value) for key, value in one.items()}
    for key in (WINDOW, "team"):
        one[key][:] = 99
    agent = sim.agents["red0"]
    for _ in range(2):
        again = {**sim.get_obs("red0"), **sim.observers[2].get_obs(agent)}
        for key, value in kept.items():
            assert np.array_equal(again[key], value)
            assert np.asarray(again[key]).dtype == value.dtype
            assert np.shape(again[key]) == np.shape(value)
        assert again in agent.observation_space
        for key in (WINDOW, "team"):
            again[key][:] = 99
    assert np.array_equal(sim.get_obs("blue0")[WINDOW], [[-1] * 3, [1, 2, 0], [0, 0, 2]])


class LuckObserver(ObserverBase):
    """A number instead of an array."""

    key = "luck"

    def space(self, agent):
        return Discrete(5)

    def observe(self, out=None):
        return np.arange(self.store.num_agents)[None]


@pytest.mark.parametrize("encoding", [126, 127, 128, 200, 32767, 32768, 70000, -5, -200, -40000])
@pytest.mark.parametrize("view_range", [0, 1, 2, 3, 4, 7, 8, 15, 16])
def test_encodings_of_every_width(encoding, view_range):
    sim = build([fighter("a", encoding, (0, 0), view_range=view_range), fighter("b", 1, (0, 1))])
    expected = np.full((2 * view_range + 1,) * 2, -1)
    inside = expected[view_range : view_range + 3, view_range : view_range + 5]
    inside[:] = 0
    inside[0, 0] = encoding
    if view_range:
        inside[0, 1] = 1
    sim.reset(seed=0)
    obs = sim.get_obs("a")
    assert np.array_equal(obs[WINDOW], expected)
    assert obs in sim.agents["a"].observation_space
    vec = sim.vectorize(2)
    found = vec.reset()[0]["fighter_" + str(encoding)][WINDOW]
    assert np.array_equal(found[1, 0], expected)


@pytest.mark.parametrize(("itself", "centre"), [(True, 1), (False, 0)])
def test_observe_self(itself, centre):
    sim = build([fighter("a", at=(1, 2))], observe_self=itself)
    sim.reset(seed=0)
    assert sim.get_obs("a")[WINDOW].tolist() == [[0, 0, 0], [0, centre, 0], [0, 0, 0]]


@pytest.mark.parametrize("overlapping", [{1: {1}}, {1: {1, 2}}])
@pytest.mark.parametrize("others", [0, 1])
def test_observe_self_when_not_active(overlapping, others):
    # With and without another agent in the cell; windows are copied from rows, or made by cell.
    agents = [fighter("a", at=(1, 2)), *(fighter(f"b{k}", at=(1, 2)) for k in range(others))]
    sim = build([*agents, fighter("c", 2, at=(0, 0))], observe_self=False, overlapping=overlapping)
    sim.reset(seed=0)
    sim.agents["a"].active = False
    expected = [[0, 0, 0], [0, 1 if others else 0, 0], [0, 0, 0]]
    assert sim.get_obs("a")[WINDOW].tolist() == expected


def strip(**parameters):
    # a w b     two walls, one behind the other in one cell, between a and b
    agents = [fighter("a", 1, (1, 0), view_range=2), fighter("b", 2, (1, 2))]
    walls = [wall("w0", 9, (1, 1)), fighter("w1", 9, (1, 1), blocking=True)]
    return build([*agents, *walls], overlapping={9: {9}}, **parameters)


def sees_through(sim):
    shown = sim.get_obs("a")[WINDOW][2, 4]
    assert shown in (2, -2)
    return shown == 2


@pytest.mark.parametrize("other", ["removed", "moved", "killed", "inactive"])
def test_an_inactive_blocker_hides_nothing(other):
    sim = strip(attack_mapping={1: {9}})
    sim.reset(seed=0)
    assert not sees_through(sim)
    one, two = sim.agents["w0"], sim.agents["w1"]
    one.active = False
    assert not sees_through(sim)
    if other == "removed":
        sim.grid.remove(two, (1, 1))
    elif other == "moved":
        sim.step({"w1": act(0, (1, 0))})
    elif other == "killed":
        sim.step({"a": act(1)})
    else:
        two.active = False
    assert sees_through(sim)
    one.active = True
    assert not sees_through(sim)


def test_an_inactive_blocker_that_is_placed_hides_nothing():
    sim = strip()
    sim.reset(seed=0)
    for name in ("w0", "w1"):
        wall = sim.agents[name]
        wall.active = False
        sim.grid.remove(wall, (1, 1))
        assert sim.grid.place(wall, (1, 1))
    assert sees_through(sim)
    sim.agents["w1"].position = np.array([2, 1])
    sim.agents["w1"].position = np.array([1, 1])
    assert sees_through(sim)
    sim.reset()
    assert not sees_through(sim)


def test_a_reset_that_places_nobody_wakes_blockers():
    class StandingSim(SmartGridWorldSimulation):
        """Agents are where somebody put them."""

    sim = strip(kind=StandingSim, states=[])
    for agent in sim.agents.values():
        sim.grid.place(agent, agent.initial_position)
    for name in ("w0", "w1"):
        sim.agents[name].active = False
    assert sees_through(sim)
    sim.reset(seed=0)
    assert not sees_through(sim)


def test_who_falls_sees_once_more():
    sim = battle()
    sim.reset(seed=0)
    stay = {"attack": 0, "move": np.array([0, 0])}
    sim.step({"red0": {**stay, "attack": 1}})
    assert sim.get_obs("blue0")[WINDOW].tolist() == [[-1] * 3, [1, 0, 0], [0, 0, 2]]
    sim.step({"red0": stay})
    assert (sim.get_obs("blue0")[WINDOW] == -2).all()


def test_counts():
    agents = [fighter("a", 1, (0, 0)), fighter("b", 1, (0, 0)), fighter("c", 3, (0, 0))]
    observers = [StackedPositionCenteredEncodingObserver]
    sim = build(agents, observers=observers, overlapping={1: {1, 3}})
    sim.reset(seed=0)
    window = sim.get_obs("a")["stacked_position_centered_encoding"]
    assert window.shape == (3, 3, 3)
    assert window[1, 1].tolist() == [2, 0, 1]
    assert window[0, 0].tolist() == [-1, -1, -1]
    assert window[2, 2].tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="has a layer per encoding from 1"):
        build([fighter("a", -5)], observers=observers)


def test_teams():
    class PlayerAgent(FighterAgent, TeamAgent):
        """Has a team."""

    agents = [fighter("a", 1, (0, 0), kind=PlayerAgent, team=4), fighter("b", 2, (0, 1))]
    sim = build(agents, observers=[TeamObserver])
    sim.reset(seed=0)
    assert sim.get_obs("a")["team"].tolist() == [[-1] * 3, [-1, 4, 2], [-1, 0, 0]]


def test_agents_that_only_observe():
    """They get observations, learn nothing, and their rows in a batch harm nobody."""

    class EyeAgent(GridObservingAgent):
        """Watches."""

    eye = EyeAgent(id="eye", encoding=2, view_range=2, initial_position=(2, 2), initial_health=1.0)
    sim = build([fighter("a", 1, (0, 0)), eye, fighter("b", 1, (0, 4))])
    vec = sim.vectorize(3, seed=0)
    obs, _ = vec.reset()
    sim.reset(seed=(0, 2))
    assert list(vec.groups) == ["fighter"]
    for k, name in enumerate(("a", "b")):
        assert np.array_equal(obs["fighter"][WINDOW][2, k], sim.get_obs(name)[WINDOW])
    assert sim.get_obs("eye")[WINDOW].shape == (5, 5)
    assert (sim.get_obs("eye")[WINDOW] == 1).sum() == 2


def test_array_form():
    sim = battle()
    sim.reset(seed=0)
    found = sim.observers[0].observe()
    assert found.shape == (1, 4, 3, 3)
    assert all(
        np.array_equal(found[0, k], sim.get_obs(n)[WINDOW]) for k, n in enumerate(sim.agents)
    )


class BlindObserver(ObserverBase):
    """Says nothing about what is to be seen."""

    key = "nothing"

    def space(self, agent):
        return Discrete(2)


def test_an_observer_says_what_it_observes():
    sim = build([fighter("a")], observers=[BlindObserver])
    sim.reset(seed=0)
    for call in (lambda: sim.get_obs("a"), sim.observers[0].observe, sim.vectorize(2).reset):
        with pytest.raises(TypeError, match="BlindObserver must define observe, which returns"):
            call()


def test_parameters():
    with pytest.raises(TypeError, match="observe_self must be True or False, got 1"):
        build([fighter("a")], observe_self=1)
    assert issubclass(PositionCenteredEncodingObserver, ObserverBase)


def test_a_new_team_shows_in_a_simulation_without_team_state():
    class PlayerAgent(FighterAgent, TeamAgent):
        """Has a team."""

    agents = [fighter("a", at=(0, 0)), fighter("b", at=(0, 1), kind=PlayerAgent)]
    agents.append(fighter("c", encoding=2))
    sim = build(agents, observers=[TeamObserver])
    sim.reset(seed=0)
    assert sim.get_obs("a")["team"][1, 2] == 1
    sim.agents["b"].initial_team = 2
    sim.reset(seed=0)
    assert sim.get_obs("a")["team"][1, 2] == 2


OBSERVERS = [AbsoluteEncodingObserver, AbsolutePositionObserver]


def scene(**parameters):
    """
    a . . . .
    . w . b .       w (9) blocks
    . . . . b
    """
    agents = [
        fighter("a", 1, (0, 0), view_range=2, **parameters),
        wall("w", 9, (1, 1)),
        fighter("b0", 2, (1, 3), view_range="FULL"),
        fighter("b1", 2, (2, 4), view_range=0),
    ]
    sim = build(agents, observers=OBSERVERS)
    sim.reset(seed=0)
    return sim


def grid_of(sim, name):
    return sim.get_obs(name)["absolute_encoding"].tolist()


def test_the_whole_grid():
    sim = scene()
    assert grid_of(sim, "a") == [[-1, 0, 0, -2, -2], [0, 9, -2, -2, -2], [0, -2, -2, -2, -2]]
    assert grid_of(sim, "b0") == [[1, 0, 0, 0, 0], [-2, 9, 0, -1, 0], [0, 0, 0, 0, 2]]
    assert grid_of(sim, "b1") == [[-2] * 5, [-2] * 5, [-2, -2, -2, -2, -1]]


def test_spaces():
    agent = scene().agents["a"]
    assert agent.observation_space["absolute_encoding"] == Box(-2, 9, (3, 5), int)
    assert agent.null_observation["absolute_encoding"].tolist() == [[-2] * 5] * 3
    corner = np.array([2, 4])
    assert agent.observation_space["position"] == Box(np.zeros(2, int), corner, dtype=int)
    assert agent.null_observation["position"].tolist() == [0, 0]


def test_positions():
    sim = scene()
    assert sim.get_obs("b0")["position"].tolist() == [1, 3]
    sim.actors["move"].process_action(sim.agents["b0"], {"move": np.array([-1, 1])})
    assert sim.get_obs("b0")["position"].tolist() == [0, 4]


class ScoutAgent(ObservingAgent, MovingAgent):
    """Observes without a view range."""


def test_any_observing_agent_knows_its_position():
    scout = ScoutAgent(
        id="s", encoding=1, move_range=1, observation_space={}, initial_position=(2, 1)
    )
    sim = build([scout, GridWorldAgent(id="g", encoding=2)], observers=OBSERVERS)
    sim.reset(seed=0)
    assert sim.get_obs("s").keys() == {"position"}
    assert sim.get_obs("s")["position"].tolist() == [2, 1]
    assert sim.get_obs("g") == {}


def test_one_of_several_agents_is_shown():
    agents = [
        fighter("a", 1, (0, 0), view_range="FULL"),
        fighter("b", 2, (1, 3)),
        fighter("c", 3, (1, 3)),
        fighter("d", 3, (0, 0)),
    ]
    sim = build(agents, observers=OBSERVERS, overlapping={2: 3, 1: 3})
    seen = set()
    for seed in range(20):
        sim.reset(seed=seed)
        grid = sim.get_obs("a")["absolute_encoding"]
        assert grid[0, 0] == -1
        seen.add(int(grid[1, 3]))
    assert seen == {2, 3}


def test_a_last_view_and_then_null():
    sim = scene()
    before = grid_of(sim, "a")
    sim.agents["a"].health = 0
    assert grid_of(sim, "a") == before
    sim.agents["b1"].health = 0.5
    assert grid_of(sim, "a") == [[-2] * 5] * 3
    assert sim.get_obs("a")["position"].tolist() == [0, 0]


@pytest.mark.parametrize("overlapping", [{}, {1: {1, 2}}])
def test_worlds_are_single_simulations(overlapping):
    def make_sim():
        agents = [
            fighter(f"{team}{k}", team, view_range=k, attack_strength=0.5)
            for team in (1, 2) for k in (0, 1, 4)
        ]  # fmt: skip
        return build(
            [*agents, wall("w")], 5, 4, observers=OBSERVERS, overlapping=overlapping,
            attack_mapping={1: 2, 2: 1},
        )  # fmt: skip

    assert replay(make_sim, 60, 3, 5, 20, "fixed", 2, save_at=30) >= 3
