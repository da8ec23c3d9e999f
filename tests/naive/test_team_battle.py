"""The naive team battle, and the random worlds of the strategies."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .action_masks import attack_mask, cross_move_mask, move_mask
from .battle_episodes import NaiveTeamBattle, run
from .hand_made import FIGHTER, NoStream, world_of
from .move import move
from .strategies import joint_actions, scenarios
from .streams import streams
from .team_battle import step_world
from .world import NaiveAgent, NaiveWorld

# --- team battle


def test_team_battle_step_rewards():
    # 0 kills 1 before that one acts; 2 has nothing in range and moves against the edge.
    world = world_of(
        """
        ab..
        ...c
        """,
        a={**FIGHTER, "attack_strength": 1.0, "move_range": 1},
        b={**FIGHTER, "encoding": 2, "move_range": 1},
        c={**FIGHTER, "attack_range": 1, "move_range": 1},
    )
    everybody = {0: {"attack": 1, "move": (0, 1)}, 1: {"attack": 1, "move": (0, 0)}}
    everybody[2] = {"attack": 1, "move": (0, 1)}
    rewards = step_world(world, NoStream(), [0, 1, 2], everybody, {1: {2}, 2: {1}})
    assert rewards == [1 - 0.01, -1 - 0.01, -0.1 - 0.1 - 0.01]
    assert world.agents[0].position == (0, 1)
    assert world.agents[0].health == 1.0


def two_fighters(horizon):
    """Two agents side by side on 1 x 2 that kill with one blow."""
    kind = {**FIGHTER, "attack_strength": 1.0, "move_range": 0, "view_range": 1}
    agents = [
        NaiveAgent(**{**kind, "encoding": k + 1}, initial_position=(0, k), initial_health=1.0)
        for k in range(2)
    ]
    world = NaiveWorld(1, 2, agents)
    return NaiveTeamBattle(world, streams(3, 0), {1: {2}, 2: {1}}, horizon=horizon)


@pytest.mark.parametrize("horizon", [None, 1])
def test_an_episode_ends_and_starts_anew(horizon):
    battle = two_fighters(horizon)
    battle.reset()
    blow = {k: {"attack": 1, "move": (0, 0)} for k in range(2)}
    record = battle.step(blow)
    assert record.ended
    assert record.episode_length == 1
    assert record.terminated == [True, True]
    assert record.truncated == [False, False]
    assert record.final_active == [True, False]
    assert record.active == [True, True]
    assert record.final_health == [1.0, 0.0]
    assert record.health == [1.0, 1.0]
    assert record.rewards == record.episode_returns == [1 - 0.01, -1 - 0.01]
    # The dead one sees from where it died, and not itself.
    assert record.final_windows[1] == [[-1] * 3, [1, 0, -1], [-1] * 3]
    assert record.windows[1] == [[-1] * 3, [1, 2, -1], [-1] * 3]


def test_the_horizon_cuts_an_episode():
    battle = two_fighters(2)
    rest = {k: {"attack": 0, "move": (0, 0)} for k in range(2)}
    first, second, third = [record for _, record in run(battle, 3, lambda _: rest)]
    assert not first.ended
    assert first.truncated == [False, False]
    assert second.ended
    assert second.truncated == [True, True]
    assert second.terminated == [False, False]
    assert second.episode_length == 2
    assert not third.ended
    assert third.acting == [True, True]


def test_who_is_gone_gets_the_null_window_and_no_rewards():
    kind = {"encoding": 1, "view_range": 0, "move_range": 0, "attack_range": 2}
    agents = [NaiveAgent(**kind, attack_strength=1.0, initial_position=(0, 0), initial_health=1.0)]
    agents += [
        NaiveAgent(**{**kind, "encoding": k}, initial_position=(0, k), initial_health=1.0)
        for k in (2, 3)
    ]
    battle = NaiveTeamBattle(NaiveWorld(1, 4, agents), streams(1, 0), {1: {2}})
    blow = {k: {"attack": int(k == 0), "move": (0, 0)} for k in range(3)}
    first, second = [record for _, record in run(battle, 2, lambda _: blow)]
    assert first.terminated == [False, True, False]
    assert first.windows[1] == [[0]]
    assert second.terminated == [False] * 3
    assert second.windows[1] == [[-2]]
    assert second.rewards == [-0.1 - 0.01, 0.0, -0.01]
    assert second.acting == [True, False, True]


# --- strategies


def check_state(world):
    """A state is legal: cells and agents agree, and all in a cell may overlap."""
    for number, agent in enumerate(world.agents):
        here = [cell for cell, occupants in world.cells.items() if number in occupants]
        assert here == ([agent.position] if agent.active else [])
        assert agent.active == (agent.health > 0)
    for occupants in world.cells.values():
        assert len(occupants) == len(set(occupants))
        for one in occupants:
            assert all(world.may_overlap(one, other) for other in occupants if other != one)


@settings(deadline=None)
@given(scenarios(), st.data())
def test_worlds_are_legal_and_stay_so(scenario, data):
    world = scenario.world
    check_state(world)
    actions = data.draw(joint_actions(world))
    order = [i for i, agent in enumerate(world.agents) if agent.active]
    stream = streams(scenario.seed, 0)[0]
    step_world(world, stream, order, actions, scenario.attack_mapping, scenario.stacked_attacks)
    check_state(world)


@settings(deadline=None)
@given(scenarios(feasible=True))
def test_feasible_scenarios_run(scenario):
    battle = NaiveTeamBattle(
        scenario.world,
        streams(scenario.seed, scenario.world_index),
        scenario.attack_mapping,
        stacked_attacks=scenario.stacked_attacks,
        observe_self=scenario.observe_self,
        no_overlap_at_reset=scenario.no_overlap_at_reset,
        randomize_placement_order=scenario.randomize_placement_order,
        random_order=scenario.random_order,
        horizon=scenario.horizon,
    )
    for _, record in run(battle, 6):
        check_state(battle.world)
        assert record.ended == (record.final_windows is not None)


@settings(deadline=None)
@given(scenarios())
def test_action_masks_say_what_moves_do(scenario):
    world = scenario.world
    for number, agent in enumerate(world.agents):
        m = agent.move_range
        mask = move_mask(world, number)
        assert len(mask) == 2 * m + 1
        assert mask[m][m]
        assert len(cross_move_mask(world, number)) == 5
        expected = agent.simultaneous_attacks + 1
        assert len(attack_mask(world, number, scenario.attack_mapping)) == expected
    for number, agent in enumerate(world.agents):
        if agent.active:
            mask, m = move_mask(world, number), agent.move_range
            change = (-m, m)
            assert move(world, number, change) == mask[0][2 * m]
