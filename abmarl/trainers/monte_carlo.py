"""Monte Carlo control on tables: the rules on arrays, and the trainer that applies them.

Source of the algorithms: R. Sutton and A. Barto, Reinforcement Learning: An Introduction, 2nd
edition, 2018, sections 5.4 (on-policy, first visit) and 5.7 (off-policy).
"""

from typing import Any

import numpy as np

from abmarl.policies.policy import GreedyPolicy, Policy, QTablePolicy
from abmarl.trainers.base import SinglePolicyTrainer, Trajectories, check_horizon


class MonteCarloTrainer(SinglePolicyTrainer):
    """Monte Carlo control with one policy for all agents.

    Every agent's part of an episode is an episode of the algorithm. With a vectorised simulation an
    iteration is an episode of every world, and the table changes after all of them.

    Args:
        sim: a simulation manager, or a vectorised simulation, with `Discrete` spaces.
        policy: how the agents act. On-policy control improves it and so needs one that reads a
            table: `EpsilonSoftPolicy`. Off-policy control works with every policy that can tell a
            ``probability(obs, action)``; it must take any action now and then.

    Attributes:
        target_policy: the `GreedyPolicy` that off-policy control improves. It shares the table of
            a policy that has one.
        visits: int64 [observations, actions], how many returns on-policy control has seen.
        weights: float64 [observations, actions], the weights that off-policy control has summed up.

    Raises:
        TypeError: an argument is of the wrong kind, or a space of the policy is not `Discrete`.
        ValueError: an agent has other spaces than the policy.
    """

    def __init__(self, sim: Any, policy: Policy) -> None:
        super().__init__(sim, policy)
        self.target_policy = GreedyPolicy(
            policy.action_space,
            policy.observation_space,
            policy.q_table if isinstance(policy, QTablePolicy) else None,
        )
        self.visits: Any = None
        self.weights: Any = None

    def train(
        self,
        iterations: int = 10_000,
        gamma: float = 0.9,
        off_policy: bool = False,
        horizon: int = 200,
        seed: int | None = None,
        **kwargs: Any,
    ) -> np.ndarray:
        """Play and learn. Training again goes on with what was learned.

        Args:
            iterations: how many episodes; with a vectorised simulation, of each world.
            gamma: discount, in [0, 1].
            off_policy: whether to learn the greedy policy from what the trainer's policy does
                (Sutton and Barto, section 5.7); else the trainer's policy itself is improved, by
                first visits (section 5.4).
            horizon: steps after which an episode ends at the latest.
            seed: seed of the simulation in the first iteration; None goes on with its random
                stream. The policy has a seed of its own.
            **kwargs: for `generate_trajectories`.

        Returns:
            float64 [iterations], the sum of an episode's rewards, mean over agents and worlds.

        Raises:
            TypeError: a number is of the wrong kind, or the policy cannot be used in this way.
            ValueError: a number is out of its range.
        """
        check_horizon(iterations, "iterations")
        check_horizon(horizon)
        if isinstance(gamma, bool) or not isinstance(gamma, int | float | np.number):
            raise TypeError(f"gamma must be a number, got {gamma!r:.60}")
        if not 0 <= gamma <= 1:
            raise ValueError(f"gamma must lie in [0, 1], got {gamma}")
        learn = self._learn_off_policy if off_policy else self._learn_on_policy
        self._check_policy(off_policy)
        means = np.empty(iterations)
        for i in range(iterations):
            seeded = kwargs if seed is None or i else {**kwargs, "seed": seed}
            episodes = self.generate_trajectories(horizon, **seeded)["policy"]
            learn(episodes, gamma)
            total = np.where(episodes.valid, episodes.rewards, 0.0).sum()
            means[i] = total / max(len(episodes), 1)
        return means

    def _check_policy(self, off_policy: bool) -> None:
        shape = self.target_policy.q_table.shape
        if off_policy:
            if not hasattr(self.policy, "probability"):
                raise TypeError(
                    f"off-policy control needs a policy with probability(obs, action), as "
                    f"EpsilonSoftPolicy and RandomPolicy have, got {type(self.policy).__name__}"
                )
            if self.weights is None:
                self.weights = np.zeros(shape)
            return
        if not isinstance(self.policy, QTablePolicy):
            raise TypeError(
                f"on-policy control improves the table of a policy such as EpsilonSoftPolicy, "
                f"{type(self.policy).__name__} has none; use train(off_policy=True)"
            )
        if self.visits is None:
            self.visits = np.zeros(shape, np.int64)

    def _learn_on_policy(self, episodes: Trajectories, gamma: float) -> None:
        policy: Any = self.policy
        first_visit_update(policy.q_table, self.visits, self._placed(episodes), gamma)

    def _learn_off_policy(self, episodes: Trajectories, gamma: float) -> None:
        policy: Any = self.policy
        valid = episodes.valid
        chances = np.ones(valid.shape)
        chances[valid] = policy.probability(episodes.observations[valid], episodes.actions[valid])
        off_policy_update(
            self.target_policy.q_table, self.weights, self._placed(episodes), chances, gamma
        )

    def _placed(self, episodes: Trajectories) -> Trajectories:
        """Return the same with rows and columns of the table."""
        valid = episodes.valid
        rows, columns = np.zeros(valid.shape, np.int64), np.zeros(valid.shape, np.int64)
        rows[valid] = self.target_policy.rows(episodes.observations[valid])
        columns[valid] = self.target_policy.columns(episodes.actions[valid])
        return Trajectories(rows, columns, episodes.rewards, episodes.lengths)


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
