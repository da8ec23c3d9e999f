import copy
import pickle
import re

import numpy as np
import pytest
from gymnasium.spaces import Discrete

from abmarl.sim import ActingAgent, Agent, ObservingAgent, PrincipleAgent, is_agent


class Runner(ActingAgent):
    required_parameters = ("speed",)

    def __init__(self, speed=None, **kwargs):
        super().__init__(**kwargs)
        self.speed = speed


class Looker(ObservingAgent):
    """As existing code does it: `configured` is overridden, nothing is declared."""

    def __init__(self, sight=None, **kwargs):
        super().__init__(**kwargs)
        self.sight = sight

    @property
    def configured(self):
        return super().configured and self.sight is not None


class Scout(Runner, Looker):
    pass


def make_scout(**kwargs):
    given = {
        "id": "s",
        "speed": 2,
        "sight": 3,
        "action_space": Discrete(3),
        "observation_space": Discrete(4),
    }
    return Scout(**{**given, **kwargs})


def refused(error, message):
    return pytest.raises(error, match="^" + re.escape(message) + "$")


def test_defaults():
    agent = PrincipleAgent(id="a")
    assert (agent.id, agent.seed, agent.active) == ("a", None, True)
    assert agent.configured
    assert repr(agent) == "PrincipleAgent(id='a')"
    agent.finalize()


def test_arguments_reach_every_class_and_leftovers_are_ignored():
    scout = make_scout(seed=5, null_action=1, null_observation=2, colour="red")
    assert (scout.id, scout.seed, scout.speed, scout.sight) == ("s", 5, 2, 3)
    assert (scout.null_action, scout.null_observation) == (1, 2)
    assert not hasattr(scout, "colour")
    assert scout == make_scout(seed=5, null_action=1, null_observation=2)


def test_id_must_be_a_str():
    message = "an agent's id must be a str, got int 7; for a number write id=str(number)"
    with refused(TypeError, message):
        PrincipleAgent(id=7)


def test_id_of_the_managers_is_refused():
    message = "an agent's id cannot be '__all__': managers report the end of an episode under it"
    with refused(ValueError, message):
        PrincipleAgent(id="__all__")


@pytest.mark.parametrize("seed", [True, False, 1.0, "1", [1]])
def test_seed_must_be_an_int(seed):
    message = f"the seed of agent 'a' must be None or an int, got {type(seed).__name__} {seed!r}"
    with refused(TypeError, message):
        PrincipleAgent(id="a", seed=seed)


def test_seed_must_not_be_negative():
    with refused(ValueError, "the seed of agent 'a' is -1, but a seed must not be negative"):
        PrincipleAgent(id="a", seed=-1)


def test_numpy_seed_becomes_an_int():
    assert type(PrincipleAgent(id="a", seed=np.int64(3)).seed) is int


def test_active_is_settable_and_a_bool():
    agent = PrincipleAgent(id="a")
    agent.active = np.False_
    assert agent.active is False
    with refused(TypeError, "active of agent 'a' must be True or False, got int 1"):
        agent.active = 1
    assert agent.active is False


def test_configured_needs_every_parameter():
    assert not PrincipleAgent().configured
    assert not ActingAgent(id="a").configured
    assert ActingAgent(id="a", action_space={}).configured
    assert not Agent(id="a", action_space={}).configured
    assert Agent(id="a", action_space={}, observation_space={}).configured
    assert make_scout().configured
    assert not make_scout(speed=None).configured
    assert not make_scout(sight=None).configured


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (PrincipleAgent(), "agent None (PrincipleAgent) is not configured: id missing"),
        (
            Agent(id="a"),
            "agent 'a' (Agent) is not configured: action_space, observation_space missing",
        ),
        (
            ActingAgent(id="a", acton_space=Discrete(2), seed=3),
            "agent 'a' (ActingAgent) is not configured: action_space missing; "
            "arguments that no class took: acton_space",
        ),
        (make_scout(speed=None), "agent 's' (Scout) is not configured: speed missing"),
        (
            make_scout(sight=None, null_action=0, null_observation=0),
            "agent 's' (Scout) is not configured: sight missing",
        ),
    ],
)
def test_agent_that_is_not_configured_is_not_finalized(agent, message):
    with refused(ValueError, message):
        agent.finalize()


def test_is_agent():
    class Both(ObservingAgent, ActingAgent):
        pass

    assert is_agent(Agent(id="a"))
    assert is_agent(Both(id="a"))
    assert is_agent(make_scout())
    for other in (PrincipleAgent(), ActingAgent(), ObservingAgent(), None, "a"):
        assert not is_agent(other)


def test_agents_are_equal_when_all_attributes_are():
    assert make_scout() == make_scout()
    for change in ({"id": "t"}, {"seed": 1}, {"speed": 9}, {"action_space": Discrete(9)}):
        assert make_scout(**change) != make_scout()
    sleeper = make_scout()
    sleeper.active = False
    assert sleeper != make_scout()
    assert PrincipleAgent(id="a") != ActingAgent(id="a")
    assert PrincipleAgent(id="a") != "a"


def test_equality_looks_into_arrays_and_containers():
    def make(*values):
        agent = PrincipleAgent(id="a")
        agent.position = np.array(values)
        agent.memory = {"seen": [np.array(values), (1, np.array([2]))]}
        agent.neighbours = np.array([None, PrincipleAgent(id="n")], dtype=object)
        return agent

    assert make(1, 2) == make(1, 2)
    assert make(1, 2) != make(1, 3)
    assert make(1, 2) != make(1, 2, 3)
    other = make(1, 2)
    other.memory["seen"][1][1][0] = 7
    assert other != make(1, 2)
    other = make(1, 2)
    other.neighbours[1].active = False
    assert other != make(1, 2)
    other = make(1, 2)
    other.position = None
    assert other != make(1, 2)


def test_agents_that_refer_to_each_other_can_be_compared():
    def make(seed):
        hunter, prey = PrincipleAgent(id="h"), PrincipleAgent(id="p", seed=seed)
        hunter.prey, prey.hunter = prey, hunter
        return hunter

    assert make(1) == make(1)
    assert make(1) != make(2)


def test_finalized_seeded_agent_equals_one_finalized_twice():
    first, second = (make_scout(seed=3) for _ in range(2))
    first.finalize()
    second.finalize()
    second.finalize()
    assert first == second


def test_equal_agents_have_equal_hashes_and_change_does_not_lose_them():
    first, second = make_scout(), make_scout()
    assert len({first, second, make_scout(id="t")}) == 2
    known = {first: "here"}
    first.active = False
    first.speed = 77
    assert known[first] == "here"


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
def test_copies_are_equal_and_keep_their_streams(clone):
    agent = make_scout(seed=3, action_space=Discrete(10**6))
    agent.finalize()
    twin = clone(agent)
    assert twin == agent
    twin.finalize()
    assert twin.action_space.sample() == agent.action_space.sample()
