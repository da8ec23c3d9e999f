import re

import pytest

from abmarl.managers import TurnBasedManager


def test_agents_take_turns_in_the_order_of_the_dict(scripted, bystanders):
    sim = scripted({"c": None, "a": None, "b": None}, others=bystanders)
    manager = TurnBasedManager(sim)
    assert manager.reset() == {"c": ("c", 0)}
    assert manager.step({"c": 5}) == (
        {"a": ("a", 1)},
        {"a": 10},
        {"a": False, "__all__": False},
        {"a": {"of": "a"}},
    )
    assert list(manager.step({"a": 6})[0]) == ["b"]
    assert list(manager.step({"b": 7})[0]) == ["c"]
    assert sim.received == [[("c", 5)], [("a", 6)], [("b", 7)]]


def test_order_goes_on_across_resets(scripted):
    manager = TurnBasedManager(scripted({"a": None, "b": None, "c": None}))
    assert list(manager.reset()) == ["a"]
    assert list(manager.step({"a": 0})[0]) == ["b"]
    assert list(manager.reset()) == ["c"]
    assert list(manager.reset()) == ["a"]
    assert list(manager.step({"a": 0})[0]) == ["b"]


def test_order_starts_over_when_the_last_agent_has_left(scripted):
    sim = scripted({"a": None, "b": None})
    manager = TurnBasedManager(sim)
    manager.reset()
    manager.step({"a": 0})
    sim.agents = {"a": sim.agents["a"]}
    assert list(manager.reset()) == ["a"]


def test_agent_found_done_is_reported_with_the_next_one_that_is_not(scripted):
    manager = TurnBasedManager(scripted({"a": None, "b": 1, "c": 1, "d": None}))
    manager.reset()
    obs, rewards, dones, infos = manager.step({"a": 0})
    assert list(dones.items()) == [("b", True), ("c", True), ("d", False), ("__all__", False)]
    assert list(obs) == list(rewards) == list(infos) == ["b", "c", "d"]
    assert manager.done_agents == {"b", "c"}
    assert manager.step({"d": 0})[2] == {"a": False, "__all__": False}
    # b and c are not in the line any more.
    assert manager.step({"a": 0})[2] == {"d": False, "__all__": False}


def test_done_agent_is_reported_when_its_turn_comes_and_not_before(scripted):
    manager = TurnBasedManager(scripted({"a": 1, "b": None, "c": None}))
    manager.reset()
    assert manager.step({"a": 0})[2] == {"b": False, "__all__": False}
    assert manager.step({"b": 0})[2] == {"c": False, "__all__": False}
    assert manager.step({"c": 0})[2] == {"a": True, "b": False, "__all__": False}


def test_everyone_not_yet_done_is_reported_when_the_simulation_is_done(scripted):
    manager = TurnBasedManager(scripted({"a": None, "b": 1, "c": None, "d": 2}, ends_at=2))
    manager.reset()
    assert manager.step({"a": 0})[2] == {"b": True, "c": False, "__all__": False}
    obs, rewards, dones, infos = manager.step({"c": 0})
    assert list(dones.items()) == [("a", False), ("c", False), ("d", True), ("__all__", True)]
    assert list(obs) == list(rewards) == list(infos) == ["a", "c", "d"]
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        manager.step({"a": 0})
    # c had the last turn.
    assert list(manager.reset()) == ["d"]


def test_all_is_true_when_every_agent_is_done(scripted, bystanders):
    manager = TurnBasedManager(scripted({"a": 1, "b": 1}, others=bystanders))
    manager.reset()
    assert manager.step({"a": 0})[2] == {"b": True, "a": True, "__all__": True}
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        manager.step({})


def test_single_agent_has_every_turn(scripted):
    manager = TurnBasedManager(scripted({"a": 3}))
    assert list(manager.reset()) == ["a"]
    for _ in range(2):
        assert manager.step({"a": 0})[2] == {"a": False, "__all__": False}
    assert manager.step({"a": 0})[2] == {"a": True, "__all__": True}


def test_getters_are_called_once_per_reported_agent(scripted):
    sim = scripted({"a": None, "b": 1, "c": None})
    manager = TurnBasedManager(sim)
    manager.reset()
    manager.step({"a": 0})
    wanted = [(what, who) for what in ("obs", "reward", "done", "info") for who in "bc"]
    assert sorted(sim.calls, key=str) == sorted([*wanted, ("all_done", None)], key=str)


def test_step_without_an_action_passes_the_turn(scripted):
    manager = TurnBasedManager(scripted({"a": None, "b": None}))
    manager.reset()
    assert list(manager.step({})[0]) == ["b"]


@pytest.mark.parametrize(
    ("actions", "reason"),
    [
        ({"a": 0}, "'a', whose turn it is not; may act now: 'c'"),
        ({"c": 0, "a": 0}, "'a', whose turn it is not; may act now: 'c'"),
        ({"b": 0}, "'b', which is done; may act now: 'c'"),
        ({"x": 0}, "'x', which is not in the simulation; may act now: 'c'"),
        ({"camera": 0}, "'camera', which does not both observe and act; may act now: 'c'"),
    ],
)
def test_only_the_agent_whose_turn_it_is_may_act(scripted, bystanders, actions, reason):
    sim = scripted({"a": None, "b": 1, "c": None}, others=bystanders)
    manager = TurnBasedManager(sim)
    manager.reset()
    manager.step({"a": 0})
    with pytest.raises(ValueError, match=re.escape(f"action from agent {reason}") + "$"):
        manager.step(actions)
    assert sim.received == [[("a", 0)]]
    assert list(manager.step({"c": 0})[0]) == ["a"]


def test_step_needs_a_reset(scripted):
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        TurnBasedManager(scripted({"a": None})).step({"a": 0})


def test_actions_must_be_a_dict(scripted):
    manager = TurnBasedManager(scripted({"a": None}))
    manager.reset()
    with pytest.raises(TypeError, match=r"^actions must be a dict of agent id to action, got int$"):
        manager.step(0)


def test_nobody_learns(scripted, bystanders):
    manager = TurnBasedManager(scripted({}, others=bystanders))
    assert manager.reset() == {}
    assert manager.step({}) == ({}, {}, {"__all__": True}, {})


def test_kwargs_are_forwarded(scripted):
    sim = scripted({"a": None})
    manager = TurnBasedManager(sim)
    manager.reset(seed=7)
    manager.step({"a": 0}, extra=1)
    assert sim.received_kwargs == [{"seed": 7}, {"extra": 1}]
