import re
import warnings

import numpy as np
import pytest
from gymnasium.spaces import Dict, MultiBinary

from abmarl.examples import BattleAgent, TeamBattleSim, team_battle
from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.sim.wrappers import FlattenWrapper, RavelDiscreteWrapper, SuperAgentWrapper

IDS = ("tom", "ann", "kim")


def add(number):
    return {"add": [min(number, 3), max(number - 3, 0)], "stop": 1}


@pytest.fixture
def trio(counting):
    """Three agents, the first two of which are covered."""
    sim = SuperAgentWrapper(counting(ids=IDS), {"boss": ["tom", "ann"]})
    sim.reset()
    return sim


def test_agents(trio):
    assert list(trio.agents) == ["boss", "kim", "eye", "rock"]
    boss, tom = trio.agents["boss"], trio.unwrapped.agents["tom"]
    assert boss.observation_space == Dict(
        {
            "tom": tom.observation_space,
            "ann": tom.observation_space,
            "mask": Dict({"tom": MultiBinary(1), "ann": MultiBinary(1)}),
        }
    )
    assert list(boss.observation_space) == ["tom", "ann", "mask"]
    assert boss.action_space == Dict({"tom": tom.action_space, "ann": tom.action_space})
    assert list(boss.action_space) == ["tom", "ann"]
    assert boss.null_observation["ann"] == tom.null_observation
    assert boss.null_observation["mask"] == {"tom": [0], "ann": [0]}
    assert boss.null_action == {"tom": tom.null_action, "ann": tom.null_action}
    assert trio.super_agent_mapping == {"boss": ["tom", "ann"]}
    assert list(trio.unwrapped.agents) == [*IDS, "eye", "rock"]


def test_actions_reach_the_covered_agents(trio):
    trio.step({"kim": add(1), "boss": {"ann": add(2), "tom": add(3)}}, more=1)
    actions, kwargs = trio.unwrapped.received[0]
    assert list(actions) == ["kim", "ann", "tom"]
    assert actions["ann"] == add(2)
    assert kwargs == {"more": 1}
    trio.step({"boss": {"tom": add(1)}})
    assert list(trio.unwrapped.received[1][0]) == ["tom"]


def test_observations_are_side_by_side(trio):
    trio.step({"boss": {"ann": add(2), "tom": add(3)}})
    obs = trio.get_obs("boss")
    assert list(obs) == ["tom", "ann", "mask"]
    assert (obs["tom"]["sum"], obs["ann"]["sum"]) == (3, 2)
    assert obs["mask"] == {"tom": [1], "ann": [1]}
    assert obs in trio.agents["boss"].observation_space
    assert trio.get_obs("kim")["sum"] == 0
    assert trio.get_obs("eye") == 5


def test_the_reward_is_the_sum(trio):
    trio.step({"boss": {"tom": add(1)}})
    assert trio.get_reward("boss") == 2.0
    assert trio.get_reward("boss") == 0.0
    assert trio.get_reward("kim") == 1.0


def test_what_a_done_agent_had_last_is_reported_once(trio):
    trio.step({"boss": {"tom": add(5)}})
    trio.step({"boss": {"tom": add(4), "ann": add(1)}})
    # Asking twice within a step shows the same twice.
    for _ in range(2):
        obs = trio.get_obs("boss")
        assert obs["tom"]["sum"] == 9
        assert obs["mask"] == {"tom": [0], "ann": [1]}
    assert trio.get_reward("boss") == 4.0
    assert not trio.get_done("boss")

    trio.step({"boss": {"tom": add(5), "ann": add(1)}})
    assert list(trio.unwrapped.received[-1][0]) == ["ann"]
    obs = trio.get_obs("boss")
    assert obs["tom"] is trio.unwrapped.agents["tom"].null_observation
    assert obs["ann"]["sum"] == 2
    assert obs["mask"] == {"tom": [0], "ann": [1]}
    assert trio.get_reward("boss") == 1.0

    trio.step({"boss": {"ann": add(5)}})
    trio.step({"boss": {"ann": add(5)}})
    assert trio.get_done("boss")
    assert not trio.get_done("kim")
    obs = trio.get_obs("boss")
    assert obs["ann"]["sum"] == 12
    assert obs["mask"] == {"tom": [0], "ann": [0]}
    assert trio.get_reward("boss") == 2.0
    trio.step({})
    assert trio.get_obs("boss")["ann"] is trio.unwrapped.agents["ann"].null_observation
    assert trio.get_reward("boss") == 0.0

    trio.reset()
    assert trio.get_obs("boss")["tom"]["sum"] == 0
    trio.step({"boss": {"tom": add(5), "ann": add(5)}})
    trio.step({"boss": {"tom": add(5)}})
    assert trio.get_obs("boss")["tom"]["sum"] == 10
    assert trio.get_reward("boss") == 4.0


def test_what_nobody_asked_for_yet_is_reported_later(trio):
    trio.step({"boss": {"tom": add(5)}})
    trio.step({"boss": {"tom": add(5)}})
    trio.step({})
    assert trio.get_obs("boss")["tom"]["sum"] == 10
    assert trio.get_reward("boss") == 6.0
    trio.step({})
    assert trio.get_obs("boss")["tom"]["sum"] == 0
    assert trio.get_reward("boss") == 1.0


def test_without_null_observations_there_is_one_warning(counting):
    sim = SuperAgentWrapper(counting(nulls=False), {"boss": ["tom", "ann"]})
    assert sim.agents["boss"].null_observation is None
    assert sim.agents["boss"].null_action is None
    sim.reset()
    sim.step({"boss": {"tom": add(5), "ann": add(5)}})
    sim.step({"boss": {"tom": add(5), "ann": add(5)}})
    assert sim.get_obs("boss")["tom"]["sum"] == 10
    sim.step({})
    with pytest.warns(UserWarning, match="'tom' is done and has no null_observation") as told:
        assert sim.get_obs("boss")["tom"]["sum"] == 10
    assert len(told) == 1
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.get_obs("boss")
        sim.step({})
        sim.get_obs("boss")


def test_infos_and_the_end(trio):
    assert trio.get_info("boss") == {"tom": {"id": "tom"}, "ann": {"id": "ann"}}
    assert trio.get_info("kim") == {"id": "kim"}
    assert trio.get_all_done() is False


@pytest.mark.parametrize(
    ("mapping", "kind", "message"),
    [
        (None, TypeError, "super_agent_mapping must be a dict of super agent id to ids of covered"),
        ([["tom"]], TypeError, "super_agent_mapping must be a dict"),
        ({3: ["tom"]}, TypeError, "the id of a super agent must be a str, got 3"),
        (
            {"boss": "tom"},
            TypeError,
            "super agent 'boss' needs a list of the ids it covers",
        ),
        ({"boss": []}, ValueError, "super agent 'boss' covers nobody"),
        ({"kim": ["tom"]}, ValueError, "super agent 'kim' has the id of an agent"),
        ({"tom": ["tom"]}, ValueError, "super agent 'tom' has the id of an agent"),
        ({"boss": ["tim"]}, ValueError, "super agent 'boss' covers 'tim', which is not in the sim"),
        ({"boss": [["tom"]]}, ValueError, "super agent 'boss' covers ['tom'], which is not in"),
        ({"boss": ["eye"]}, ValueError, "super agent 'boss' covers 'eye', which does not both"),
        ({"boss": ["rock"]}, ValueError, "super agent 'boss' covers 'rock', which does not both"),
        ({"boss": ["tom", "tom"]}, ValueError, "agent 'tom' is covered by 'boss' and again by 'b"),
        ({"a": ["tom"], "b": ["tom"]}, ValueError, "agent 'tom' is covered by 'a' and again by"),
        ({"boss": ["mask"]}, ValueError, "an agent called 'mask' cannot be covered"),
        ({"__all__": ["tom"]}, ValueError, "an agent's id cannot be '__all__'"),
    ],
)
def test_bad_mappings(counting, mapping, kind, message):
    sim = counting(ids=(*IDS, "mask"))
    with pytest.raises(kind, match="^" + re.escape(message)):
        SuperAgentWrapper(sim, mapping)


def test_the_agents_of_a_set_are_in_their_order(counting):
    sim = SuperAgentWrapper(counting(ids=IDS), {"boss": {"kim", "ann", "tom"}})
    assert sim.super_agent_mapping == {"boss": list(IDS)}


def test_bad_actions_change_nothing(trio):
    for action, kind, message in (
        ([3], TypeError, "actions must be a dict by agent id, got list"),
        ({"boss": 3}, TypeError, "the action of super agent 'boss' must be a dict by agent id"),
        ({"boss": {"kim": add(1)}}, ValueError, "'boss' does not cover 'kim'; it covers"),
        ({"tom": add(1)}, ValueError, "there is no agent 'tom' in this simulation"),
    ):
        with pytest.raises(kind, match=message):
            trio.step({"kim": add(1), **action} if isinstance(action, dict) else action)
    assert trio.unwrapped.received == []


def test_covered_agents_cannot_be_asked_directly(trio):
    for ask in (trio.get_obs, trio.get_reward, trio.get_done, trio.get_info):
        with pytest.raises(ValueError, match="there is no agent 'tom' in this simulation"):
            ask("tom")


def test_super_agents_can_be_ravelled_and_flattened(counting):
    mapping = {"boss": ["tom", "ann"]}
    for wrapper in (RavelDiscreteWrapper, FlattenWrapper):
        sim = wrapper(SuperAgentWrapper(counting(), mapping))
        sim.reset()
        sim.step({"boss": sim.agents["boss"].action_space.sample()})
        assert sim.get_obs("boss") in sim.agents["boss"].observation_space
        assert list(sim.unwrapped.received[0][0]) == ["tom", "ann"]
        assert sim.agents["boss"].null_observation in sim.agents["boss"].observation_space


def test_super_agents_of_wrapped_simulations(counting):
    sim = SuperAgentWrapper(RavelDiscreteWrapper(counting()), {"boss": ["tom", "ann"]})
    sim.reset()
    sim.step({"boss": {"tom": 23, "ann": 0}})
    assert sim.unwrapped.received[0][0]["tom"]["add"].tolist() == [3, 2]
    assert sim.get_obs("boss")["ann"] == (1 * 3 + 2) * 20


def test_random_order_names_the_super_agents():
    sim = team_battle()
    teams = {
        f"team{k}": [agent.id for agent in sim.agents.values() if agent.encoding == k]
        for k in (1, 2, 3)
    }
    wrapped = SuperAgentWrapper(sim, teams)
    wrapped.reset(seed=0)
    ids = list(wrapped.agents)
    orders = [wrapped.random_order(ids) for _ in range(50)]
    assert all(sorted(order) == sorted(ids) for order in orders)
    assert {order[0] for order in orders} >= set(teams)
    wrapped.reset(seed=0)
    assert wrapped.random_order(ids) == orders[0]


def test_example_of_the_documents():
    """Four teams of a battle, each played by a super agent."""
    agents = {f"agent{i}": BattleAgent(id=f"agent{i}", encoding=i % 4 + 1) for i in range(12)}
    overlap_map = {k: {k} for k in range(1, 5)}
    attack_map = {k: {1, 2, 3, 4} - {k} for k in range(1, 5)}
    sim = AllStepManager(
        SuperAgentWrapper(
            TeamBattleSim.build_sim(
                8, 8,
                agents=agents,
                overlapping=overlap_map,
                attack_mapping=attack_map
            ),
            super_agent_mapping = {
                'red': [agent.id for agent in agents.values() if agent.encoding == 1],
                'blue': [agent.id for agent in agents.values() if agent.encoding == 2],
                'green': [agent.id for agent in agents.values() if agent.encoding == 3],
                'gray': [agent.id for agent in agents.values() if agent.encoding == 4],
            }
        )
    )  # fmt: skip
    obs = sim.reset(seed=1)
    assert list(obs) == ["red", "blue", "green", "gray"]
    rng = np.random.default_rng(0)
    for _ in range(1000):
        actions = {
            name: {
                one: {"attack": int(rng.integers(2)), "move": rng.integers(-1, 2, 2)}
                for one in sim.sim.super_agent_mapping[name]
            }
            for name in obs
            if name not in sim.done_agents
        }
        obs, rewards, dones, _ = sim.step(actions)
        for name, one in obs.items():
            assert one in sim.agents[name].observation_space
            ids = sim.sim.super_agent_mapping[name]
            alive = [sim.sim.unwrapped.agents[agent_id].active for agent_id in ids]
            assert [bool(one["mask"][agent_id]) for agent_id in ids] == alive
            assert dones[name] == (not any(alive))
            assert -3.4 <= rewards[name] <= 9
        if dones["__all__"]:
            break
    assert dones["__all__"]


def test_turns_of_super_agents(counting):
    manager = TurnBasedManager(SuperAgentWrapper(counting(ids=IDS), {"boss": ["tom", "kim"]}))
    assert list(manager.reset()) == ["boss"]
    obs, *_ = manager.step({"boss": {"tom": add(5), "kim": add(5)}})
    assert list(obs) == ["ann"]
    obs, *_ = manager.step({"ann": add(1)})
    assert list(obs) == ["boss"]
