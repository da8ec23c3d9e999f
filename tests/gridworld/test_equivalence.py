"""World k of a batch does what the single simulation of that seed and world does, bit for bit."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abmarl.examples import shipped
from abmarl.gridworld import (
    ActiveDone,
    BinaryAttackActor,
    CrossMoveActor,
    HealthState,
    MoveActor,
    OneTeamRemainingDone,
    PositionCenteredEncodingObserver,
    PositionState,
    SmartGridWorldSimulation,
    StackedPositionCenteredEncodingObserver,
    TargetEncodingInactiveDone,
    TeamObserver,
    TeamState,
)
from abmarl.sim.agents import is_agent
from tests.kernels.worlds import cases, engine_agents, known
from tests.naive.battle_episodes import NaiveTeamBattle
from tests.naive.done import OneTeamRemainingDone as NaiveOneTeamRemaining
from tests.naive.done import TargetEncodingInactiveDone as NaiveTargetInactive
from tests.naive.streams import streams
from tests.support.equivalence import random_actions, replay, rows, views, world_state

REWARDS = {"attack_missed": -0.1, "kill": 1.0, "killed": -1.0, "move_failed": -0.1, "step": -0.01}
SETTINGS = settings(
    max_examples=int(os.environ.get("ABMARL_EXAMPLES", 40)),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("order", ["fixed", "random"])
@pytest.mark.parametrize(("num_envs", "num_threads"), [(1, 1), (3, 1), (7, 2)])
@pytest.mark.parametrize("name", shipped)
def test_shipped_simulations_over_1000_steps(name, num_envs, num_threads, order):
    ended = replay(
        shipped[name], 1000, num_envs, seed=11, horizon=150, order=order, num_threads=num_threads,
        worlds=[num_envs - 1], save_at=500,
    )  # fmt: skip
    assert ended >= 3 * num_envs


@st.composite
def simulations(draw):
    """A function that makes equal simulations with random agents and components."""
    scenario, _ = draw(cases(feasible=True, far=False))
    naive = scenario.world.agents
    moves, attacks = (
        any(getattr(one, name) is not None for one in naive)
        for name in ("move_range", "attack_range")
    )
    positive = min(one.encoding for one in naive) > 0
    small = positive and max(one.encoding for one in naive) < 20
    mapping = known(scenario, scenario.attack_mapping)
    dones = draw(st.sampled_from([[ActiveDone], [OneTeamRemainingDone], [], ["targets"]]))
    if dones == ["targets"]:
        dones = [ActiveDone, TargetEncodingInactiveDone] if mapping else [ActiveDone]
    observers = draw(
        st.sampled_from(
            [
                [PositionCenteredEncodingObserver],
                [PositionCenteredEncodingObserver, TeamObserver],
                [StackedPositionCenteredEncodingObserver, TeamObserver],
            ]
        )
    )
    if not small and StackedPositionCenteredEncodingObserver in observers:
        observers = [TeamObserver]
    actors = [BinaryAttackActor] * attacks
    actors += [draw(st.sampled_from([MoveActor, CrossMoveActor]))] * moves
    if draw(st.booleans()):
        actors = actors[::-1]
    events = {"step"} | {event for actor in actors for event in actor.events}
    parameters = {
        "states": [PositionState, HealthState, *draw(st.sampled_from([[], [TeamState]]))],
        "actors": actors,
        "observers": observers,
        "dones": dones,
        "rewards": {event: amount for event, amount in REWARDS.items() if event in events},
        "no_overlap_at_reset": scenario.no_overlap_at_reset,
        "randomize_placement_order": scenario.randomize_placement_order,
    }
    if attacks:
        parameters.update(attack_mapping=mapping, stacked_attacks=scenario.stacked_attacks)
    if PositionCenteredEncodingObserver in observers:
        parameters["observe_self"] = scenario.observe_self
    if TargetEncodingInactiveDone in dones:
        parameters.update(target_mapping=mapping, sim_ends_if_one_done=draw(st.booleans()))

    def make_sim():
        return SmartGridWorldSimulation.build_sim(
            scenario.world.rows,
            scenario.world.cols,
            agents=engine_agents(naive),
            overlapping=known(scenario, scenario.overlapping),
            **parameters,
        )

    return scenario, make_sim


def learns(one):
    """Whether an agent both observes and acts."""
    acts = one.move_range is not None or one.attack_range is not None
    return one.view_range is not None and acts


@SETTINGS
@given(
    simulations(),
    st.sampled_from([(1, 1), (3, 1), (3, 2), (7, 2)]),
    st.sampled_from([None, 1, 4]),
)
def test_random_simulations(made, size, save_at):
    scenario, make_sim = made
    if not any(map(learns, scenario.world.agents)):
        return
    order = "random" if scenario.random_order else "fixed"
    replay(make_sim, 12, size[0], scenario.seed, scenario.horizon, order, size[1], save_at=save_at)


@pytest.mark.parametrize("name", shipped)
def test_worlds_do_not_depend_on_how_many_there_are(name):
    """B = 7 on two threads is the first 7 of B = 9 on one."""
    few = shipped[name]().vectorize(7, seed=5, horizon=60, num_threads=2)
    many = shipped[name]().vectorize(9, seed=5, horizon=60)
    few.reset()
    many.reset()
    for _ in range(200):
        many_actions = many.sample_actions()
        few_actions = few.sample_actions()
        for group, channels in few_actions.items():
            for key, array in channels.items():
                assert np.array_equal(array, many_actions[group][key][:7])
        found, expected = few.step(few_actions), many.step(many_actions)
        for b in range(7):
            assert views(few, found[0], b) == views(many, expected[0], b)
            for one, other in zip(found[1:4], expected[1:4], strict=True):
                assert rows(few, one, b) == rows(many, other, b)
            assert world_state(few, b) == world_state(many, b)


@SETTINGS
@given(cases(feasible=True, far=False))
def test_a_third_implementation(given):
    """The naive team battle, the single simulation and the batch agree for 200 steps."""
    scenario, _ = given
    naive = scenario.world.agents
    if not any(map(learns, naive)):
        return
    for one in naive:
        one.learning = learns(one)
    # With targets, agents can be done and go on living.
    targets = known(scenario, scenario.attack_mapping) if scenario.seed % 2 else {}
    dones, naive_dones = [OneTeamRemainingDone], [NaiveOneTeamRemaining()]
    if targets:
        dones.append(TargetEncodingInactiveDone)
        naive_dones.append(NaiveTargetInactive(targets, sim_ends_if_one_done=False))
    battle = NaiveTeamBattle(
        scenario.world,
        streams(scenario.seed, 1),
        scenario.attack_mapping,
        stacked_attacks=scenario.stacked_attacks,
        observe_self=scenario.observe_self,
        no_overlap_at_reset=scenario.no_overlap_at_reset,
        randomize_placement_order=scenario.randomize_placement_order,
        random_order=scenario.random_order,
        horizon=scenario.horizon,
        dones=naive_dones,
    )
    sim = SmartGridWorldSimulation.build_sim(
        scenario.world.rows,
        scenario.world.cols,
        agents=engine_agents(naive),
        overlapping=known(scenario, scenario.overlapping),
        states=[PositionState, HealthState],
        actors=[BinaryAttackActor, MoveActor],
        observers=[PositionCenteredEncodingObserver],
        dones=dones,
        rewards=REWARDS,
        attack_mapping=known(scenario, scenario.attack_mapping),
        stacked_attacks=scenario.stacked_attacks,
        observe_self=scenario.observe_self,
        no_overlap_at_reset=scenario.no_overlap_at_reset,
        randomize_placement_order=scenario.randomize_placement_order,
        **({"target_mapping": targets, "sim_ends_if_one_done": False} if targets else {}),
    )
    assert [is_agent(agent) for agent in sim.agents.values()] == [one.learning for one in naive]
    order = "random" if scenario.random_order else "fixed"
    vec = sim.vectorize(2, seed=scenario.seed, horizon=scenario.horizon, order=order)
    obs, _ = vec.reset()
    compare_windows(vec, obs, battle.reset())
    rng = np.random.default_rng(scenario.seed)
    for _ in range(200):
        actions = random_actions(vec, rng)
        obs, rewards, terminated, truncated, infos = vec.step(actions)
        record = battle.step(naive_actions(vec, actions))
        compare_windows(vec, obs, record.windows)
        numbers = {f"agent{i}": i for i, one in enumerate(naive) if one.learning}
        for found, expected in (
            (rewards, record.rewards),
            (terminated, record.terminated),
            (truncated, record.truncated),
            (infos["active"], record.acting),
        ):
            assert rows(vec, found, 1) == {name: expected[i] for name, i in numbers.items()}
        store = vec.store
        assert [tuple(cell) for cell in store.position[1].tolist()] == record.positions
        assert store.health[1].tolist() == record.health
        assert store.active[1].tolist() == record.active
        assert bool(infos["ended"][1]) == record.ended
        assert store.streams[1].tolist() == battle.streams[0].words
        assert store.sight_streams[1].tolist() == battle.streams[1].words
        if record.ended:
            compare_windows(vec, infos["final_obs"], record.final_windows)
            assert infos["final_active"][1].tolist() == record.final_active
            assert infos["episode"]["length"][1] == record.episode_length
            returns = {name: record.episode_returns[i] for name, i in numbers.items()}
            assert rows(vec, infos["episode"]["return"], 1) == returns


def compare_windows(vec, obs, expected):
    found = views(vec, obs, 1)
    for name, channels in found.items():
        assert channels["position_centered_encoding"] == expected[int(name[5:])]


def naive_actions(vec, actions):
    """World 1's actions by number."""
    found = {}
    for name, group in vec.groups.items():
        for k, agent_id in enumerate(group.agent_ids):
            chosen = {key: array[1, k].tolist() for key, array in actions[name].items()}
            found[int(agent_id[5:])] = chosen
    return found
