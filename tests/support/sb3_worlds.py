"""Slots to test with: fights in which everybody does what the test says."""

import numpy as np

from abmarl.external import SB3VecEnv
from tests.support.grid_worlds import skirmish, strike

STAY, STRIKE = 4, 13  # joint actions of a fighter: attack * 9 + 3 * (row + 1) + (column + 1)
RED, BLUE = "fighter_1", "fighter_2"


def striking_env(horizon, **options):
    """One knight in each of two worlds, who may end them at any step."""
    return SB3VecEnv(strike().vectorize(2, seed=0, horizon=horizon), **options)


def play(env, strike_at, steps):
    """The results of all steps; the knight of world 0 strikes at one of them, counted from 1."""
    found = []
    env.reset()
    for step in range(1, steps + 1):
        found.append(env.step(np.array([STRIKE if step == strike_at else STAY, STAY])))
    return found


class FirstStrike:
    """Red strikes in the steps given, counted from 1 since it was bound, and never moves."""

    def __init__(self, *steps):
        self.steps = steps

    def bind(self, vec, group):
        self.step = 0

    def __call__(self, observations, active):
        self.step += 1
        return {
            "attack": np.full(active.shape, self.step in self.steps, np.int64),
            "move": np.zeros((*active.shape, 2), np.int64),
        }


def hunted_env(worlds=1, horizon=4, strikes=(1,), **options):
    """Slots blue0 and blue1 of every world; blue0 is killed in the steps in which red strikes."""
    vec = skirmish().vectorize(worlds, seed=0, horizon=horizon)
    return SB3VecEnv(vec, BLUE, FirstStrike(*strikes), **options)
