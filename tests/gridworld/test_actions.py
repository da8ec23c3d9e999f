"""Action masks of single simulations are those of vectorised ones."""

import copy
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abmarl.examples import MultiCorridor, shipped
from abmarl.gridworld import MoveActor
from abmarl.gridworld import actions as module
from abmarl.gridworld.actions import ActionReader
from abmarl.sim.agents import is_agent
from abmarl.sim.wrappers import FlattenWrapper, RavelDiscreteActionWrapper, RavelDiscreteWrapper
from tests.support.grid_worlds import act, battle, build, fighter, wall


def assert_equal(one, other):
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_equal(one[key], other[key])
    else:
        assert one.dtype == bool
        assert np.array_equal(one, other)


def of_agent(vec, agent_id, masks):
    for name, group in vec.groups.items():
        if agent_id in group.agent_ids:
            k = group.agent_ids.index(agent_id)
            block = masks[name]
            return (
                {c: b[0, k] for c, b in block.items()} if isinstance(block, dict) else block[0, k]
            )
    raise KeyError(agent_id)


@pytest.mark.parametrize("name", shipped)
def test_shipped_simulations(name):
    sim, vec = shipped[name](), shipped[name]().vectorize(1, seed=3)
    sim.reset(seed=3)
    vec.reset()
    ravelled, joint = RavelDiscreteActionWrapper(sim), vec.ravel(observations=False)
    learners = [one for group in vec.groups.values() for one in group.agent_ids]
    for _ in range(6):
        single, many = sim.action_masks(), vec.action_masks()
        coded, batch = ravelled.action_masks(), joint.action_masks()
        for agent_id in learners:
            assert_equal(single[agent_id], of_agent(vec, agent_id, many))
            assert_equal(coded[agent_id], of_agent(vec, agent_id, batch))
        actions = vec.sample_actions()
        alive = [agent_id for agent_id in sim.agents if agent_id in learners]
        alive = [agent_id for agent_id in alive if not sim.get_done(agent_id)]
        sim.step({agent_id: of_agent(vec, agent_id, actions) for agent_id in alive})
        if vec.step(actions)[-1]["ended"].any():
            break


def test_masks_are_of_the_present_state_and_the_callers_own():
    sim = battle()
    with pytest.raises(ValueError, match=r"Call reset\(\) before action_masks\(\)"):
        sim.action_masks()
    sim.reset(seed=0)
    before = sim.action_masks()
    assert before["red0"]["attack"].tolist() == [True, True]
    kept = {key: mask.copy() for key, mask in before["red0"].items()}
    sim.step({"red0": act(1)})
    assert sim.action_masks()["red0"]["attack"].tolist() == [True, False]
    assert_equal(before["red0"], kept)


def test_who_has_no_masks():
    sim = MultiCorridor(end=5, num_agents=2)
    sim.reset()
    assert sim.action_masks() == RavelDiscreteWrapper(sim).action_masks() == {}
    fighters = battle()
    fighters.reset(seed=0)
    # An entry of a flat action is no choice.
    assert FlattenWrapper(fighters).action_masks() == {}


def test_too_many_actions_are_left_out():
    agents = [fighter("a", at=(0, 0), move_range=200), fighter("b", 2, at=(0, 2))]
    sim = RavelDiscreteActionWrapper(build(agents, actors=[MoveActor]))
    sim.reset(seed=0)
    assert list(sim.action_masks()) == ["b"]


NAMES = [f"a{k}" for k in range(8)]


def crowd():
    """Eight fighters of two kinds, of which one steps farther; one is dead."""
    agents = [
        fighter(name, 1 + k % 2, (k // 5, k % 5), move_range=1 + k % 2, simultaneous_attacks=2)
        for k, name in enumerate(NAMES)
    ]
    return build([*agents, wall("wall", 9, (2, 4))], attack_mapping={1: {2}, 2: {1}})


@pytest.fixture(scope="module")
def reader():
    sim = crowd()
    sim.reset(seed=0)
    sim.agents["a3"].health = 0
    return ActionReader(sim.store, sim.actors)


def outcome(reader, action_dict, together, monkeypatch):
    """What is read: who acts and all numbers in the buffers of those, or the error."""
    monkeypatch.setattr(module, "_MANY", 1 if together else 99)
    before = copy.deepcopy(action_dict)
    try:
        actions = reader.read(action_dict)
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    assert repr(before) == repr(action_dict)
    slots = actions.turns[0, : actions.num_turns[0]].tolist()
    found = []
    for key, (flat, rows_of) in actions.buffers.items():
        for slot in slots:
            if rows_of[slot, 0] >= 0:
                width = reader._actors[key].form(slot).width
                found.append((key, slot, flat[rows_of[slot, 0] :][:width].tolist()))
    return slots, found


ATTACKS = st.one_of(
    st.integers(0, 2),
    st.sampled_from(
        [np.int64(1), np.int8(2), np.uint8(1), np.array(1), 3, -1, 2**70, 2**63, True, 1.0, "1",
         None, np.float64(1), np.array([1])]
    ),
)  # fmt: skip
MOVES = st.one_of(
    st.tuples(st.integers(-1, 1), st.integers(-1, 1)).map(np.array),
    st.sampled_from(
        [[0, 1], (1, 0), np.array([1, 1], np.int8), np.array([0, 2]), np.array([0, 3]),
         np.array([0.0, 1.0]), np.array([True, False]), np.array([0]), np.array([[0, 1]]), 0, None]
    ),
)  # fmt: skip
PLAIN = st.builds(act, st.integers(0, 2), st.tuples(st.integers(-1, 1), st.integers(-1, 1)))
ACTIONS = st.one_of(
    PLAIN,
    st.fixed_dictionaries({}, optional={"attack": ATTACKS, "move": MOVES}),
    st.sampled_from(
        [{"attack": 0, "move": np.zeros(2, int), "jump": 1}, OrderedDict(attack=1), 3, None]
    ),
)
MOSTLY_PLAIN = st.lists(PLAIN, min_size=8, max_size=8)
IDS = st.permutations([*NAMES, "wall", "nobody"])


def check(reader, action_dict):
    with pytest.MonkeyPatch.context() as patch:
        apart = outcome(reader, action_dict, False, patch)
        together = outcome(reader, action_dict, True, patch)
    assert together == apart


@given(IDS, st.integers(0, 9), MOSTLY_PLAIN, ACTIONS)
def test_actions_of_all_kinds(reader, ids, count, plain, odd):
    """All are plain but for one, and it may come from somebody who does not act."""
    check(reader, dict(zip(ids[:count], [odd, *plain], strict=False)))


@given(st.permutations(NAMES), MOSTLY_PLAIN)
def test_plain_actions_are_read_together(reader, ids, plain):
    action_dict = dict(zip(ids, plain, strict=True))
    check(reader, action_dict)
    assert reader._blocks.put(action_dict).tolist() == [NAMES.index(name) for name in ids]


@pytest.mark.parametrize("make", shipped.values(), ids=shipped)
def test_outputs_are_those_of_the_getters(make):
    """Of all agents and of some in any order, also those who only observe."""
    sim, twin = make(), make()
    ids = [name for name, agent in sim.agents.items() if is_agent(agent)]
    rng = np.random.default_rng(0)
    for one in (sim, twin):
        one.reset(seed=1)
    for name in ids:
        sim.agents[name].action_space.seed(7)
    for _ in range(25):
        actions = {name: sim.agents[name].action_space.sample() for name in ids}
        sim.step(actions)
        twin.step(actions)
        some = rng.permutation(ids)[: rng.integers(1, len(ids) + 1)].tolist()
        for asked in (some, ids):
            obs, rewards, dones, infos = sim.get_outputs(asked)
            assert rewards == {name: twin.get_reward(name) for name in asked}
            assert dones == {name: twin.get_done(name) for name in asked}
            assert infos == {name: twin.get_info(name) for name in asked}
            assert list(obs) == asked
            for name, channels in obs.items():
                expected = twin.get_obs(name)
                assert list(channels) == list(expected)
                for key, value in channels.items():
                    assert repr(value) == repr(expected[key])
                    assert getattr(value, "dtype", None) == getattr(expected[key], "dtype", None)


def test_outputs_are_the_callers_own():
    sim = crowd()
    sim.reset(seed=0)
    first = sim.get_outputs(NAMES)[0]
    kept = copy.deepcopy(first)
    first["a0"]["position_centered_encoding"][:] = 5
    again = sim.get_outputs(NAMES)[0]
    for name in NAMES:
        window = "position_centered_encoding"
        assert again[name][window].tolist() == kept[name][window].tolist()
    sim.step({"a7": act(move=(1, 0))})
    assert again["a6"]["position_centered_encoding"].tolist() == (
        kept["a6"]["position_centered_encoding"].tolist()
    )


def test_outputs_of_nobody_and_of_strangers():
    sim = crowd()
    sim.reset(seed=0)
    assert sim.get_outputs([]) == ({}, {}, {}, {})
    with pytest.raises(ValueError, match="There is no agent 'nobody'"):
        sim.get_outputs(["nobody"])
    assert len(sim.get_outputs(NAMES)[0]) == 8
