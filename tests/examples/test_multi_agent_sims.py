"""The small simulations to try things with."""

import numpy as np
import pytest

from abmarl.examples import EmptyABS, MultiAgentGridSim, MultiAgentSim
from abmarl.examples.sim import multi_agent_sim
from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.sim import Agent, check_simulation
from abmarl.sim.wrappers import FlattenWrapper, RavelDiscreteWrapper
from tests.support.grid_worlds import fighter

KINDS = [
    multi_agent_sim.MultiAgentSim,
    multi_agent_sim.MultiAgentGymSpacesSim,
    multi_agent_sim.MultiAgentContinuousGymSpaceSim,
    multi_agent_sim.MultiAgentSameSpacesSim,
]


@pytest.mark.parametrize("kind", KINDS)
def test_they_keep_to_the_rules(kind):
    assert check_simulation(kind(3), seeded=False).steps > 20
    assert check_simulation(FlattenWrapper(kind(3)), seeded=False).steps > 20


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[1], KINDS[3]])
def test_discrete_ones_can_be_ravelled(kind):
    sim = RavelDiscreteWrapper(kind(3))
    sim.reset()
    for key, agent in sim.agents.items():
        assert sim.get_obs(key) in agent.observation_space


def test_agents_end_one_after_the_other():
    manager = AllStepManager(MultiAgentSim(3))
    seen = list(manager.reset())
    ends, earned = {}, dict.fromkeys(seen, 0.0)
    for step in range(1, 13):
        obs, rewards, dones, _ = manager.step(dict.fromkeys(seen, 1))
        ends.update({key: step for key in obs if dones[key]})
        earned.update({key: earned[key] + reward for key, reward in rewards.items()})
        seen = [key for key in obs if not dones[key]]
    assert ends == earned == {"agent0": 10, "agent1": 11, "agent2": 12}
    assert dones["__all__"]


def test_spaces_of_all_kinds_differ_and_the_same_do_not():
    spaces = [agent.observation_space for agent in KINDS[1](5).agents.values()]
    assert len({type(space) for space in spaces}) == 5
    spaces = [agent.observation_space for agent in KINDS[3](5).agents.values()]
    assert all(space == spaces[0] for space in spaces)


@pytest.mark.parametrize(
    ("given", "error"), [("two", TypeError), (0, ValueError), (True, TypeError)]
)
def test_bad_numbers(given, error):
    with pytest.raises(error, match="num_agents must be"):
        MultiAgentSim(given)


def test_bad_actions():
    sim = MultiAgentSim(2)
    with pytest.raises(ValueError, match="there is no agent 'nobody'"):
        sim.step({"agent0": 1, "nobody": 1})
    with pytest.raises(ValueError, match="action of agent 'agent1' is 3"):
        sim.step({"agent0": 1, "agent1": 3})
    assert sim.get_reward("agent0") == 0.0


def test_nothing_happens_in_the_empty_one():
    agent = Agent(
        id="one", observation_space=KINDS[0].spaces(0)[0], action_space=KINDS[0].spaces(0)[1],
        null_observation=2,
    )  # fmt: skip
    manager = TurnBasedManager(EmptyABS({"one": agent}))
    assert manager.reset() == {"one": 2}
    assert manager.step({"one": 0}) == (
        {"one": 2},
        {"one": 0.0},
        {"one": False, "__all__": False},
        {"one": {}},
    )


def test_the_grid_world():
    agents = {
        "a": fighter("a", 1, (0, 0)),
        "b": fighter("b", 2, (0, 1)),
    }
    sim = MultiAgentGridSim.build_sim(2, 3, agents=agents, attack_mapping={1: {2}})
    sim.reset(seed=0)
    stay = np.zeros(2, int)
    sim.step({"a": {"attack": 0, "move": np.array([0, -1])}, "b": {"attack": 1, "move": stay}})
    assert (sim.get_reward("a"), sim.get_reward("b")) == (-0.1, 0.0)
    sim.step({"a": {"attack": 1, "move": stay}, "b": {"attack": 0, "move": stay}})
    assert (sim.get_reward("a"), sim.get_reward("b")) == (1.0, -1.0)
    assert (sim.get_done("a"), sim.get_done("b"), sim.get_all_done()) == (False, True, False)
    check_simulation(sim)
