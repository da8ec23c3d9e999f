"""Action masks of single simulations are those of vectorised ones."""

import numpy as np
import pytest

from abmarl.examples import MultiCorridor, shipped
from abmarl.gridworld import MoveActor
from abmarl.sim.wrappers import FlattenWrapper, RavelDiscreteActionWrapper, RavelDiscreteWrapper
from tests.support.grid_worlds import act, battle, build, fighter


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
