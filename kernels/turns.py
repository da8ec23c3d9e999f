"""Whose turn it is: the agents that act in a step, in the order in which they act.

``turns[B, N]`` lists agents, ``num_turns[B]`` says how many of them count. Actors walk through
this list, so agents that are dead or done cost nothing.
"""

from abmarl.kernels.compile import kernel
from abmarl.kernels.streams import shuffle


@kernel
def take_turns(alive, active, in_random_order, rng, turns, num_turns):
    """Lists the agents that are alive and active, bool [B, N] both, in order or shuffled."""
    for b in range(alive.shape[0]):
        count = 0
        for i in range(alive.shape[1]):
            turns[b, count] = i
            count += alive[b, i] & active[b, i]
        num_turns[b] = count
        if in_random_order:
            shuffle(rng, b, turns, count)


@kernel
def shuffle_turns(rng, turns, count):
    """Shuffles the first ``count`` turns of world 0."""
    shuffle(rng, 0, turns, count)
