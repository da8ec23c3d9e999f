import re
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abmarl.managers import AllStepManager, SimulationManager
from abmarl.sim import ActingAgent, ObservingAgent

OVER = "no episode is running, or it has ended: call reset() before step()"


def test_reset_reports_all_learning_agents_and_only_them(scripted, bystanders):
    sim = scripted({"a": None, "b": None}, others=bystanders)
    manager = AllStepManager(sim)
    assert isinstance(manager, SimulationManager)
    assert manager.sim is sim
    assert manager.agents is sim.agents
    assert list(manager.reset().items()) == [("a", ("a", 0)), ("b", ("b", 0))]
    for part in manager.step({"a": 1, "b": 2}):
        assert part.keys() - {"__all__"} == {"a", "b"}


def test_class_that_observes_and_acts_without_being_an_agent_learns(scripted):
    class Both(ActingAgent, ObservingAgent):
        pass

    spaces = {name: {} for name in ("action_space", "observation_space")}
    sim = scripted({"a": None}, others={"b": Both(id="b", **spaces)})
    assert list(AllStepManager(sim).reset()) == ["a", "b"]


def test_step_reports_what_the_getters_say(scripted):
    manager = AllStepManager(scripted({"a": None, "b": 1}))
    manager.reset()
    obs, rewards, dones, infos = manager.step({"b": 2, "a": 1})
    assert obs == {"a": ("a", 1), "b": ("b", 1)}
    assert rewards == {"a": 10, "b": 10}
    assert dones == {"a": False, "b": True, "__all__": False}
    assert infos == {"a": {"of": "a"}, "b": {"of": "b"}}


def test_done_agent_is_reported_once_and_then_never_again(scripted):
    manager = AllStepManager(scripted({"a": None, "b": 1, "c": 2}))
    manager.reset()
    assert manager.step({"a": 0, "b": 0, "c": 0})[2] == {
        "a": False,
        "b": True,
        "c": False,
        "__all__": False,
    }
    assert manager.done_agents == {"b"}
    assert manager.step({"a": 0, "c": 0})[2] == {"a": False, "c": True, "__all__": False}
    assert manager.step({"a": 0})[2] == {"a": False, "__all__": False}
    assert list(manager.reset()) == ["a", "b", "c"]
    assert manager.done_agents == frozenset()


def test_getters_are_called_once_per_reported_agent(scripted):
    sim = scripted({"a": None, "b": 1})
    manager = AllStepManager(sim)
    manager.reset()
    manager.step({})
    wanted = [(what, who) for what in ("obs", "reward", "done", "info") for who in "ab"]
    assert sorted(sim.calls, key=str) == sorted([*wanted, ("all_done", None)], key=str)
    manager.step({})
    assert sorted(who for _, who in sim.calls if who) == ["a"] * 4


def test_all_is_true_when_every_agent_is_done(scripted, bystanders):
    manager = AllStepManager(scripted({"a": 1, "b": 2}, others=bystanders))
    manager.reset()
    assert manager.step({})[2]["__all__"] is False
    assert manager.step({})[2] == {"b": True, "__all__": True}


def test_all_is_true_when_the_simulation_is_done(scripted):
    manager = AllStepManager(scripted({"a": None, "b": 1}, ends_at=2))
    manager.reset()
    manager.step({})
    assert manager.step({})[2] == {"a": False, "__all__": True}


def test_step_needs_a_running_episode(scripted):
    sim = scripted({"a": 1})
    manager = AllStepManager(sim)
    with pytest.raises(ValueError, match=re.escape(OVER)):
        manager.step({})
    manager.reset()
    manager.step({"a": 0})
    with pytest.raises(ValueError, match=re.escape(OVER)):
        manager.step({})
    assert len(sim.received) == 1
    manager.reset()
    manager.step({"a": 0})


def test_failed_reset_leaves_no_episode_running(scripted):
    sim = scripted({"a": None})
    manager = AllStepManager(sim)
    manager.reset()

    def fail(**kwargs):
        raise RuntimeError("no room")

    sim.reset = fail
    with pytest.raises(RuntimeError, match="no room"):
        manager.reset()
    with pytest.raises(ValueError, match="call reset"):
        manager.step({})


@pytest.mark.parametrize(
    ("actions", "reason"),
    [
        ({"a": 0, "b": 0}, "'b', which is done; may act now: 'a', 'c'"),
        ({"c": 0, "d": 0}, "'d', which is not in the simulation; may act now: 'a', 'c'"),
        ({3: 0}, "3, which is not in the simulation; may act now: 'a', 'c'"),
        ({"wall": 0}, "'wall', which does not both observe and act; may act now: 'a', 'c'"),
        ({"turret": 0}, "'turret', which does not both observe and act; may act now: 'a', 'c'"),
    ],
)
def test_action_of_an_agent_that_may_not_act_is_refused(scripted, bystanders, actions, reason):
    sim = scripted({"a": None, "b": 1, "c": None}, others=bystanders)
    manager = AllStepManager(sim)
    manager.reset()
    manager.step({"a": 0})
    with pytest.raises(ValueError, match=re.escape(f"action from agent {reason}") + "$"):
        manager.step(actions)
    assert sim.received == [[("a", 0)]]
    assert manager.step({"c": 1})[2] == {"a": False, "c": False, "__all__": False}


def test_refusal_names_a_few_of_many_agents(scripted):
    manager = AllStepManager(scripted({f"a{i}": None for i in range(100)}))
    manager.reset()
    with pytest.raises(ValueError, match=r"may act now: 'a0', .*'a7', \.\.\.$"):
        manager.step({"x": 0})


@pytest.mark.parametrize("actions", [None, [("a", 0)], 3, "a"])
def test_actions_must_be_a_dict(scripted, actions):
    manager = AllStepManager(scripted({"a": None}))
    manager.reset()
    name = type(actions).__name__
    with pytest.raises(
        TypeError, match=f"^actions must be a dict of agent id to action, got {name}"
    ):
        manager.step(actions)


def test_any_mapping_will_do_and_is_not_changed(scripted):
    sim = scripted({"a": None, "b": None})
    manager = AllStepManager(sim, randomize_action_input=True)
    manager.reset()
    manager.step(MappingProxyType({"a": 1, "b": 2}))
    actions = {"a": 3, "b": 4}
    manager.step(actions)
    assert list(actions.items()) == [("a", 3), ("b", 4)]
    assert sim.received == [[("b", 2), ("a", 1)], [("b", 4), ("a", 3)]]


def test_actions_keep_their_order_unless_randomised(scripted):
    sim = scripted({"a": None, "b": None})
    manager = AllStepManager(sim)
    manager.reset()
    manager.step({"b": 1, "a": 2})
    assert sim.received == [[("b", 1), ("a", 2)]]


@pytest.mark.parametrize("flag", [1, None, "yes"])
def test_randomize_action_input_must_be_a_bool(scripted, flag):
    with pytest.raises(TypeError, match=r"^randomize_action_input must be True or False, got"):
        AllStepManager(scripted({"a": None}), flag)


def test_kwargs_are_forwarded(scripted):
    sim = scripted({"a": None})
    manager = AllStepManager(sim)
    manager.reset(seed=7)
    manager.step({}, extra=1)
    assert sim.received_kwargs == [{"seed": 7}, {"extra": 1}]
    assert manager.render(fig=3) == {"fig": 3}


def test_only_simulations_are_managed():
    with pytest.raises(
        TypeError, match=r"^AllStepManager needs an AgentBasedSimulation, got dict$"
    ):
        AllStepManager({})


def test_manager_is_abstract(scripted):
    with pytest.raises(TypeError, match="abstract"):
        SimulationManager(scripted({"a": None}))


def test_repr_nests(scripted):
    assert repr(AllStepManager(scripted({}))).startswith("AllStepManager(<")


def test_agents_that_come_between_episodes_are_seen(scripted):
    sim = scripted({"a": None})
    manager = AllStepManager(sim)
    manager.reset()
    sim.done_at = {"a": None, "z": None}
    other = scripted({"z": None})
    sim.agents = {**sim.agents, **other.agents}
    assert list(manager.reset()) == ["a", "z"]


def test_nobody_learns(scripted, bystanders):
    manager = AllStepManager(scripted({}, others=bystanders))
    assert manager.reset() == {}
    assert manager.step({}) == ({}, {}, {"__all__": True}, {})


times = st.none() | st.integers(1, 6)


# The fixture is only a class: nothing of it needs to be fresh for each example.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(done_at=st.lists(times, min_size=1, max_size=6), ends_at=times)
def test_any_episode_obeys_the_rules(scripted, done_at, ends_at):
    ids = [f"a{i}" for i in range(len(done_at))]
    done_at = dict(zip(ids, done_at, strict=True))
    manager = AllStepManager(scripted(done_at, ends_at))
    may_act = list(manager.reset())
    assert may_act == ids
    for time in range(1, 9):
        obs, rewards, dones, infos = manager.step(dict.fromkeys(may_act, 0))
        all_done = dones.pop("__all__")
        assert list(obs) == list(rewards) == list(dones) == list(infos) == may_act
        assert dones == {i: done_at[i] is not None and done_at[i] <= time for i in may_act}
        may_act = [i for i in may_act if not dones[i]]
        assert all_done == (not may_act or (ends_at is not None and ends_at <= time))
        if all_done:
            break
