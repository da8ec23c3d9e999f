import copy
import pickle

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple

from abmarl.examples import team_battle
from abmarl.managers import AllStepManager, DynamicOrderManager
from abmarl.sim import Agent, AgentBasedSimulation, DynamicOrderSimulation
from abmarl.sim.wrappers import (
    FlattenActionWrapper,
    FlattenWrapper,
    RavelDiscreteActionWrapper,
    RavelDiscreteWrapper,
    SARWrapper,
    SuperAgentWrapper,
    Wrapper,
)
from abmarl.sim.wrappers.flatten_wrapper import flatten, flatten_space, unflatten
from abmarl.sim.wrappers.ravel_discrete_wrapper import ravel, ravel_space, unravel

CONVERTING = [
    RavelDiscreteWrapper,
    RavelDiscreteActionWrapper,
    FlattenWrapper,
    FlattenActionWrapper,
]


def shown(obs):
    return obs["sum"], np.asarray(obs["last"]).tolist()


def test_a_wrapper_passes_everything_on(counting):
    inner = counting()
    sim = Wrapper(inner)
    sim.reset(seed=3)
    assert inner.reset_with == {"seed": 3}
    action = {"tom": {"add": [1, 2], "stop": 1}}
    sim.step(action, more=4)
    assert inner.received == [(action, {"more": 4})]
    assert sim.get_obs("tom")["sum"] == 3
    assert sim.get_obs("eye") == 3
    assert (sim.get_reward("tom"), sim.get_reward("tom")) == (1.0, 0.0)
    assert sim.get_done("tom") is False
    assert sim.get_all_done() is False
    assert sim.get_info("ann") == {"id": "ann"}
    assert sim.render(fig=1) == ("a picture", {"fig": 1})
    assert isinstance(sim, AgentBasedSimulation)


def test_wrappers_nest(counting):
    inner = counting()
    sim = FlattenWrapper(SARWrapper(Wrapper(inner)))
    assert sim.unwrapped is inner
    assert sim.sim.sim.sim is inner
    assert repr(sim).startswith("FlattenWrapper(SARWrapper(Wrapper(<")


@pytest.mark.parametrize("wrapper", [Wrapper, SARWrapper, *CONVERTING])
def test_only_simulations_are_wrapped(wrapper):
    with pytest.raises(TypeError, match=rf"^{wrapper.__name__} wraps an AgentBasedSimulation, got"):
        wrapper({"agents": {}})


def test_actions_of_a_wrapper_are_checked(counting):
    sim = RavelDiscreteWrapper(counting())
    sim.reset()
    for action, message in (
        ({"bob": 3}, "there is no agent 'bob' in this simulation"),
        ({"eye": 3}, "action from agent 'eye', which does not act"),
        (
            {"tom": 0, "ann": 24},
            r"agent 'ann': 24 does not lie in Discrete\(24\), to which the action",
        ),
        ({"tom": 0, "ann": {"add": [1, 1]}}, "agent 'ann': .*does not lie in Discrete"),
    ):
        with pytest.raises(ValueError, match=message):
            sim.step(action)
    with pytest.raises(TypeError, match="actions must be a dict of agent id to action, got list"):
        sim.step([3])
    with pytest.raises(ValueError, match="there is no agent 'bob' in this simulation"):
        sim.get_obs("bob")
    assert sim.unwrapped.received == []


def test_an_observation_outside_of_its_space_is_told(counting):
    sim = RavelDiscreteWrapper(counting())
    sim.reset()
    sim.unwrapped.sums["ann"] = 20
    with pytest.raises(ValueError, match=r"agent 'ann': .* does not lie in the observation_space"):
        sim.get_obs("ann")


class Doubling(SARWrapper):
    def wrap_observation(self, from_agent, observation):
        return from_agent.id, observation["sum"]

    def wrap_action(self, from_agent, action):
        return {"add": [action, 0], "stop": 1}

    def wrap_reward(self, reward):
        return 2 * reward


def test_sar_wrapper_uses_its_hooks(counting):
    sim = Doubling(counting())
    sim.reset()
    sim.step({"ann": 2, "tom": 3}, more=1)
    actions, kwargs = sim.unwrapped.received[0]
    assert list(actions) == ["ann", "tom"]
    assert actions["ann"] == {"add": [2, 0], "stop": 1}
    assert kwargs == {"more": 1}
    assert sim.get_obs("tom") == ("tom", 3)
    assert sim.get_reward("tom") == 2.0


def test_sar_wrapper_changes_nothing_by_itself(counting):
    sim = SARWrapper(counting())
    agent = sim.agents["tom"]
    for name in ("observation", "action"):
        assert getattr(sim, f"wrap_{name}")(agent, 5) == 5
        assert getattr(sim, f"unwrap_{name}")(agent, 5) == 5
    assert sim.wrap_reward(0.5) == sim.unwrap_reward(0.5) == 0.5


def test_ravelled_simulation(counting):
    inner = counting()
    sim = RavelDiscreteWrapper(inner)
    tom = sim.agents["tom"]
    assert tom.observation_space == Discrete(180)
    assert tom.action_space == Discrete(24)
    assert tom.null_observation == 0
    assert tom.null_action == 0
    assert sim.agents["eye"].observation_space == Discrete(100)
    sim.reset()
    sim.step({"tom": (2 * 3 + 1) * 2 + 1})
    assert inner.received[0][0]["tom"]["add"].tolist() == [2, 1]
    assert inner.received[0][0]["tom"]["stop"] == 2
    # "last" comes before "sum": gymnasium sorts the keys
    assert sim.get_obs("tom") == (1 * 3 + 2) * 20 + 3
    assert sim.get_obs("eye") == 6


def test_flattened_simulation(counting):
    inner = counting()
    sim = FlattenWrapper(inner)
    tom = sim.agents["tom"]
    assert tom.observation_space == Box(
        np.array([-1, -1] + [0] * 20), np.array([1, 1] + [1] * 20), dtype=int
    )
    assert tom.action_space == Box(np.zeros(4, int), np.array([4, 3, 1, 1]), dtype=int)
    assert tom.null_observation.tolist() == [-1, -1, 1] + [0] * 19
    assert tom.null_action.tolist() == [0, 0, 1, 0]
    sim.reset()
    sim.step({"tom": np.array([2, 1, 0, 1])})
    assert inner.received[0][0]["tom"]["add"].tolist() == [2, 1]
    assert inner.received[0][0]["tom"]["stop"] == 2
    assert sim.get_obs("tom").tolist() == [0, 1] + [0] * 3 + [1] + [0] * 16
    numbers = FlattenWrapper(inner, one_hot=False)
    assert numbers.get_obs("tom").tolist() == [0, 1, 3]
    assert numbers.agents["eye"].observation_space == Box(0, 99, (1,), int)
    assert numbers.get_obs("eye").tolist() == [6]


@pytest.mark.parametrize("wrapper", [RavelDiscreteActionWrapper, FlattenActionWrapper])
def test_action_wrappers_leave_observations_alone(counting, wrapper):
    inner = counting()
    sim = wrapper(inner)
    full = wrapper.__mro__[1](inner)
    for agent_id in ("tom", "ann"):
        assert sim.agents[agent_id].action_space == full.agents[agent_id].action_space
        assert sim.agents[agent_id].observation_space == inner.agents[agent_id].observation_space
        assert sim.agents[agent_id].null_observation is inner.agents[agent_id].null_observation
    sim.reset()
    assert shown(sim.get_obs("tom")) == shown(inner.get_obs("tom"))
    tom = inner.agents["tom"]
    assert sim.wrap_observation(tom, 3) == sim.unwrap_observation(tom, 3) == 3


@pytest.mark.parametrize("wrapper", CONVERTING)
def test_unwrapping_undoes_wrapping(counting, wrapper):
    inner = counting()
    sim = wrapper(inner)
    sim.reset()
    for agent in (inner.agents["tom"], inner.agents["ann"]):
        action = sim.agents[agent.id].action_space.sample()
        point = sim.wrap_action(agent, action)
        assert point in agent.action_space
        assert np.array_equal(
            sim.unwrap_action(agent, sim.wrap_action(agent, sim.unwrap_action(agent, point))),
            sim.unwrap_action(agent, point),
        )
        obs = sim.get_obs(agent.id)
        assert shown(sim.unwrap_observation(agent, obs)) == shown(inner.get_obs(agent.id))


@pytest.mark.parametrize("wrapper", CONVERTING)
def test_the_inner_simulation_is_left_alone(counting, wrapper):
    inner = counting()
    before = copy.deepcopy(inner.agents)
    sim = wrapper(inner)
    assert inner.agents == before
    assert sim.agents.keys() == inner.agents.keys()
    assert sim.agents["tom"] != inner.agents["tom"]


@pytest.mark.parametrize("wrapper", CONVERTING)
def test_without_null_points_there_are_none(counting, wrapper):
    sim = wrapper(counting(nulls=False))
    assert sim.agents["tom"].null_action is None
    assert sim.agents["tom"].null_observation is None


def test_seeds_of_agents_hold_for_their_new_spaces(counting):
    sims = []
    for _ in range(2):
        inner = counting()
        for agent in inner.agents.values():
            agent.seed = 7
        sims.append(RavelDiscreteWrapper(inner))
    one, other = ([sim.agents["tom"].action_space.sample() for _ in range(5)] for sim in sims)
    assert one == other


@pytest.mark.parametrize("wrapper", CONVERTING)
def test_wrappers_are_pickled_and_copied(counting, wrapper):
    sim = wrapper(team_battle() if "Ravel" not in wrapper.__name__ else counting())
    if "Ravel" in wrapper.__name__:
        twins = [copy.deepcopy(sim)]
    else:
        twins = [copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
    first = next(iter(sim.agents))
    for twin in twins:
        twin.reset()
        assert twin.agents[first].action_space == sim.agents[first].action_space
        assert twin.get_obs(first) is not None


def test_spaces_that_cannot_be_ravelled_name_their_agent():
    with pytest.raises(
        ValueError,
        match=r"observation_space of agent 'agent0' has about 2.57e\+41 points .* flatten it",
    ):
        RavelDiscreteWrapper(team_battle())


def test_agents_of_a_grid_world_show_their_present_state():
    sim = FlattenWrapper(team_battle())
    sim.reset(seed=1)
    before = sim.agents["agent0"].position.copy()
    sim.unwrapped.agents["agent0"].position = before + 1
    assert sim.agents["agent0"].position.tolist() == (before + 1).tolist()
    sim.unwrapped.agents["agent0"].health = 0
    assert not sim.agents["agent0"].active


def test_a_battle_of_flattened_agents_is_the_same_battle():
    plain, flat = team_battle(), FlattenWrapper(team_battle())
    plain.reset(seed=4)
    flat.reset(seed=4)
    rng = np.random.default_rng(0)
    for _ in range(30):
        actions = {
            agent_id: {"attack": int(rng.integers(2)), "move": rng.integers(-1, 2, 2)}
            for agent_id, agent in plain.agents.items()
            if agent.active
        }
        plain.step(actions)
        flat.step(
            {
                agent_id: flat.unwrap_action(plain.agents[agent_id], action)
                for agent_id, action in actions.items()
            }
        )
        for agent_id in plain.agents:
            window = plain.get_obs(agent_id)["position_centered_encoding"]
            assert flat.get_obs(agent_id).tolist() == window.reshape(-1).tolist()
            assert flat.get_reward(agent_id) == plain.get_reward(agent_id)
            assert flat.get_done(agent_id) == plain.get_done(agent_id)


def test_random_order_is_the_inner_simulations():
    plain, flat = team_battle(), FlattenWrapper(team_battle())
    orders = []
    for sim in (plain, flat):
        sim.reset(seed=2)
        orders.append(sim.random_order(list(sim.agents)))
    assert orders[0] == orders[1]


class Dealer(DynamicOrderSimulation):
    """Three players; the next one is drawn from the sum of what they played."""

    def __init__(self):
        self.agents = {
            name: Agent(id=name, observation_space=Discrete(9), action_space=MultiDiscrete([2, 3]))
            for name in ("x", "y", "z")
        }
        self.finalize()

    def reset(self, **kwargs):
        self.sum = 0
        self.next_agent = "x"

    def step(self, action_dict, **kwargs):
        self.sum += sum(int(sum(action)) for action in action_dict.values())
        self.next_agent = ("x", "y", "z")[self.sum % 3]

    def render(self, **kwargs):
        pass

    def get_obs(self, agent_id, **kwargs):
        return self.sum % 9

    def get_reward(self, agent_id, **kwargs):
        return 0.0

    def get_done(self, agent_id, **kwargs):
        return self.sum > 8

    def get_all_done(self, **kwargs):
        return self.sum > 8

    def get_info(self, agent_id, **kwargs):
        return {}


def test_wrapped_simulations_still_say_who_is_next():
    manager = DynamicOrderManager(RavelDiscreteWrapper(Dealer()))
    assert manager.reset() == {"x": 0}
    obs, *_ = manager.step({"x": 1 * 3 + 1})
    assert obs == {"z": 2}
    manager = DynamicOrderManager(SuperAgentWrapper(Dealer(), {"s": ["y", "z"]}))
    assert manager.reset() == {"x": 0}
    obs, *_ = manager.step({"x": [1, 1]})
    assert list(obs) == ["s"]
    assert not hasattr(Wrapper(team_battle()), "next_agent")


def test_managers_run_wrapped_simulations(counting):
    for wrapper in CONVERTING:
        manager = AllStepManager(wrapper(counting()))
        obs = manager.reset()
        while True:
            for agent_id, one in obs.items():
                assert one in manager.agents[agent_id].observation_space
            obs, _, dones, _ = manager.step(
                {
                    agent_id: manager.agents[agent_id].action_space.sample()
                    for agent_id in obs
                    if agent_id not in manager.done_agents
                }
            )
            if dones["__all__"]:
                break


# --- the worked examples of the documents

my_space = Dict({
    "a": MultiDiscrete([5, 3]),
    "b": MultiBinary(4),
    "c": Box(np.array([[-2, 6, 3], [0, 0, 1]]), np.array([[2, 12, 5], [2, 4, 2]]), dtype=int),
    "d": Dict({1: Discrete(3), 2: Box(1, 3, (2,), int)}),
    "e": Tuple((MultiDiscrete([4, 1, 5]), MultiBinary(2), Dict({"my_dict": Discrete(11)}))),
    "f": Discrete(6),
})  # fmt: skip
point = {
    "a": [3, 1],
    "b": [0, 1, 1, 0],
    "c": np.array([[0, 7, 5], [1, 3, 1]]),
    "d": {1: 2, 2: np.array([1, 3])},
    "e": ([1, 0, 4], [1, 1], {"my_dict": 5}),
    "f": 1,
}


def same_point(one):
    assert one["a"].tolist() == point["a"]
    assert one["b"].tolist() == point["b"]
    assert one["c"].tolist() == point["c"].tolist()
    assert one["d"][1] == 2
    assert one["d"][2].tolist() == [1, 3]
    assert [one["e"][0].tolist(), one["e"][1].tolist()] == [[1, 0, 4], [1, 1]]
    assert one["e"][2] == {"my_dict": 5}
    assert one["f"] == 1
    return True


def test_worked_example_of_ravelling():
    assert ravel_space(my_space) == Discrete(107775360000)
    assert ravel(my_space, point) == 74748022765
    assert same_point(unravel(my_space, 74748022765))


def test_worked_example_of_flattening():
    expected = Box(
        np.array([0, 0, 0, 0, 0, 0, -2, 6, 3, 0, 0, 1, 0, 0, 0, 1, 1] + [0] * 22),
        np.array([5, 3, 1, 1, 1, 1, 2, 12, 5, 2, 4, 2, 1, 1, 1, 3, 3, 4, 1, 5] + [1] * 19),
        (39,),
        int,
    )
    found = flatten_space(my_space)
    assert found == expected
    assert found.dtype == np.int64
    flat = flatten(my_space, point)
    assert flat.dtype == np.int64
    assert flat.tolist() == [
        3, 1, 0, 1, 1, 0, 0, 7, 5, 1, 3, 1, 0, 0, 1, 1, 3, 1, 0, 4, 1, 1,
        0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
    ]  # fmt: skip
    assert same_point(unflatten(my_space, flat))
    assert flatten(my_space, point, one_hot=False).shape == (22,)


def test_flat_observations_and_one_number_per_action():
    sim = RavelDiscreteActionWrapper(FlattenWrapper(team_battle(), actions=False))
    agent = sim.agents["agent0"]
    assert agent.action_space == Discrete(18)
    assert agent.observation_space.shape == (49,)
    sim.reset(seed=3)
    bare = RavelDiscreteActionWrapper(team_battle())
    bare.reset(seed=3)
    masks, wanted = sim.action_masks(), bare.action_masks()
    assert all(np.array_equal(masks[name], wanted[name]) for name in wanted)
    assert len(masks) == 24
    vec = sim.vectorize(2, seed=3)
    assert vec.groups["red"].action_space == Discrete(18)
    assert vec.groups["red"].observation_space.shape == (49,)


@pytest.mark.parametrize("wrapper", [FlattenWrapper, RavelDiscreteWrapper])
def test_one_side_is_converted(counting, wrapper):
    inner = next(iter(counting().agents.values()))
    for actions, observations in ((True, False), (False, True)):
        agent = wrapper(counting(), actions=actions, observations=observations).agents[inner.id]
        assert (agent.action_space != inner.action_space) == actions
        assert (agent.observation_space != inner.observation_space) == observations
    with pytest.raises(TypeError, match="actions must be True or False, got 1"):
        wrapper(counting(), actions=1)


def test_actions_flattened_before_they_are_ravelled_have_no_joint_masks():
    sim = RavelDiscreteActionWrapper(FlattenWrapper(team_battle()))
    sim.reset(seed=0)
    assert sim.action_masks() == {}
    vec = team_battle().vectorize(2, seed=0).flatten().ravel(observations=False)
    vec.reset()
    with pytest.raises(ValueError, match=r"flattened before they were\s+ravelled.*actions=False"):
        vec.action_masks()
    numbers = RavelDiscreteWrapper(team_battle(), actions=False, observations=False)
    numbers.reset(seed=0)
    assert set(numbers.action_masks()["agent0"]) == {"attack", "move"}


def test_messages_name_the_side(counting):
    sim = FlattenWrapper(counting())
    agent = sim.sim.agents["tom"]
    with pytest.raises(ValueError, match=r"agent 'tom': .* to which the action_space is converted"):
        sim.wrap_action(agent, "jump")
    with pytest.raises(
        ValueError, match=r"agent 'tom': 'blue' does not lie in the observation_space"
    ):
        sim.wrap_observation(agent, "blue")
