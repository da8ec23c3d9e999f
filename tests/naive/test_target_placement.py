"""Mazes, placement around targets, drifting moves and dones by targets, worked out by hand."""

import pytest

from .done import TargetAgentInactiveDone, TargetAgentOverlapDone
from .hand_made import NoStream, Script, world_of
from .maze import grow_maze
from .move import drift_move
from .placement import NoCellLeft
from .target_placement import reset_around_target
from .world import NaiveAgent, NaiveWorld


def test_a_maze():
    # The frontier after each step, the next cell in brackets:
    #   (0,1) [(1,0)]      opens (1,0)      # .        start (0,0)
    #   [(0,1)] (1,1)      opens (0,1)      . #        (1,1) has two passages beside it
    assert grow_maze(NaiveWorld(2, 2, []), Script(belows=[1, 0]), (0, 0)) == {
        (0, 0), (1, 0), (0, 1),
    }  # fmt: skip


def test_a_line_is_one_passage():
    passages = grow_maze(NaiveWorld(1, 5, []), Script(belows=[0, 1, 0, 0]), (0, 2))
    assert passages == {(0, c) for c in range(5)}


def test_clusters_and_scatters():
    agents = [NaiveAgent(2), NaiveAgent(1, initial_position=(0, 1)), NaiveAgent(3), NaiveAgent(2)]
    world = NaiveWorld(2, 4, agents)
    reset_around_target(
        world, NoStream(), target=1, barrier_encodings={2}, cluster_barriers=True,
        scatter_free_agents=True,
    )  # fmt: skip
    assert [agent.position for agent in agents] == [(0, 0), (0, 1), (1, 3), (0, 2)]


def test_the_target_is_first_but_leaves_starts_alone():
    agents = [NaiveAgent(2), NaiveAgent(2, initial_position=(0, 1)), NaiveAgent(1)]
    world = NaiveWorld(1, 3, agents)
    # It tries (0, 1), which is taken, then (0, 2); agent 0 gets what is left.
    reset_around_target(world, Script(belows=[1, 2, 0]), target=2, barrier_encodings={2})
    assert [agent.position for agent in agents] == [(0, 0), (0, 1), (0, 2)]


def test_a_line_has_no_walls():
    agents = [NaiveAgent(1, initial_position=(0, 0)), NaiveAgent(2)]
    world = NaiveWorld(1, 3, agents)
    with pytest.raises(NoCellLeft) as error:
        reset_around_target(
            world, NoStream(), in_maze=True, target=0, barrier_encodings={2}, cluster_barriers=True
        )
    assert error.value.agent == 1


def test_drift():
    # . . b
    # a . .
    world = world_of("..b\na..", a={"encoding": 1}, b={"encoding": 2})
    assert drift_move(world, 1, 0, 0) == (False, 0)
    assert drift_move(world, 1, 4, 3) == (True, 4)  # up, to (0, 0)
    assert drift_move(world, 1, 1, 3) == (True, 3)  # not to the left, on to (0, 1)
    assert drift_move(world, 1, 3, 4) == (False, 4)  # "b" is there, and the edge is above
    assert world.agents[1].position == (0, 1)


def test_dones():
    world = world_of("ab\n..", overlapping={1: 2}, a={"encoding": 1}, b={"encoding": 2})
    overlap, inactive = TargetAgentOverlapDone({0: 1}), TargetAgentInactiveDone({0: 1})
    assert not overlap.done(world, 0)
    world.remove(0)
    world.place(0, (0, 1))
    assert overlap.done(world, 0)
    assert not overlap.done(world, 1)
    assert overlap.all_done(world)
    assert not inactive.all_done(world)
    world.agents[1].active = False
    assert inactive.done(world, 0)
    assert not inactive.done(world, 1)
    assert inactive.all_done(world)
