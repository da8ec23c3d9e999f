import collections
import re

import pytest
from gymnasium.spaces import Dict, Discrete
from hypothesis import given
from hypothesis import strategies as st

import abmarl.sim
import abmarl.sim.agent_based_simulation as module
from abmarl.sim import Agent, AgentBasedSimulation, PrincipleAgent

METHODS = (
    "reset",
    "step",
    "render",
    "get_obs",
    "get_reward",
    "get_done",
    "get_all_done",
    "get_info",
)


def nothing(self, *args, **kwargs):
    return None


# No __init__ at all, as far as it can go.
Bare = type("Bare", (AgentBasedSimulation,), dict.fromkeys(METHODS, nothing))


def make_agent(agent_id, **kwargs):
    return Agent(id=agent_id, action_space={}, observation_space={}, **kwargs)


def refused(error, message):
    return pytest.raises(error, match=r"^" + re.escape(message) + "$")


def test_names_are_importable_from_both_modules():
    for name in set(abmarl.sim.__all__) - {"check_simulation"}:
        assert getattr(abmarl.sim, name) is getattr(module, name)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_abstract(name):
    methods = {other: nothing for other in METHODS if other != name}
    with pytest.raises(TypeError, match=name):
        type("Partial", (AgentBasedSimulation,), methods)()


def test_agents_are_kept_as_given():
    agents = {"a": make_agent("a"), "b": PrincipleAgent(id="b")}
    sim = Bare()
    sim.agents = agents
    assert sim.agents is agents


def test_simulation_without_agents_says_so():
    message = "Bare has no agents yet: set self.agents = {agent.id: agent, ...} in __init__"
    with refused(AttributeError, message):
        _ = Bare().agents
    with refused(AttributeError, message):
        Bare().finalize()


@pytest.mark.parametrize(
    ("agents", "error", "message"),
    [
        (
            [make_agent("a")],
            TypeError,
            "agents must be a dict of id to agent, got list; "
            "write {agent.id: agent for agent in agents}",
        ),
        (
            None,
            TypeError,
            "agents must be a dict of id to agent, got NoneType; "
            "write {agent.id: agent for agent in agents}",
        ),
        ({"a": 3}, TypeError, "agents['a'] must be a PrincipleAgent, got int 3"),
        (
            {"a": make_agent("b")},
            ValueError,
            "agents['a'] has the id 'b'; the key of an agent must be its id",
        ),
        (
            {"a": PrincipleAgent()},
            ValueError,
            "agents['a'] has the id None; the key of an agent must be its id",
        ),
    ],
)
def test_bad_agents_are_refused_and_the_old_ones_stay(agents, error, message):
    sim = Bare()
    sim.agents = old = {"a": make_agent("a")}
    with refused(error, message):
        sim.agents = agents
    assert sim.agents is old


def test_finalize_finalizes_every_agent():
    sim = Bare()
    sim.agents = {i: make_agent(i) for i in "abc"}
    sim.agents["b"].action_space["x"] = Discrete(2)
    sim.finalize()
    assert all(isinstance(agent.observation_space, Dict) for agent in sim.agents.values())
    assert sim.agents["b"].action_space["x"] == Discrete(2)
    sim.finalize()


def test_finalize_refuses_what_is_not_configured_and_changes_nothing():
    sim = Bare()
    sim.agents = {"a": make_agent("a"), "b": Agent(id="b", action_space={}, obs_space={})}
    message = (
        "agent 'b' (Agent) is not configured: observation_space missing; "
        "arguments that no class took: obs_space"
    )
    with refused(ValueError, message):
        sim.finalize()
    assert type(sim.agents["a"].action_space) is dict


def test_finalize_looks_at_agents_that_were_added_in_place():
    sim = Bare()
    sim.agents = {"a": make_agent("a")}
    sim.agents["b"] = make_agent("c")
    message = "agents['b'] has the id 'c'; the key of an agent must be its id"
    with refused(ValueError, message):
        sim.finalize()


def test_finalize_passes_on_what_is_wrong_with_a_null_point():
    sim = Bare()
    sim.agents = {"a": make_agent("a", null_action=3)}
    with pytest.raises(ValueError, match=r"^null_action of agent 'a' is 3, which does not lie in"):
        sim.finalize()


@given(st.lists(st.text(max_size=3), unique=True, max_size=8))
def test_random_order_is_a_permutation_in_a_new_list(ids):
    order = Bare().random_order(ids)
    assert order is not ids
    assert sorted(order) == sorted(ids)
    assert sorted(Bare().random_order(dict.fromkeys(ids))) == sorted(ids)


def test_random_order_is_fresh_and_fair():
    sim = Bare()
    counts = collections.Counter(tuple(sim.random_order("abc")) for _ in range(6000))
    # Each of the 6 orders 1000 times with a deviation of 29: this fails once in 10**11 runs.
    assert len(counts) == 6
    assert all(abs(count - 1000) < 200 for count in counts.values())
