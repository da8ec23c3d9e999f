import re

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from hypothesis import example, given, settings
from hypothesis import strategies as st

from abmarl.policies.policy import (
    EpsilonSoftPolicy,
    GreedyPolicy,
    Policy,
    QTablePolicy,
    RandomPolicy,
)

# Actions -1, 0, 1 and observations 5, 6: what counts from 0 is found out.
ACTIONS, OBSERVATIONS = spaces.Discrete(3, start=-1), spaces.Discrete(2, start=5)
TABLE = np.array([[0.0, 2.0, 1.0], [3.0, 3.0, -1.0]])


def epsilon_soft(epsilon, seed=0):
    return EpsilonSoftPolicy(ACTIONS, OBSERVATIONS, TABLE.copy(), epsilon=epsilon, seed=seed)


def test_greedy_takes_the_first_of_the_best():
    policy = GreedyPolicy(ACTIONS, OBSERVATIONS, TABLE)
    assert [policy.compute_action(obs) for obs in (5, 6)] == [0, -1]
    assert policy.compute_action(np.int64(5)) == 0
    assert policy.compute_action_batch(np.array([6, 5, 5]), 3).tolist() == [-1, 0, 0]
    assert policy.probability(np.array([5, 5, 6]), np.array([0, 1, -1])).tolist() == [1, 0, 1]


def test_the_table_is_shared_and_starts_with_zeros():
    fresh = GreedyPolicy(ACTIONS, OBSERVATIONS)
    assert fresh.q_table.tolist() == [[0, 0, 0], [0, 0, 0]]
    fresh.q_table[0, 2] = 1
    assert GreedyPolicy(ACTIONS, OBSERVATIONS, fresh.q_table).compute_action(5) == 1


def test_epsilon_soft_probabilities():
    policy = epsilon_soft(0.3)
    chances = [[policy.probability(obs, action) for action in (-1, 0, 1)] for obs in (5, 6)]
    assert np.allclose(chances, [[0.1, 0.8, 0.1], [0.8, 0.1, 0.1]])


def test_epsilon_soft_acts_with_its_probabilities():
    policy = epsilon_soft(0.6, seed=3)
    found = policy.compute_action_batch(np.full(30_000, 5), 30_000)
    counts = np.bincount(found + 1, minlength=3) / 30_000
    # Three standard deviations of a share of 0.2 are 0.007.
    assert np.allclose(counts, [0.2, 0.6, 0.2], atol=0.01)


def test_epsilon_0_is_greedy_and_1_is_random():
    obs = np.array([5, 6] * 500)
    assert (epsilon_soft(0).compute_action_batch(obs, 1000) == np.array([0, -1] * 500)).all()
    assert set(epsilon_soft(1).compute_action_batch(obs, 1000)) == {-1, 0, 1}


@settings(max_examples=30, deadline=None)
@given(st.floats(0, 1), st.integers(0, 1000), st.lists(st.integers(5, 6), max_size=40))
@example(epsilon=2.3e-311, seed=0, obs=[5])
def test_a_batch_does_what_single_calls_do(epsilon, seed, obs):
    single, batch = epsilon_soft(epsilon, seed), epsilon_soft(epsilon, seed)
    expected = [single.compute_action(one) for one in obs]
    assert batch.compute_action_batch(np.array(obs, int), len(obs)).tolist() == expected


NESTED = {"a": spaces.Box(-2, 3, (2, 2), np.int8), "b": spaces.Tuple((spaces.Discrete(4),))}


def test_random_policy_is_in_its_space_and_of_its_seed():
    policies = [RandomPolicy(NESTED, OBSERVATIONS, seed=seed) for seed in (1, 1, 2)]
    one, two, other = ([policy.compute_action(5) for _ in range(20)] for policy in policies)
    assert all(action in policies[0].action_space for action in one)
    assert repr(one) == repr(two) != repr(other)
    batch = RandomPolicy(NESTED, OBSERVATIONS, seed=1).compute_action_batch(np.full(20, 5), 20)
    assert batch in batch_space(policies[0].action_space, 20)
    assert (batch["a"] == [action["a"] for action in one]).all()


def test_random_policy_leaves_the_space_of_others_alone():
    space = spaces.Discrete(1000, seed=7)
    RandomPolicy(space, OBSERVATIONS, seed=1).compute_action(5)
    assert space.sample() == spaces.Discrete(1000, seed=7).sample()


def test_random_probability():
    policy = RandomPolicy(ACTIONS, OBSERVATIONS)
    assert policy.probability(5, 0) == pytest.approx(1 / 3)
    assert policy.probability(np.array([5, 6]), np.array([0, 1])).tolist() == [1 / 3, 1 / 3]
    with pytest.raises(TypeError, match="action_space must be Discrete"):
        RandomPolicy(NESTED, OBSERVATIONS).probability(5, 0)


def test_a_policy_of_ones_own_acts_in_batches():
    class Sum(Policy):
        def compute_action(self, obs):
            return {"a": obs["b"][0] + np.zeros((2, 2), np.int8), "b": (int(obs["a"].sum()),)}

    policy = Sum(NESTED, NESTED)
    obs = {"a": np.zeros((3, 2, 2), np.int8), "b": (np.array([0, 1, 2]),)}
    obs["a"][1, 0, 1] = 3
    found = policy.compute_action_batch(obs, 3)
    assert found["a"][:, 1, 1].tolist() == [0, 1, 2]
    assert found["b"][0].tolist() == [0, 3, 0]
    assert policy.compute_action_batch({"a": obs["a"][:0], "b": (np.array([], int),)}, 0)[
        "a"
    ].shape == (0, 2, 2)
    policy.update("anything", at="all")
    policy.reset()


def test_old_gym_spaces_are_accepted():
    gym = pytest.importorskip("gym")
    policy = GreedyPolicy(gym.spaces.Discrete(3), gym.spaces.Discrete(2))
    assert policy.action_space == spaces.Discrete(3)
    assert policy.compute_action(1) == 0


@pytest.mark.parametrize("obs", [4, 7, 5.0, "a", None, [5]])
def test_observations_outside_are_refused(obs):
    with pytest.raises(ValueError, match="does not lie in the policy's observation space"):
        epsilon_soft(0.1).compute_action(obs)


def test_batches_outside_are_refused():
    with pytest.raises(ValueError, match="the observation 7 does not lie in the policy's space"):
        epsilon_soft(0.1).compute_action_batch(np.array([5, 7]), 2)
    with pytest.raises(ValueError, match="the action 2 does not lie"):
        epsilon_soft(0.1).probability(5, 2)
    with pytest.raises(ValueError, match="observations must be integers"):
        GreedyPolicy(ACTIONS, OBSERVATIONS).compute_action_batch(np.array([5.0]), 1)


BOX = spaces.Box(0, 1, (2,))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RandomPolicy(3, OBSERVATIONS), TypeError, "action_space must be a space"),
        (lambda: RandomPolicy(ACTIONS, None), TypeError, "observation_space must be a space"),
        (lambda: RandomPolicy(ACTIONS, OBSERVATIONS, seed="x"), TypeError, "None or an int"),
        (lambda: RandomPolicy(ACTIONS, OBSERVATIONS, seed=-1), ValueError, "not be negative"),
        (lambda: GreedyPolicy(BOX, OBSERVATIONS), TypeError, "action_space must be Discrete"),
        (lambda: GreedyPolicy(ACTIONS, BOX), TypeError, "observation_space must be Discrete"),
        (lambda: GreedyPolicy(ACTIONS, OBSERVATIONS, TABLE.T), ValueError, "shape (2, 3)"),
        (lambda: GreedyPolicy(ACTIONS, OBSERVATIONS, [[0.0]]), TypeError, "float64 array"),
        (lambda: GreedyPolicy(ACTIONS, OBSERVATIONS, TABLE > 1), TypeError, "got bool"),
        (lambda: epsilon_soft(1.1), ValueError, "epsilon must lie in [0, 1], got 1.1"),
        (lambda: epsilon_soft(float("nan")), ValueError, "epsilon must lie in [0, 1], got nan"),
        (lambda: epsilon_soft("often"), TypeError, "epsilon must be a number"),
        (
            lambda: GreedyPolicy(ACTIONS, spaces.Discrete(2**60)),
            MemoryError,
            "a table of 1152921504606846976 observations and 3 actions takes",
        ),
    ],
)
def test_bad_parameters(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()


def test_the_table_policy_leaves_the_choice_to_others():
    with pytest.raises(TypeError, match="abstract"):
        QTablePolicy(ACTIONS, OBSERVATIONS)
