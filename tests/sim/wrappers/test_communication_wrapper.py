import copy

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.sim.wrappers import CommunicationHandshakeWrapper, FlattenWrapper

IDS = ("tom", "ann", "kim")


@pytest.fixture
def gossip(counting):
    """Agents that see their own number and learn those of others."""

    class Gossip(counting):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.fused = []

        def fuse_observations(self, own, message):
            self.fused.append((own["sum"], message["sum"]))
            return {**own, "sum": own["sum"] + message["sum"]}

    return Gossip


@pytest.fixture
def sim(gossip):
    sim = CommunicationHandshakeWrapper(gossip(ids=IDS))
    sim.reset()
    return sim


def talk(own_id, number=0, send=(), receive=()):
    """Adds a number, makes offers and accepts others."""
    others = [one for one in IDS if one != own_id]
    return {
        "action": {"add": [number, 0], "stop": 1},
        "send": {other: int(other in send) for other in others},
        "receive": {other: int(other in receive) for other in others},
    }


def offers(sim, agent_id):
    return [other for other, offer in sim.get_obs(agent_id)["message_buffer"].items() if offer]


def test_spaces(sim):
    inner = sim.unwrapped.agents["ann"]
    two = Dict({"tom": Discrete(2), "kim": Discrete(2)})
    ann = sim.agents["ann"]
    assert ann.action_space == Dict({"action": inner.action_space, "send": two, "receive": two})
    assert ann.observation_space == Dict({"obs": inner.observation_space, "message_buffer": two})
    silent = {"tom": 0, "kim": 0}
    assert ann.null_action == {"action": inner.null_action, "send": silent, "receive": silent}
    assert ann.null_observation == {"obs": inner.null_observation, "message_buffer": silent}
    assert sim.agents["eye"].observation_space == inner_eye(sim).observation_space
    assert "send" not in inner.action_space.spaces


def inner_eye(sim):
    return sim.unwrapped.agents["eye"]


def test_nobody_has_offered_at_reset(sim):
    sim.step({"tom": talk("tom", send=IDS)})
    sim.reset()
    assert sim.get_obs("ann") in sim.agents["ann"].observation_space
    assert all(offers(sim, one) == [] for one in IDS)


def test_a_handshake(sim):
    sim.step({"tom": talk("tom", 2, send=["ann"]), "ann": talk("ann", 1), "kim": talk("kim", 3)})
    assert sim.unwrapped.received[0][0]["tom"] == {"add": [2, 0], "stop": 1}
    assert offers(sim, "ann") == ["tom"]
    assert offers(sim, "kim") == offers(sim, "tom") == []
    assert sim.get_obs("ann")["obs"]["sum"] == 1
    assert sim.unwrapped.fused == []

    sim.step({"tom": talk("tom", 3), "ann": talk("ann", receive=["tom"]), "kim": talk("kim")})
    obs = sim.get_obs("ann")
    assert obs["obs"]["sum"] == 1 + 5
    assert obs["message_buffer"] == {"tom": 0, "kim": 0}
    assert sim.unwrapped.fused == [(1, 5)]
    assert sim.get_obs("kim")["obs"]["sum"] == 3

    sim.step({one: talk(one) for one in IDS})
    assert sim.get_obs("ann")["obs"]["sum"] == 1


def test_what_was_not_offered_is_not_received(sim):
    sim.step({"tom": talk("tom", 2, send=["kim"]), "ann": talk("ann", receive=["tom"])})
    sim.step({"tom": talk("tom", send=["ann"]), "ann": talk("ann", receive=["tom", "kim"])})
    assert sim.get_obs("ann")["obs"]["sum"] == 0
    # An offer lasts one step.
    sim.step({"tom": talk("tom"), "ann": talk("ann")})
    sim.step({"tom": talk("tom"), "ann": talk("ann", receive=["tom"])})
    assert sim.get_obs("ann")["obs"]["sum"] == 0
    assert sim.unwrapped.fused == []


def test_what_is_refused_is_not_received(sim):
    sim.step({"tom": talk("tom", 2, send=["ann", "kim"])})
    assert offers(sim, "ann") == offers(sim, "kim") == ["tom"]
    sim.step({"ann": talk("ann"), "kim": talk("kim", receive=["tom"])})
    assert sim.get_obs("ann")["obs"]["sum"] == 0
    assert sim.get_obs("kim")["obs"]["sum"] == 2


def test_messages_are_fused_in_the_order_of_the_agents(sim):
    sim.step({"kim": talk("kim", 3, send=["ann"]), "tom": talk("tom", 1, send=["ann"])})
    sim.step({"ann": talk("ann", 2, receive=["kim", "tom"])})
    assert sim.get_obs("ann")["obs"]["sum"] == 6
    assert sim.unwrapped.fused == [(2, 1), (3, 3)]


def test_offers_wait_for_whose_turn_comes_later(gossip):
    manager = TurnBasedManager(CommunicationHandshakeWrapper(gossip(ids=IDS)))
    manager.reset()
    manager.step({"tom": talk("tom", 2, send=["kim"])})
    obs, *_ = manager.step({"ann": talk("ann")})
    assert obs["kim"]["message_buffer"] == {"tom": 1, "ann": 0}
    manager.step({"kim": talk("kim", 1, receive=["tom"])})
    manager.step({"tom": talk("tom")})
    obs, *_ = manager.step({"ann": talk("ann")})
    assert obs["kim"]["obs"]["sum"] == 3


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (3, "the action of agent 'ann' must be a dict with"),
        ({"action": {}}, "the action of agent 'ann' must be a dict with"),
        ({**talk("ann"), "send": {"tom": 1}}, "'send' of agent 'ann' is .* must be 0 or 1 for"),
        ({**talk("ann"), "send": {"tom": 1, "ann": 0}}, "'send' of agent 'ann' is"),
        ({**talk("ann"), "receive": {"tom": 2, "kim": 0}}, "'receive' of agent 'ann' is"),
    ],
)
def test_bad_actions_change_nothing(sim, action, message):
    with pytest.raises(ValueError, match=message):
        sim.step({"tom": talk("tom", send=["ann"]), "ann": action})
    assert sim.unwrapped.received == []
    assert offers(sim, "ann") == []


def test_unknown_agents_and_no_dicts_are_refused(sim):
    with pytest.raises(ValueError, match="there is no agent 'tim' in this simulation"):
        sim.step({"tim": 3})
    with pytest.raises(TypeError, match="actions must be a dict of agent id to action, got list"):
        sim.step([3])


def test_a_step_that_fails_leaves_the_offers(sim, monkeypatch):
    sim.step({"tom": talk("tom", 2, send=["ann"])})
    before = copy.deepcopy(sim.get_obs("ann")["message_buffer"])

    def fail(*args, **kwargs):
        raise ValueError("no")

    monkeypatch.setattr(sim.unwrapped, "step", fail)
    with pytest.raises(ValueError, match="no"):
        sim.step({"ann": talk("ann", send=["kim"], receive=["tom"])})
    assert sim.get_obs("ann")["message_buffer"] == before
    assert offers(sim, "kim") == []


def test_the_simulation_must_know_how_to_fuse(counting, gossip):
    with pytest.raises(TypeError, match="Counting cannot fuse observations; give it a method fuse"):
        CommunicationHandshakeWrapper(counting())
    with pytest.raises(ValueError, match=r"takes two agents .* got \['tom'\]"):
        CommunicationHandshakeWrapper(gossip(ids=["tom"]))


def test_with_a_manager_and_flattened(gossip):
    manager = AllStepManager(FlattenWrapper(CommunicationHandshakeWrapper(gossip(ids=IDS))))
    obs = manager.reset()
    space = manager.agents["tom"].observation_space
    assert space == Box(np.array([-1, -1] + [0] * 24), np.array([1, 1] + [1] * 24), (26,), int)
    for _ in range(2):
        actions = {one: manager.agents[one].action_space.sample() for one in obs}
        obs, *_ = manager.step(actions)
        assert all(one in space for one in obs.values())


def test_no_null_points_without_those_of_the_agents(gossip):
    sim = CommunicationHandshakeWrapper(gossip(ids=IDS, nulls=False))
    assert sim.agents["tom"].null_action is None
    assert sim.agents["tom"].null_observation is None
