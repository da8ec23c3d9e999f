import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abmarl.trainers import Trajectories, discounted_returns, first_visit_update, off_policy_update


def test_returns_by_hand():
    episodes = Trajectories.of([[0, 1, 2], [0]], [[0, 0, 0], [0]], [[1, 2, 4], [8]])
    episodes.rewards[1:, 1] = np.nan  # after the end of the second one
    assert discounted_returns(episodes, 0.5).tolist() == [[3, 8], [4, 0], [4, 0]]
    assert discounted_returns(episodes, 0).tolist() == [[1, 8], [2, 0], [4, 0]]


def test_first_visits_and_not_every_visit():
    """State 0 twice: the first visit is worth 1 + 1/2, the second 1; their mean would be 1.25."""
    table, visits = np.zeros((2, 2)), np.zeros((2, 2), int)
    first_visit_update(table, visits, Trajectories.of([[0, 0, 1]], [[1, 1]], [[1, 1]]), 0.5)
    assert table.tolist() == [[0, 1.5], [0, 0]]
    assert visits.tolist() == [[0, 1], [0, 0]]


def test_the_table_is_the_mean_over_all_episodes():
    table, visits = np.full((2, 2), 7.0), np.zeros((2, 2), int)
    one = Trajectories.of([[0, 1], [0]], [[0, 1], [0]], [[1, 2], [6]])
    first_visit_update(table, visits, one, 1)
    # What the table began with does not count.
    assert table.tolist() == [[(3 + 6) / 2, 7], [7, 2]]
    first_visit_update(table, visits, Trajectories.of([[0]], [[0]], [[0]]), 1)
    assert table.tolist() == [[3, 7], [7, 2]]
    assert visits.tolist() == [[3, 0], [0, 1]]


def naive_first_visits(episodes, gamma, shape):
    """Section 5.4, the loop of the book."""
    returns = {}
    for seen, done, got in episodes:
        value = 0.0
        for t in reversed(range(len(done))):
            value = gamma * value + got[t]
            pair = seen[t], done[t]
            if pair not in list(zip(seen[:t], done[:t], strict=True)):
                returns.setdefault(pair, []).append(value)
    table, visits = np.zeros(shape), np.zeros(shape, int)
    for pair, values in returns.items():
        table[pair], visits[pair] = np.mean(values), len(values)
    return table, visits


def naive_off_policy(episodes, chances, gamma, shape):
    """Section 5.7, the loop of the book."""
    table, total = np.zeros(shape), np.zeros(shape)
    for (seen, done, got), chance in zip(episodes, chances, strict=True):
        value, weight = 0.0, 1.0
        for t in reversed(range(len(done))):
            value = gamma * value + got[t]
            pair = seen[t], done[t]
            total[pair] += weight
            table[pair] += weight / total[pair] * (value - table[pair])
            if done[t] != table[seen[t]].argmax():
                break
            weight *= 1 / chance[t]
    return table, total


numbers = st.integers(0, 2)
steps = st.lists(st.tuples(numbers, numbers, st.integers(-9, 9), st.floats(0.1, 1)), max_size=12)
gammas = st.sampled_from([0, 0.5, 0.9, 1])


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, max_size=6), gammas, st.integers(0, 6))
def test_against_the_loops_of_the_book(found, gamma, cut):
    columns = [[list(column) for column in zip(*one, strict=True)] or [[]] * 4 for one in found]
    episodes = [tuple(one[:3]) for one in columns]
    chances = [one[3] for one in columns]

    def batch(part):
        return Trajectories.of(*(zip(*part, strict=True) if part else ((), (), ())))

    table, visits = np.zeros((3, 3)), np.zeros((3, 3), int)
    for part in (episodes[:cut], episodes[cut:]):
        first_visit_update(table, visits, batch(part), gamma)
    expected, count = naive_first_visits(episodes, gamma, (3, 3))
    assert np.allclose(table, expected)
    assert (visits == count).all()

    table, weights = np.zeros((3, 3)), np.zeros((3, 3))
    whole = batch(episodes)
    probabilities = np.ones(whole.rewards.shape)
    for k, chance in enumerate(chances):
        probabilities[: len(chance), k] = chance
    off_policy_update(table, weights, whole, probabilities, gamma)
    expected, total = naive_off_policy(episodes, chances, gamma, (3, 3))
    assert np.allclose(table, expected)
    assert np.allclose(weights, total)


def test_importance_weights_by_hand():
    """Two steps to a reward of 1, each taken with probability 1/4; then of 3, with 1/2.

    The last step has weight 1, the one before 4 and 2: (4 * 1 + 2 * 3) / 6 for it, 2 for the last.
    """
    table, weights = np.zeros((2, 2)), np.zeros((2, 2))
    episodes = Trajectories.of([[0, 1]] * 2, [[0, 0]] * 2, [[0, 1], [0, 3]])
    chances = np.array([[0.25, 0.5], [0.25, 0.5]])
    off_policy_update(table, weights, episodes, chances, 1.0)
    assert table.tolist() == [[pytest.approx(10 / 6), 0], [2, 0]]
    assert weights.tolist() == [[6, 0], [2, 0]]


def test_nothing_is_learned_before_an_action_that_is_not_greedy():
    table = np.array([[0.0, 0.0], [5.0, 0.0]])
    weights = np.array([[0.0, 0.0], [1.0, 0.0]])
    episodes = Trajectories.of([[0, 1]], [[0, 1]], [[0, 1]])
    off_policy_update(table, weights, episodes, np.full((2, 1), 0.5), 1.0)
    # Action 1 in state 1 is worth 1 and not greedy: state 0 learns nothing of it.
    assert table.tolist() == [[0, 0], [5, 1]]
    assert weights.tolist() == [[0, 0], [1, 1]]


def test_trajectories_from_lists():
    episodes = Trajectories.of([[3, 4], [5]], [[1], []], [[0.5], []])
    assert len(episodes) == 2
    assert episodes.lengths.tolist() == [1, 0]
    assert episodes.valid.tolist() == [[True, False]]
    assert episodes.observations.tolist() == [[3, 0]]
    with pytest.raises(ValueError, match="episode 1 has 2 observations, 2 actions and 1 rewards"):
        Trajectories.of([[0], [0, 0]], [[0], [0, 0]], [[0], [0]])
