"""A learner of the plainest kind solves the corridor through the parallel environment."""

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from abmarl.external.pettingzoo import PettingZooParallelWrapper
from abmarl.sim.wrappers import RavelDiscreteWrapper
from tests.external.probes import corridor

HORIZON = 20


def episode(env, tables, rng, epsilon, rate=0.3):
    """Independent Q-learning; returns the sum of the rewards and the number of steps."""
    obs, _ = env.reset()
    total, steps = 0.0, 0
    while env.agents:
        actions = {}
        for agent in env.agents:
            values = tables[agent][obs[agent]]
            best = rng.choice(np.flatnonzero(values == values.max()))
            actions[agent] = rng.integers(len(values)) if rng.random() < epsilon else best
        seen, rewards, terminated, _, _ = env.step(actions)
        for agent, action in actions.items():
            # Bootstraps where only the time was up.
            later = 0.0 if terminated[agent] else tables[agent][seen[agent]].max()
            table = tables[agent][obs[agent]]
            table[action] += rate * (rewards[agent] + later - table[action])
        obs = seen
        total += sum(rewards.values())
        steps += 1
    return total, steps


def test_q_learning_solves_the_corridor():
    """Within 4,000 steps to a return above -0.35; the best is -0.28, random moves get -1.35."""
    env = PettingZooParallelWrapper(RavelDiscreteWrapper(corridor()), horizon=HORIZON)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    tables = {
        agent: np.zeros((int(env.observation_space(agent).n), int(env.action_space(agent).n)))
        for agent in env.possible_agents
    }
    at_first = np.mean([episode(env, tables, rng, epsilon=1.0, rate=0.0)[0] for _ in range(50)])
    taken = 0
    while taken < 4_000:
        taken += episode(env, tables, rng, epsilon=0.2)[1]
    learned = np.mean([episode(env, tables, rng, epsilon=0.0, rate=0.0)[0] for _ in range(200)])
    assert at_first < -1.0
    assert learned > -0.35
