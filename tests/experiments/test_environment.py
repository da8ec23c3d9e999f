"""The environment that RLlib steps, and its conversions."""

import copy

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from abmarl.examples import MultiAgentContinuousGymSpaceSim, MultiCorridor, shipped, team_battle
from abmarl.experiments.environment import (
    Codec,
    ConvertedEnv,
    EnvCreator,
    check_env,
    learners_of,
)
from abmarl.experiments.experiment import ExperimentError
from abmarl.external import MultiAgentWrapper
from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.sim.wrappers import SuperAgentWrapper

VIEW = Dict({"a": Box(-2, 5, (2, 2), int), "b": Discrete(3)})


def made(manager, horizon=None):
    return EnvCreator(lambda config: manager, horizon)({})


def test_observations_are_flat_floats():
    codec = Codec(VIEW, Discrete(2), "agent 'x'")
    seen = codec.observe({"a": np.array([[1, 2], [3, -2]]), "b": 1})
    np.testing.assert_array_equal(seen, np.array([1, 2, 3, -2, 0, 1, 0], np.float32))
    assert seen in codec.observation_space
    with pytest.raises(ValueError, match=r"(?s)agent 'x': .* does not lie in"):
        codec.observe({"a": np.full((2, 2), 9), "b": 1})


@pytest.mark.parametrize(
    ("space", "target", "value", "point"),
    [
        (Discrete(4), Discrete(4), 3, 3),
        (Discrete(4, start=2), Discrete(4), 3, 5),
        (Box(-1, 1, (2,), int), Discrete(9), 1, [-1, 0]),
        (Box(0, 9, (4,), int), MultiDiscrete([10] * 4), [1, 2, 3, 4], [1, 2, 3, 4]),
        (Box(-2.0, 2.0, (2,)), Box(-2.0, 2.0, (2,)), np.array([0.5, 3], "f4"), [0.5, 2.0]),
    ],
)
def test_actions(space, target, value, point):
    codec = Codec(Discrete(2), space, "agent 'x'")
    assert codec.action_space == target
    np.testing.assert_array_equal(codec.act(value), point)
    assert codec.act(value) in space


def test_actions_that_cannot_be_chosen():
    mixed = Dict({"a": Discrete(2), "b": Box(0.0, 1.0, (1,))})
    with pytest.raises(ExperimentError, match="agent 'x': action_space holds numbers that are no"):
        Codec(VIEW, mixed, "agent 'x'")


@pytest.mark.parametrize("name", list(shipped))
def test_shipped_simulations_are_what_rllib_wants(name):
    env = made(AllStepManager(shipped[name]()), 30)
    check_multiagent_environments(env)
    check_env(env)


@pytest.mark.parametrize(
    "manager",
    [
        lambda: TurnBasedManager(MultiCorridor()),
        lambda: AllStepManager(MultiAgentContinuousGymSpaceSim()),
        lambda: AllStepManager(SuperAgentWrapper(
            team_battle(), super_agent_mapping={"all": ["agent0", "agent1", "agent2"]})),
    ],
)  # fmt: skip
def test_other_simulations_as_well(manager):
    check_env(made(manager(), 30))


def test_wrappers_are_looked_through():
    manager = TurnBasedManager(MultiCorridor())
    env = made(MultiAgentWrapper(manager, horizon=7))
    assert isinstance(env, ConvertedEnv)
    assert env.env.sim is manager
    assert env.env.horizon == 7
    assert made(MultiAgentWrapper(manager, horizon=7), 5).env.horizon == 5


def positions(seeds):
    env = made(AllStepManager(MultiCorridor(end=40)))
    return [{key: one.tolist() for key, one in env.reset(seed=seed)[0].items()} for seed in seeds]


def test_seeds():
    first, second = positions([3, None])
    assert [first, second] == positions([3, None])
    assert first == positions([3])[0] != second
    # Without one, copies of a simulation in different workers differ.
    manager = AllStepManager(MultiCorridor(end=40))
    manager.reset(seed=1)
    one, other = (made(copy.deepcopy(manager)).reset()[0] for _ in range(2))
    assert {k: v.tolist() for k, v in one.items()} != {k: v.tolist() for k, v in other.items()}


def test_a_seed_that_comes_again_goes_on():
    """RLlib gives it before every sample of whole episodes."""
    first, second, third = positions([3, 3, 3])
    assert first != second != third
    assert [first, second] == positions([3, None])


def test_nobody_learns():
    manager = AllStepManager(MultiCorridor())
    manager.sim.agents = {}
    with pytest.raises(ExperimentError, match="no agent of MultiCorridor both observes and acts"):
        learners_of(manager)
