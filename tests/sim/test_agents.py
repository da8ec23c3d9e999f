import copy
import pickle
import re
import warnings

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

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


@pytest.fixture(scope="module")
def gym_spaces():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("gym").spaces


@pytest.mark.parametrize("name", ["action_space", "observation_space"])
@pytest.mark.parametrize("value", [3, [Discrete(2)], "Discrete", Discrete])
def test_space_must_be_a_space(name, value):
    message = (
        f"{name} of agent 'a' must be a space, a dict of spaces or None, "
        f"got {type(value).__name__} {value!r:.60}"
    )
    with refused(TypeError, message):
        Agent(id="a", **{name: value})


def test_part_of_a_space_must_be_a_space():
    agent = ActingAgent(id="a", action_space={"move": {"far": 3}})
    message = (
        "action_space of agent 'a'['move']['far'] must be a space or a dict of spaces, got int 3"
    )
    with refused(TypeError, message):
        agent.finalize()


def test_dict_is_kept_until_finalize_and_can_be_extended():
    channels = {}
    agent = ActingAgent(id="a", action_space=channels, null_action={})
    assert agent.action_space is channels
    agent.action_space["move"] = Box(-1, 1, (2,), int)
    agent.action_space["attack"] = {1: Discrete(2)}
    agent.null_action["move"] = np.zeros(2, int)
    agent.null_action["attack"] = {1: 0}
    agent.finalize()
    assert agent.action_space == Dict(
        {"move": Box(-1, 1, (2,), int), "attack": Dict({1: Discrete(2)})}
    )


def test_spaces_that_are_ready_stay_shared_without_a_seed():
    space = Dict({"a": Discrete(2)})
    agents = [Agent(id=f"a{i}", action_space=space, observation_space=space) for i in range(3)]
    for agent in agents:
        agent.finalize()
        assert agent.action_space is agent.observation_space is space
        assert "_seeded" not in vars(agent)


def test_seeded_agent_has_spaces_of_its_own():
    space = Dict({"a": Discrete(10**6), "b": Box(0, 1, (2,))})
    first, second = (
        Agent(id=i, seed=4, action_space=space, observation_space={"x": space}) for i in "ab"
    )
    first.finalize()
    second.finalize()
    assert first.action_space is not space
    assert first.action_space["a"] is not space["a"]
    assert first.observation_space["x"]["a"] is not space["a"]
    assert space._np_random is None
    assert space["a"]._np_random is None
    own = copy.deepcopy(space)
    own.seed(4)
    for _ in range(3):
        drawn = first.action_space.sample()
        assert drawn["a"] == second.action_space.sample()["a"] == own.sample()["a"]


def test_finalize_again_changes_nothing():
    agent = Agent(id="a", seed=4, action_space=Discrete(10**6), observation_space={})
    agent.finalize()
    space, observation_space = agent.action_space, agent.observation_space
    drawn = [space.sample()]
    agent.finalize()
    assert agent.action_space is space
    assert agent.observation_space is observation_space
    drawn.append(space.sample())
    again = Discrete(10**6, seed=4)
    assert drawn == [again.sample(), again.sample()]


def test_new_space_and_new_seed_are_seeded():
    agent = ActingAgent(id="a", seed=4, action_space=Discrete(10**6))
    agent.finalize()
    agent.action_space = Discrete(10**5)
    agent.finalize()
    assert agent.action_space.sample() == Discrete(10**5, seed=4).sample()
    agent.seed = 5
    agent.finalize()
    assert agent.action_space.sample() == Discrete(10**5, seed=5).sample()


def test_shallow_copy_does_not_disturb_the_seeding():
    agent = ActingAgent(id="a", seed=4, action_space=Discrete(10**6))
    agent.finalize()
    twin = copy.copy(agent)
    twin.action_space = Discrete(3)
    twin.finalize()
    space = agent.action_space
    agent.finalize()
    assert agent.action_space is space


@pytest.mark.parametrize(
    "null", [[0, 0], (1, -1), np.zeros(2), np.zeros(2, np.float32), np.ones(2, int)]
)
def test_null_point_in_its_space_is_kept_as_given(null):
    agent = Agent(
        id="a",
        observation_space=Box(-1, 1, (2,)),
        action_space=Discrete(3),
        null_observation=null,
        null_action=0,
    )
    agent.finalize()
    assert agent.null_observation is null
    assert agent.null_action == 0


@pytest.mark.parametrize("null", [None, {}])
@pytest.mark.parametrize("space", [Discrete(3), {"a": Discrete(2)}, {}])
def test_no_null_point_is_fine(null, space):
    ActingAgent(id="a", action_space=space, null_action=null).finalize()


def test_null_point_outside_its_space_is_refused():
    message = "null_action of agent 'a' is 3, which does not lie in its action_space Discrete(3)"
    with refused(ValueError, message):
        ActingAgent(id="a", action_space=Discrete(3), null_action=3).finalize()
    message = (
        "null_observation of agent 'a' is {'x': 1}, "
        "which does not lie in its observation_space Dict('x': Discrete(1))"
    )
    with refused(ValueError, message):
        ObservingAgent(
            id="a", observation_space={"x": Discrete(1)}, null_observation={"x": 1}
        ).finalize()


def test_gym_spaces_will_do(gym_spaces):
    agent = Agent(
        id="a",
        seed=1,
        action_space=gym_spaces.Discrete(3),
        observation_space={
            "position": gym_spaces.Box(0, 9, (1,), int),
            "left": gym_spaces.MultiBinary(1),
        },
        null_observation={"position": [0], "left": [False]},
    )
    assert agent.action_space == Discrete(3)
    agent.finalize()
    assert isinstance(agent.observation_space, Dict)
    assert agent.observation_space["position"] == Box(0, 9, (1,), int)
    message = "action_space of agent 'b' is a gym Text, which cannot be converted to gymnasium; "
    with pytest.raises(TypeError, match=re.escape(message)):
        ActingAgent(id="b", action_space=gym_spaces.Text(3))
