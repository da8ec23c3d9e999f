"""Generalised advantage estimation on columns in the order of time."""

import numpy as np

from abmarl.external.rllib.recorder import Rows


def advantages(
    rows: Rows, values: np.ndarray, tail_values: np.ndarray, gamma: float, lambda_: float
) -> np.ndarray:
    """Advantages as in Schulman et al., "High-dimensional continuous control using generalized
    advantage estimation" (2016), equations 11 and 16.

    An agent that was terminated has no value to come; one that was truncated, or that goes on
    after the last row, has that of what it saw then.

    Args:
        rows: K rows of one policy.
        values: float [K], the value of each row's observation.
        tail_values: float, the value of each tail.
        gamma, lambda_: discount and decay.

    Returns:
        float32 [K].
    """
    ends = rows.tail_of >= 0
    to_come = np.zeros(len(rows))
    bootstrapped = ends & ~rows.terminated
    to_come[bootstrapped] = tail_values[rows.tail_of[bootstrapped]]
    num_slots = int(rows.slots.max()) + 1
    next_value, following = np.zeros(num_slots), np.zeros(num_slots)
    found = np.empty(len(rows))
    for first, last in zip(rows.starts[-2::-1], rows.starts[:0:-1], strict=True):
        step = slice(first, last)
        slots, goes_on = rows.slots[step], ~ends[step]
        after = np.where(goes_on, next_value[slots], to_come[step])
        found[step] = rows.rewards[step] + gamma * after - values[step]
        found[step] += gamma * lambda_ * goes_on * following[slots]
        next_value[slots], following[slots] = values[step], found[step]
    return found.astype(np.float32)
