import copy
import pickle
import re
import warnings

import numpy as np
import pytest
from gymnasium.spaces import Dict, MultiBinary

from abmarl.examples import team_battle
from abmarl.gridworld import ActiveDone, MoveActor, OneTeamRemainingDone
from abmarl.gridworld.done import DoneBase
from abmarl.managers import AllStepManager
from abmarl.sim.wrappers import FlattenWrapper, SuperAgentWrapper
from tests.support.grid_worlds import WINDOW, battle, build, fighter, same

TEAMS = {"reds": ["red0", "red1"], "blues": ["blue1", "blue0"]}
PAIR = {"pair": ["red1", "blue0"]}
# Vectorised agents act in this order; a single simulation's act in that of the action dict.
ORDER = ("red0", "red1", "reds", "pair", "blue0", "blue1", "blues")


def sim_of(dones=(ActiveDone, OneTeamRemainingDone)):
    return battle(dones=list(dones))


def single_action(actions, wrapper, world, agent_id):
    """The action of a super agent or another one in a world, as the single simulation takes it."""
    if agent_id in wrapper.super_agent_mapping:
        return {
            one: {key: array[world, 0] for key, array in actions[agent_id][one].items()}
            for one in sorted(wrapper.super_agent_mapping[agent_id], key=ORDER.index)
        }
    name, k = place(wrapper, agent_id)
    return {key: array[world, k] for key, array in actions[name].items()}


def place(vec, agent_id):
    groups = getattr(vec, "groups", None) or vec.vec_groups
    for name, group in groups.items():
        if agent_id in group.agent_ids:
            return name, group.agent_ids.index(agent_id)
    raise AssertionError(agent_id)


def same_obs(found, expected):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        return all(same_obs(found[key], expected[key]) for key in expected)
    return np.array_equal(found, expected)


def at(nested, world, k):
    if isinstance(nested, dict):
        return {key: at(part, world, k) for key, part in nested.items()}
    return nested[world, k]


@pytest.mark.parametrize("mapping", [TEAMS, PAIR])
def test_a_world_is_the_wrapped_single_simulation(mapping):
    worlds = 12
    vec = sim_of().vectorize(worlds, seed=9).super_agents(mapping)
    obs, infos = vec.reset()
    managers = []
    for world in range(worlds):
        manager = AllStepManager(SuperAgentWrapper(sim_of(), mapping))
        first = manager.reset(seed=(9, world))
        manager.sim.vec_groups = vec.groups
        managers.append(manager)
        for agent_id, one in first.items():
            name, k = place(vec, agent_id)
            assert same_obs(at(obs[name], world, k), one)
    deaths = ends = 0
    running = dict(enumerate(managers))
    for _ in range(60):
        actions = vec.sample_actions()
        active = {name: array.copy() for name, array in infos["active"].items()}
        expected = {}
        for world, manager in running.items():
            acting = [
                agent_id
                for agent_id in sorted(manager.agents, key=ORDER.index)
                if active[place(vec, agent_id)[0]][world, place(vec, agent_id)[1]]
            ]
            assert set(acting) == manager.agents.keys() - manager.done_agents
            expected[world] = manager.step(
                {one: single_action(actions, manager.sim, world, one) for one in acting}
            )
        obs, rewards, terminated, truncated, infos = vec.step(actions)
        for world, (ones, gains, dones, _) in expected.items():
            over = dones["__all__"]
            assert infos["ended"][world] == over
            for agent_id, one in ones.items():
                name, k = place(vec, agent_id)
                seen = infos["final_obs"] if over else obs
                assert same_obs(at(seen[name], world, k), one)
                assert rewards[name][world, k] == pytest.approx(gains[agent_id], abs=1e-12)
                assert terminated[name][world, k] == (dones[agent_id] or over)
                assert not truncated[name][world, k]
                deaths += dones[agent_id] and not over
            if over:
                ends += 1
                del running[world]
        if not running:
            break
    assert ends == worlds
    assert deaths > 0 or mapping is TEAMS


def test_returns_are_sums():
    vec = sim_of().vectorize(8, seed=2).super_agents(TEAMS)
    vec.reset()
    totals = {name: np.zeros((8, 1)) for name in vec.groups}
    ends = 0
    for _ in range(40):
        _, rewards, _, _, infos = vec.step(vec.sample_actions())
        for name in totals:
            totals[name] += rewards[name]
            ended = infos["ended"]
            assert infos["episode"]["return"][name][ended] == pytest.approx(totals[name][ended])
            totals[name][ended] = 0
        ends += ended.sum()
    assert ends > 8


def test_groups():
    inner = sim_of().vectorize(4)
    vec = inner.super_agents({"pair": ["blue1", "red0"]})
    assert list(vec.groups) == ["pair", "fighter_1", "fighter_2"]
    pair, red = vec.groups["pair"], vec.groups["fighter_1"]
    assert pair.agent_ids == ("pair",)
    assert red.agent_ids == ("red1",)
    assert red.slots.tolist() == [1]
    blue_space, red_space = (inner.groups[f"fighter_{k}"].observation_space for k in (2, 1))
    assert pair.observation_space == Dict(
        {
            "blue1": blue_space,
            "red0": red_space,
            "mask": Dict({"blue1": MultiBinary(1), "red0": MultiBinary(1)}),
        }
    )
    assert list(pair.observation_space) == ["blue1", "red0", "mask"]
    assert list(pair.action_space) == ["blue1", "red0"]
    obs, infos = vec.reset()
    assert obs["pair"]["blue1"][WINDOW].shape == (4, 1, 3, 3)
    assert obs["pair"]["mask"]["blue1"].shape == (4, 1, 1)
    assert obs["pair"]["mask"]["blue1"].dtype == np.int8
    assert obs["fighter_1"][WINDOW].shape == (4, 1, 3, 3)
    assert infos["active"]["pair"].all()
    assert vec.action_masks()["pair"]["red0"]["move"].shape == (4, 1, 3, 3)
    assert at(obs["pair"], 2, 0) in pair.observation_space
    assert vec.super_agent_mapping == {"pair": ["blue1", "red0"]}
    assert repr(vec) == f"SuperAgentSimulation({inner!r})"


def test_partly_covered_groups_act_as_told():
    plain = sim_of().vectorize(4, seed=1)
    vec = sim_of().vectorize(4, seed=1).super_agents({"pair": ["red1", "blue0"]})
    plain.reset()
    vec.reset()
    for _ in range(10):
        chosen = plain.sample_actions()
        actions = {
            "pair": {
                "red1": {key: array[:, 1:2] for key, array in chosen["fighter_1"].items()},
                "blue0": {key: array[:, 0:1] for key, array in chosen["fighter_2"].items()},
            },
            "fighter_1": {key: array[:, 0:1] for key, array in chosen["fighter_1"].items()},
            "fighter_2": {key: array[:, 1:2] for key, array in chosen["fighter_2"].items()},
        }
        sampled = vec.sample_actions()
        assert same_obs(sampled, actions)
        plain.step(chosen)
        vec.step(actions)
        assert same(plain.store.state(), vec.store.state())


def test_horizon_truncates():
    agents = [fighter(one, 1, (k, k)) for k, one in enumerate(("red0", "red1"))]
    agents += [fighter(one, 2, (k, 4 - k)) for k, one in enumerate(("blue0", "blue1"))]
    # Nobody attacks anybody.
    vec = build(agents, actors=[MoveActor]).vectorize(2, horizon=3).super_agents(TEAMS)
    vec.reset()
    for step in range(1, 7):
        _, _, terminated, truncated, infos = vec.step(vec.sample_actions())
        for name in TEAMS:
            assert truncated[name].all() == (step % 3 == 0)
            assert not terminated[name].any()
        if step % 3 == 0:
            assert infos["final_obs"]["reds"]["mask"]["red0"].all()
            assert infos["ended"].all()


class Wounded(DoneBase):
    """Agents of little health are done, and still active."""

    def done(self):
        return self.store.health < 0.5


def wounded(nulls=True):
    """A vectorised simulation of a pair whose first agent is done in the first step."""
    agents = [fighter(name, k, (0, k)) for k, name in enumerate(("one", "two"), 1)]
    sim = build(agents, dones=[Wounded])
    if not nulls:
        for agent in sim.agents.values():
            agent.null_observation = {}
    vec = sim.vectorize(2).super_agents({"pair": ["one", "two"]})
    vec.reset()
    vec.store.health[:, 0] = 0.25
    return vec


def still(vec):
    actions = vec.sample_actions()
    for channels in actions["pair"].values():
        for array in channels.values():
            array[...] = 0
    return actions


def test_without_null_observations_there_is_one_warning():
    vec = wounded(nulls=False)
    vec.step(still(vec))
    with pytest.warns(UserWarning, match="'one' is done and has no null_observation") as told:
        obs, *_ = vec.step(still(vec))
    assert len(told) == 1
    assert told[0].filename == __file__
    assert obs["pair"]["mask"]["one"].tolist() == [[[0]], [[0]]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vec.step(still(vec))


def test_null_observations_of_the_done():
    vec = wounded()
    obs, *_ = vec.step(still(vec))
    assert obs["pair"]["mask"]["one"].tolist() == [[[0]], [[0]]]
    assert obs["pair"]["mask"]["two"].tolist() == [[[1]], [[1]]]
    assert (obs["pair"]["one"][WINDOW] != -2).any()
    obs, *_ = vec.step(still(vec))
    assert (obs["pair"]["one"][WINDOW] == -2).all()
    assert (obs["pair"]["two"][WINDOW] != -2).any()
    vec.reset(worlds=[1])
    obs = vec.observations()
    assert (obs["pair"]["one"][WINDOW][0] == -2).all()
    assert (obs["pair"]["one"][WINDOW][1] != -2).any()
    assert obs["pair"]["mask"]["one"].tolist() == [[[0]], [[1]]]


def test_worlds_that_stand_still_keep_their_last_observations():
    vec = sim_of().vectorize(6, seed=4, autoreset=False).super_agents(TEAMS)
    vec.reset()
    kept = {}
    for _ in range(60):
        obs, rewards, terminated, _, infos = vec.step(vec.sample_actions())
        for world in range(6):
            if world in kept:
                assert same_obs(at(obs["reds"], world, 0), kept[world])
                assert rewards["reds"][world, 0] == 0
                assert not terminated["reds"][world, 0]
            elif infos["ended"][world]:
                kept[world] = copy.deepcopy(at(obs["reds"], world, 0))
                assert same_obs(at(infos["final_obs"]["reds"], world, 0), kept[world])
    assert len(kept) == 6


def test_states_are_saved():
    vec, other = (sim_of().vectorize(5, seed=8).super_agents(TEAMS) for _ in range(2))
    vec.reset()
    for _ in range(6):
        vec.step(vec.sample_actions())
    state = vec.state_dict()
    other.load_state_dict(state)
    assert same_obs(other.observations(), vec.observations())
    for _ in range(6):
        outcome, twin = vec.step(vec.sample_actions()), other.step(other.sample_actions())
        assert all(same_obs(one, two) for one, two in zip(outcome[:4], twin[:4], strict=True))
    before = other.state_dict()
    with pytest.raises(ValueError, match="not of a vectorised simulation with super agents"):
        other.load_state_dict(vec.vec.state_dict())
    with pytest.raises(ValueError, match="different"):
        other.load_state_dict({**state, "signature": "other"})
    assert same_obs(other.state_dict(), before)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda vec: pickle.loads(pickle.dumps(vec))])
def test_copies(duplicate):
    vec = sim_of().vectorize(5, seed=8).super_agents(PAIR)
    vec.reset()
    for _ in range(3):
        vec.step(vec.sample_actions())
    twin = duplicate(vec)
    for _ in range(5):
        outcome, other = vec.step(vec.sample_actions()), twin.step(twin.sample_actions())
        assert all(same_obs(one, two) for one, two in zip(outcome[:4], other[:4], strict=True))


def zeros(vec):
    return {
        name: {
            one: {"attack": np.zeros((4, 1), int), "move": np.zeros((4, 1, 2), int)} for one in ids
        }
        for name, ids in TEAMS.items()
    }


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda a: 3, TypeError, "actions must be a dict by group, got int"),
        (lambda a: a.pop("reds") and a, ValueError, "actions must have exactly the groups ['reds'"),
        (lambda a: {**a, "reds": 3}, ValueError, "actions['reds'] must be a dict with the covered"),
        (lambda a: {**a, "reds": {"red0": a["reds"]["red0"]}}, ValueError,
         "actions['reds'] must be a dict with the covered agents ['red0', 'red1'], got ['red0']"),
        (lambda a: a["reds"]["red1"].pop("move").any() or a, ValueError,
         "actions['reds']['red1'] must be a dict with ['attack', 'move'], got ['attack']"),
        (lambda a: a["reds"]["red1"].update(move=np.zeros((4, 2), int)) or a, ValueError,
         "actions['reds']['red1']['move'] must have shape (4, 1, 2), got (4, 2)"),
        (lambda a: a["reds"]["red1"].update(attack=np.zeros((4, 1))) or a, TypeError,
         "actions['reds']['red1']['attack'] must be integers, got float64"),
        (lambda a: a["reds"]["red1"].update(attack=np.full((4, 1), 257)) or a, ValueError,
         "Action of agent 'red1' in world 0 on channel 'attack' is 257"),
    ],
)  # fmt: skip
def test_bad_actions_change_nothing(change, kind, message):
    vec = sim_of().vectorize(4, seed=1).super_agents(TEAMS)
    vec.reset()
    before = vec.state_dict()
    with pytest.raises(kind, match="^" + re.escape(message)):
        vec.step(change(zeros(vec)))
    assert same_obs(vec.state_dict(), before)
    vec.step(zeros(vec))


@pytest.mark.parametrize(
    ("mapping", "kind", "message"),
    [
        ({"a": ["red0"], "b": ["red0"]}, ValueError, "agent 'red0' is covered by 'a' and again"),
        ({"a": ["nobody"]}, ValueError, "super agent 'a' covers 'nobody', which is not in"),
        ({"fighter_1": ["red0"]}, ValueError, "Super agent 'fighter_1' has the name of a group"),
        (["red0"], TypeError, "super_agent_mapping must be a dict"),
    ],
)
def test_bad_mappings(mapping, kind, message):
    with pytest.raises(kind, match=message):
        sim_of().vectorize(2).super_agents(mapping)


def test_a_super_agent_may_have_the_name_of_a_group_that_it_covers():
    vec = sim_of().vectorize(2).super_agents({"fighter_1": ["red0", "red1"]})
    assert vec.groups["fighter_1"].agent_ids == ("fighter_1",)


def test_super_agents_come_before_conversions():
    vec = sim_of().vectorize(2)
    with pytest.raises(TypeError, match=r"got ConvertedSimulation; make them first"):
        vec.flatten().super_agents(TEAMS)
    with pytest.raises(TypeError, match=r"got SuperAgentSimulation"):
        vec.super_agents(PAIR).super_agents(TEAMS)


def test_super_agents_are_flattened():
    vec = FlattenWrapper(SuperAgentWrapper(sim_of(), TEAMS)).vectorize(3, seed=6)
    obs, _ = vec.reset()
    sims = [FlattenWrapper(SuperAgentWrapper(sim_of(), TEAMS)) for _ in range(3)]
    assert vec.groups["reds"].action_space.shape == (8,)
    for world, sim in enumerate(sims):
        sim.reset(seed=(6, world))
        for name in TEAMS:
            assert np.array_equal(obs[name][world, 0], sim.get_obs(name))
    actions = vec.sample_actions()
    for world, sim in enumerate(sims):
        sim.step({name: actions[name][world, 0] for name in TEAMS})
    obs, rewards, *_, infos = vec.step(actions)
    for world, sim in enumerate(sims):
        for name in TEAMS:
            seen = infos["final_obs"] if infos["ended"][world] else obs
            assert np.array_equal(seen[name][world, 0], sim.get_obs(name))
            assert rewards[name][world, 0] == pytest.approx(sim.get_reward(name), abs=1e-12)


def test_everybody_of_a_large_battle():
    sim = team_battle()
    teams = {
        f"team{k}": [one.id for one in sim.agents.values() if one.encoding == k] for k in (1, 2, 4)
    }
    vec = sim.vectorize(16, seed=0, horizon=50).super_agents(teams)
    vec.reset()
    for _ in range(60):
        obs, rewards, *_ = vec.step(vec.sample_actions())
    assert list(obs) == ["team1", "team2", "team4", "green"]
    assert rewards["team1"].shape == (16, 1)
    assert rewards["green"].shape == (16, 6)
