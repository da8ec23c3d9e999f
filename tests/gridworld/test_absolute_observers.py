"""Observers that name cells by their place on the grid."""

import numpy as np
import pytest
from gymnasium.spaces import Box

from abmarl.gridworld import (
    AbsoluteEncodingObserver,
    AbsolutePositionObserver,
    GridWorldAgent,
    MovingAgent,
)
from abmarl.sim import ObservingAgent
from tests.support.equivalence import replay
from tests.support.grid_worlds import build, fighter, wall

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
