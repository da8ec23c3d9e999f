import copy
import re
import warnings

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

from abmarl.sim import ActingAgent, Agent, ObservingAgent


@pytest.fixture(scope="module")
def gym_spaces():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("gym").spaces


def refused(error, message):
    return pytest.raises(error, match="^" + re.escape(message) + "$")


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
