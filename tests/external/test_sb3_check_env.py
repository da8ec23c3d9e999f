"""Stable-Baselines3's own checker, on every shipped simulation."""

import gymnasium
import pytest

pytest.importorskip("stable_baselines3")

from stable_baselines3.common.env_checker import check_env

from abmarl.examples import shipped
from abmarl.external import GymnasiumWrapper
from abmarl.external.gymnasium import SHIPPED
from abmarl.sim.agents import is_agent
from abmarl.sim.wrappers import FlattenWrapper, RavelDiscreteWrapper, SuperAgentWrapper


def arrays_and_choices(sim):
    """Flat observations and one number as the action, which every algorithm takes."""
    return FlattenWrapper(RavelDiscreteWrapper(sim, observations=False), actions=False)


@pytest.mark.parametrize("wrap", [FlattenWrapper, arrays_and_choices])
@pytest.mark.parametrize("name", SHIPPED)
def test_with_one_learner(name, wrap):
    # Without its advice, which is about the ranges of actions.
    check_env(GymnasiumWrapper(wrap(gymnasium.make(name).unwrapped.sim), horizon=20), warn=False)


@pytest.mark.parametrize("name", shipped)
def test_with_a_super_agent(name):
    sim = shipped[name]()
    learners = [agent_id for agent_id, agent in sim.agents.items() if is_agent(agent)]
    together = FlattenWrapper(SuperAgentWrapper(sim, {"crew": learners}))
    check_env(GymnasiumWrapper(together, horizon=20), warn=False)


def test_it_finds_what_is_wrong():
    class Short(GymnasiumWrapper):
        def step(self, action):
            return super().step(action)[:4]

    env = Short(arrays_and_choices(gymnasium.make("abmarl/Foraging-v0").unwrapped.sim))
    with pytest.raises(AssertionError):
        check_env(env, warn=False)
