"""Monte Carlo control on tables.

Source of the algorithms: R. Sutton and A. Barto, Reinforcement Learning: An Introduction, 2nd
edition, 2018, sections 5.4 (on-policy, first visit) and 5.7 (off-policy).
"""

import numpy as np

from abmarl.algs.trajectories import Trajectories


def discounted_returns(episodes: Trajectories, gamma: float) -> np.ndarray:
    """Return what follows each step: G(t) = R(t+1) + gamma * G(t+1), 0 after the end.

    Args:
        episodes: T steps of K episodes.
        gamma: discount, in [0, 1].

    Returns:
        float64 [T, K]; entries that are not steps are 0.
    """
    returns = np.where(episodes.valid, episodes.rewards, 0.0)
    for t in range(len(returns) - 2, -1, -1):
        returns[t] += gamma * returns[t + 1]
    return returns


def first_visit_update(
    q_table: np.ndarray, visits: np.ndarray, episodes: Trajectories, gamma: float
) -> None:
    """On-policy evaluation: the table becomes the mean of all first-visit returns so far.

    Section 5.4. Within an episode only the first time counts that an action is taken for an
    observation.

    Args:
        q_table: float64 [observations, actions], changed in place.
        visits: int64 of the same shape, how many returns each mean is over; changed in place.
        episodes: rows and columns of the table, and rewards.
        gamma: discount, in [0, 1].
    """
    steps = np.flatnonzero(episodes.valid)
    pairs = np.ravel_multi_index(
        (episodes.observations.flat[steps], episodes.actions.flat[steps]), q_table.shape
    )
    # Steps are in the order of time, and unique returns the first of each pair of an episode.
    episode = steps % max(len(episodes), 1)
    _, first = np.unique(episode * q_table.size + pairs, return_index=True)
    returns = discounted_returns(episodes, gamma).flat[steps[first]]
    where, which = np.unique(pairs[first], return_inverse=True)
    before, new = visits.flat[where], np.bincount(which, minlength=len(where))
    total = q_table.flat[where] * before + np.bincount(which, returns, len(where))
    visits.flat[where] = before + new
    q_table.flat[where] = total / (before + new)


def off_policy_update(
    q_table: np.ndarray,
    weights: np.ndarray,
    episodes: Trajectories,
    probabilities: np.ndarray,
    gamma: float,
) -> None:
    """Off-policy control: the values of the greedy policy, from episodes of another one.

    Section 5.7, with weighted importance sampling: every episode counts from its end back to the
    last action that is not the greedy one, with the weight 1 / b(A|S) per later step.

    Args:
        q_table: float64 [observations, actions], changed in place.
        weights: float64 of the same shape, the sum of weights so far; changed in place.
        episodes: rows and columns of the table, and rewards.
        probabilities: float64 [T, K], how probable each action was for the policy that acted.
        gamma: discount, in [0, 1].
    """
    for k, length in enumerate(episodes.lengths.tolist()):
        value, weight = 0.0, 1.0
        for t in range(length - 1, -1, -1):
            row, column = episodes.observations[t, k], episodes.actions[t, k]
            value = gamma * value + episodes.rewards[t, k]
            weights[row, column] += weight
            share = weight / weights[row, column]
            q_table[row, column] += share * (value - q_table[row, column])
            if q_table[row].argmax() != column:
                break
            weight /= probabilities[t, k]
