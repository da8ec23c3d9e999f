"""Twins of the kernels that do bookkeeping on arrays: plain loops over nested lists."""

import math


def close_step(done, over, horizon, rewards, running, alive, length, returns):
    """One world's end of a step; lists are changed in place.

    Returns:
        (terminated, truncated, ended, length).
    """
    numbers = range(len(done))
    if not running:
        return [False] * len(done), [False] * len(done), False, length
    length += 1
    acted = list(alive)
    late = horizon > 0 and length >= horizon
    terminated = [acted[i] and (done[i] or over) for i in numbers]
    truncated = [acted[i] and not terminated[i] and late for i in numbers]
    for i in numbers:
        if acted[i]:
            returns[i] += rewards[i]
        alive[i] = acted[i] and not terminated[i] and not truncated[i]
    return terminated, truncated, over or late or not any(alive), length


def add_rewards(addend, rewards):
    """Nested lists; the first entry that is not finite, or -1 and the sum in ``rewards``."""
    flat = [value for row in addend for value in row]
    for k, value in enumerate(flat):
        if not math.isfinite(value):
            return k
    for row, more in zip(rewards, addend, strict=True):
        for i, value in enumerate(more):
            row[i] += value
    return -1


def draw_samples(stream, ranges):
    """One uniform integer per (low, high), both inclusive."""
    return [low + stream.below(high - low + 1) for low, high in ranges]
