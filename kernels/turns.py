"""Whose turn it is: the agents that act in a step, in the order in which they act."""

from typing import NamedTuple

import numpy as np

from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.streams import shuffle


class Turns(NamedTuple):
    """Who acts, and what each of them wants on one channel.

    Actors walk through ``order``, so agents that are dead or done cost nothing.

    Attributes:
        order: int [B, N], agents in the order in which they act.
        num_turns: int64 [B], how many of them act.
        actions: Flat array of the actions; agent i of world b finds its action at
            ``action_of(turns, b, i)``.
        rows_of: int64 [N, 2], where the actions of every agent begin in world 0, and how much
            farther on in each of the next ones; below 0: the agent does not have the channel.
        fresh: Whether outcomes are cleared for all agents; else only for those that act.
    """

    order: np.ndarray
    num_turns: np.ndarray
    actions: np.ndarray
    rows_of: np.ndarray
    fresh: bool


@rule
def has_action(turns, i):
    """Return whether agent i has the channel."""
    return turns.rows_of[i, 0] >= 0


@rule
def action_of(turns, b, i):
    """Return where the action of agent i of world b stands in ``turns.actions``."""
    return turns.rows_of[i, 0] + b * turns.rows_of[i, 1]


@kernel
def take_turns(alive, active, in_random_order, streams, order, num_turns):
    """List the agents that are alive and active, bool [B, N] both, in order or shuffled."""
    for b in range(alive.shape[0]):
        count = 0
        for i in range(alive.shape[1]):
            order[b, count] = i
            count += alive[b, i] & active[b, i]
        num_turns[b] = count
        if in_random_order:
            shuffle(streams, b, order, count)


@kernel
def shuffle_turns(streams, order, count):
    """Shuffle the first ``count`` turns of world 0."""
    shuffle(streams, 0, order, count)
