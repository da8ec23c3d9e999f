"""Placement, health and dones of the twins against cases worked out by hand."""

import pytest

from .done import ActiveDone, OneTeamRemainingDone, TargetEncodingInactiveDone
from .episode import reset_health
from .hand_made import LINE, NoStream, Script, world_of
from .placement import NoCellLeft, reset_positions
from .world import NaiveAgent, NaiveWorld

# --- placement and health


def test_placement_in_order_with_first_try():
    agents = [NaiveAgent(1), NaiveAgent(1, initial_position=(1, 2)), NaiveAgent(1)]
    world = NaiveWorld(2, 3, agents)
    # Agent 1 first; agent 0 tries (1, 2), then gets (0, 1); agent 2 gets (1, 0).
    reset_positions(world, Script(belows=[5, 1, 3]))
    assert [agent.position for agent in agents] == [(0, 1), (1, 2), (1, 0)]


def test_placement_counts_the_available_cells_after_32_tries():
    agents = [NaiveAgent(1, initial_position=(0, 0)), NaiveAgent(1)]
    world = NaiveWorld(2, 3, agents)
    reset_positions(world, Script(belows=[0] * 32 + [4]))  # of (0,1) (0,2) (1,0) (1,1) (1,2)
    assert agents[1].position == (1, 2)


def test_placement_shuffles_class_by_class_before_it_places():
    agents = [NaiveAgent(1), NaiveAgent(1), NaiveAgent(1, initial_position=(0, 0))]
    world = NaiveWorld(1, 5, agents)
    reset_positions(world, Script(belows=[0, 3, 4]), randomize_placement_order=True)
    assert [agent.position for agent in agents] == [(0, 4), (0, 3), (0, 0)]


def test_no_overlap_at_reset():
    agents = [NaiveAgent(1, initial_position=(0, 0)), NaiveAgent(1), NaiveAgent(1)]
    world = NaiveWorld(1, 2, agents, {1: 1})
    reset_positions(world, Script(belows=[0, 1]))
    assert world.cells == {(0, 0): [1, 0], (0, 1): [2]}
    with pytest.raises(NoCellLeft) as error:
        reset_positions(world, Script(belows=[0, 1] + [0, 1] * 16), no_overlap_at_reset=True)
    assert error.value.agent == 2


def test_an_unavailable_initial_position_names_the_agent():
    agents = [NaiveAgent(1, initial_position=(0, 0)), NaiveAgent(2, initial_position=(0, 0))]
    with pytest.raises(NoCellLeft) as error:
        reset_positions(NaiveWorld(1, 2, agents), NoStream())
    assert error.value.agent == 1


def test_health_is_never_zero():
    world = NaiveWorld(1, 2, [NaiveAgent(1, initial_health=0.5), NaiveAgent(1, active=False)])
    reset_health(world, Script(uniforms=[0.0, 0.25]))
    assert [agent.health for agent in world.agents] == [0.5, 0.25]
    assert all(agent.active for agent in world.agents)


# --- dones


def test_dones():
    world = world_of("abw\n...", **LINE)
    targets = TargetEncodingInactiveDone({1: 2, 2: {1, 3}})
    both = TargetEncodingInactiveDone({1: 2, 2: {1, 3}}, sim_ends_if_one_done=False)
    assert not OneTeamRemainingDone().all_done(world)
    assert not targets.all_done(world)
    world.agents[1].active = False
    world.remove(1)
    assert ActiveDone().done(world, 1)
    assert not ActiveDone().done(world, 0)
    assert not OneTeamRemainingDone().all_done(world)  # the wall counts
    assert OneTeamRemainingDone(ignore_encodings={3}).all_done(world)
    assert targets.done(world, 0)
    assert not targets.done(world, 1)
    assert not targets.done(world, 2)
    assert targets.all_done(world)
    assert not both.all_done(world)
    world.agents[0].active = False
    world.remove(0)
    assert not both.all_done(world)
    assert not ActiveDone().all_done(world)
    world.agents[2].active = False
    world.remove(2)
    assert both.all_done(world)
    assert ActiveDone().all_done(world)
