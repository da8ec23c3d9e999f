"""PettingZoo environments played to the end with random actions, and what was seen written down."""

import numpy as np


def seed_spaces(env, seed):
    """Random actions that depend on the seed alone; agents that are alike share a space."""
    for k, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(seed + k)


def play_parallel(env, seed, steps=60, action_seed=0):
    """Everything that one episode returns, step by step."""
    seed_spaces(env, action_seed)
    told = [env.reset(seed=seed)]
    while env.agents and len(told) <= steps:
        told.append(env.step({agent: env.action_space(agent).sample() for agent in env.agents}))
    return told


def play_aec(env, seed, steps=200, action_seed=0):
    """Everything that ``last`` says, with whose turn it is."""
    env.reset(seed=seed)
    seed_spaces(env, action_seed)
    told = []
    for agent in env.agent_iter(steps):
        last = env.last()
        told.append((agent, *last))
        over = last[2] or last[3]
        env.step(None if over else env.action_space(agent).sample())
    return told


def equal(one, other):
    """Whether nested dicts and sequences are equal, arrays to the last bit and dtype."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and one.shape == other.shape
            and one.tobytes() == other.tobytes()
        )
    if isinstance(one, dict):
        return list(one) == list(other) and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)
