import re

import pytest
from gymnasium.spaces import Discrete

from abmarl.managers import DynamicOrderManager
from abmarl.sim import DynamicOrderSimulation, PrincipleAgent
from abmarl.sim.wrappers import RavelDiscreteWrapper


@pytest.fixture
def ordered(scripted):
    """A scripted simulation that names the agents of a script, one entry per reset and step."""

    class OrderedSimulation(scripted, DynamicOrderSimulation):
        def __init__(self, order, done_at, **kwargs):
            super().__init__(done_at, **kwargs)
            self.order = order

        def reset(self, **kwargs):
            super().reset(**kwargs)
            self.next_agent = self.order[0]

        def step(self, action_dict, **kwargs):
            super().step(action_dict, **kwargs)
            self.next_agent = self.order[self.time]

    return OrderedSimulation


def test_the_simulation_says_who_is_next(ordered):
    sim = ordered(["b", ("a", "c"), "c"], {"a": None, "b": None, "c": None})
    manager = DynamicOrderManager(sim)
    assert manager.reset(seed=4) == {"b": ("b", 0)}
    assert sim.received_kwargs == [{"seed": 4}]
    assert manager.step({"b": 1}) == (
        {"a": ("a", 1), "c": ("c", 1)},
        {"a": 10, "c": 10},
        {"a": False, "c": False, "__all__": False},
        {"a": {"of": "a"}, "c": {"of": "c"}},
    )
    assert list(manager.step({"c": 1, "a": 2})[0]) == ["c"]
    assert sim.received == [[("b", 1)], [("c", 1), ("a", 2)]]


def test_only_those_named_may_act(ordered, bystanders):
    sim = ordered(["a", "b"], {"a": None, "b": None}, others=bystanders)
    manager = DynamicOrderManager(sim)
    with pytest.raises(ValueError, match=r"call reset\(\) before step"):
        manager.step({})
    manager.reset()
    for agent_id, reason in [
        ("b", "whose turn it is not"),
        ("wall", "which does not both observe and act"),
        ("z", "which is not in the simulation"),
    ]:
        message = f"action from agent '{agent_id}', {reason}; may act now: 'a'"
        with pytest.raises(ValueError, match=re.escape(message)):
            manager.step({agent_id: 0})
    with pytest.raises(TypeError, match="must be a dict"):
        manager.step([0])
    assert sim.received == []


def test_done_agent_is_reported_once(ordered):
    sim = ordered(["a", ["b", "a"], ["b", "a"], "a"], {"a": None, "b": 1})
    manager = DynamicOrderManager(sim)
    manager.reset()
    assert manager.step({"a": 0})[2] == {"b": True, "a": False, "__all__": False}
    assert manager.done_agents == {"b"}
    with pytest.raises(ValueError, match="action from agent 'b', which is done"):
        manager.step({"b": 0})
    assert manager.step({"a": 0})[2] == {"a": False, "__all__": False}


def test_all_are_reported_when_the_simulation_is_done(ordered):
    sim = ordered(["b", ["c", "a"], "b"], {"a": None, "b": None, "c": 1}, ends_at=2)
    manager = DynamicOrderManager(sim)
    manager.reset()
    assert manager.step({"b": 0})[2] == {"c": True, "a": False, "__all__": False}
    obs, _, dones, _ = manager.step({"a": 0})
    assert obs == {"a": ("a", 2), "b": ("b", 2)}
    assert dones == {"a": False, "b": False, "__all__": True}
    with pytest.raises(ValueError, match="has ended"):
        manager.step({})
    assert list(manager.reset()) == ["b"]


def test_episode_ends_when_every_agent_is_done(ordered):
    manager = DynamicOrderManager(ordered(["a", "a"], {"a": 1}))
    manager.reset()
    assert manager.step({"a": 0})[2] == {"a": True, "__all__": True}


def test_a_set_of_names_is_in_the_order_of_the_agents(ordered):
    sim = ordered([{"c", "a", "b"}], {"b": None, "c": None, "a": None})
    assert list(DynamicOrderManager(sim).reset()) == ["b", "c", "a"]
    assert sim.next_agent == ["b", "c", "a"]


@pytest.mark.parametrize("order", [[["b"]], [[]], ["wall"]])
def test_naming_nobody_who_can_act_is_an_error(ordered, order, bystanders):
    sim = ordered(["a", *order], {"a": None, "b": 1}, others=bystanders)
    manager = DynamicOrderManager(sim)
    manager.reset()
    with pytest.raises(RuntimeError, match="names no learning agent that is not done"):
        manager.step({"a": 0})
    with pytest.raises(ValueError, match="call reset"):
        manager.step({"a": 0})
    sim.order = [[]]
    with pytest.raises(RuntimeError, match="OrderedSimulation is not done, but its next_agent"):
        manager.reset()


def test_bad_names(ordered):
    sim = ordered([["a", "a"]], {"a": None})
    sim.reset()
    assert sim.next_agent == ["a"]
    for bad in (None, 3, [0], ["a", None]):
        with pytest.raises(TypeError, match="must be an agent's id or several"):
            sim.next_agent = bad
    with pytest.raises(ValueError, match="names 'z', which is not in the simulation; there are"):
        sim.next_agent = ["a", "z"]
    assert sim.next_agent == ["a"]


def test_a_simulation_that_names_nobody_yet(ordered):
    with pytest.raises(AttributeError, match=r"set self\.next_agent"):
        _ = ordered([], {"a": None}).next_agent


def test_other_simulations_are_refused(scripted):
    with pytest.raises(TypeError, match=r"needs a DynamicOrderSimulation.*ScriptedSimulation"):
        DynamicOrderManager(scripted({"a": None}))


def test_next_agent_may_be_a_property_of_the_simulation(ordered):
    class ByProperty(ordered):
        @property
        def next_agent(self):
            return "b" if self.time % 2 else "a"

        @next_agent.setter
        def next_agent(self, value):
            pass

    manager = DynamicOrderManager(ByProperty([None] * 3, {"a": None, "b": None}))
    assert list(manager.reset()) == ["a"]
    assert list(manager.step({"a": 0})[0]) == ["b"]


def test_a_wrapped_simulation_still_names_the_agents(ordered):
    class Numbered(ordered):
        def get_obs(self, agent_id, **kwargs):
            return self.time

    sim = RavelDiscreteWrapper(Numbered(["b", "a", "c"], {"a": None, "b": None}))
    manager = DynamicOrderManager(sim)
    assert manager.reset() == {"b": 0}
    assert manager.step({"b": 1})[0] == {"a": 1}
    sim.unwrapped.order[2] = []
    with pytest.raises(RuntimeError, match="RavelDiscreteWrapper is not done"):
        manager.step({"a": 1})


def test_null_points_of_agents_that_are_done(ordered):
    """Whoever keeps an agent in the loop after its end finds its null points in its spaces."""
    sim = ordered(["a"], {"a": None}, others={"wall": PrincipleAgent(id="wall")})
    agent = sim.agents["a"]
    assert (agent.null_observation, agent.null_action) == (None, None)
    assert agent.observation_space == Discrete(99)
    agent.null_observation = 99
    with pytest.raises(ValueError, match="null_observation of agent 'a' is 99"):
        sim.finalize()
