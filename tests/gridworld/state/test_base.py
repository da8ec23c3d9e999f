"""State components; placement itself is compared with the naive one in tests/kernels."""

import numpy as np
import pytest

from abmarl.gridworld import HealthState, PositionState, TeamAgent, TeamState
from abmarl.gridworld.state.base import world_numbers
from tests.support.grid_worlds import FighterAgent, build, fighter, same, wall


def test_initial_positions_come_first():
    """A crowded grid: the one free cell is left for whom may go anywhere."""
    fixed = [wall(f"w{k}", 9, (k // 5, k % 5)) for k in range(14)]
    sim = build([fighter("a"), *fixed])
    for seed in range(5):
        sim.reset(seed=seed)
        assert sim.agents["a"].position.tolist() == [2, 4]


def test_an_occupied_start_names_the_agent():
    sim = build([fighter("a", 1, (1, 1)), fighter("b", 2, (1, 1))])
    before = sim.state_dict()
    with pytest.raises(
        ValueError, match=r"Agent 'b' cannot start at its initial position \(1, 1\)"
    ):
        sim.reset(seed=0)
    assert same(before, sim.state_dict())


def test_a_full_grid_names_the_agent():
    sim = build([fighter(f"a{k}") for k in range(16)])
    before = sim.state_dict()
    with pytest.raises(ValueError, match="No cell of the 3 x 5 grid is left for agent 'a15'"):
        sim.reset(seed=0)
    assert same(before, sim.state_dict())
    vec = sim.vectorize(2)
    streams = vec.store.streams.copy()
    with pytest.raises(ValueError, match="the 3 x 5 grid of world 0 is left for agent 'a15'"):
        vec.reset()
    assert (vec.store.streams == streams).all()


def test_a_placement_that_fails_in_one_world_names_it():
    # Two agents may go anywhere and one of them wherever the other is not: with both orders of
    # placement, some worlds of a batch leave out "a", others "b".
    agents = [fighter("a"), fighter("b"), *(wall(f"w{k}", 9, (k // 5, k % 5)) for k in range(14))]
    sim = build(agents, randomize_placement_order=True)
    for seed in range(6):
        with pytest.raises(ValueError, match=r"is left for agent '.'; use") as alone:
            sim.reset(seed=(seed, 0))
        for num_threads in (1, 2, 8):
            vec = sim.vectorize(8, seed=seed, num_threads=num_threads)
            name = str(alone.value).split("'")[1]
            with pytest.raises(ValueError, match=f"grid of world 0 is left for agent '{name}'"):
                vec.reset()
            with pytest.raises(ValueError, match="grid of world 5 is left for agent"):
                vec.reset(worlds=[7, 5, 6])


def test_no_overlap_at_reset():
    agents = [fighter(f"a{k}") for k in range(15)]
    sim = build(agents, overlapping={1: 1}, no_overlap_at_reset=True)
    sim.reset(seed=0)
    assert len({tuple(agent.position) for agent in sim.agents.values()}) == 15


def test_random_placement_order_changes_who_is_left_out():
    agents = [fighter("a"), fighter("b"), *(wall(f"w{k}", 9, (k // 5, k % 5)) for k in range(14))]
    sim = build(agents, randomize_placement_order=True)
    named = set()
    for seed in range(20):
        with pytest.raises(ValueError, match="left for agent") as error:
            sim.reset(seed=seed)
        named.add(str(error.value).split("'")[1])
    assert named == {"a", "b"}


def test_health():
    sim = build([fighter("a", initial_health=0.5), fighter("b", initial_health=None)])
    found = set()
    for seed in range(5):
        sim.reset(seed=seed)
        assert sim.agents["a"].health == 0.5
        found.add(sim.agents["b"].health)
        sim.agents["b"].health = 0
    assert len(found) == 5
    assert all(0 < health < 1 for health in found)


def test_teams_start_anew():
    class PlayerAgent(FighterAgent, TeamAgent):
        """Has a team."""

    states = [PositionState, HealthState, TeamState]
    sim = build([fighter("a", kind=PlayerAgent, team=3), fighter("b", 2)], states=states)
    sim.reset(seed=0)
    sim.agents["a"].team = 2
    assert sim.store.team.tolist() == [[2, 2]]
    sim.reset()
    assert sim.store.team.tolist() == [[3, 2]]


@pytest.mark.parametrize("name", ["no_overlap_at_reset", "randomize_placement_order"])
def test_parameters(name):
    with pytest.raises(TypeError, match=f"{name} must be True or False, got 'yes'"):
        build([fighter("a")], **{name: "yes"})


def test_worlds_to_reset():
    assert world_numbers(None, 3).tolist() == [0, 1, 2]
    assert world_numbers(np.array([True, False, True]), 3).tolist() == [0, 2]
    assert world_numbers([2, 0, 2], 3).tolist() == [0, 2]
    for worlds, message in (
        ([3], "Worlds are numbered 0 to 2"),
        ([-1], "Worlds are numbered 0 to 2"),
        ([0.5], "bool mask or a list of ints"),
        (1, "bool mask or a list of ints"),
        (np.array([True]), r"has shape \(3,\), got \(1,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            world_numbers(worlds, 3)
