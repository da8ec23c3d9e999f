import re

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from hypothesis import given, settings
from hypothesis import strategies as st

from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.policies.policy import EpsilonSoftPolicy, GreedyPolicy, RandomPolicy
from abmarl.trainers import (
    MonteCarloTrainer,
    Trajectories,
    discounted_returns,
    first_visit_update,
    off_policy_update,
)
from tests.support.chain_mdp import GO, STAY, VecChain

# Values of going in a chain of three, when the rest is gone as well: 10, discounted by 0.5.
GONE = [2.5, 5, 10]


def managed(kind, chain):
    return VecChain() if kind == "vec" else kind(chain(num_agents=2))


KINDS = pytest.mark.parametrize("kind", [AllStepManager, TurnBasedManager, "vec"])


@KINDS
def test_on_policy_control_solves_the_chain(chain, soft, kind):
    policy = soft(epsilon=0.3)
    trainer = MonteCarloTrainer(managed(kind, chain), policy)
    means = trainer.train(iterations=150, gamma=0.5, horizon=40)
    assert policy.q_table[:3].argmax(axis=1).tolist() == [GO] * 3
    # One step before the end nothing but the reward follows: the value is exact.
    assert policy.q_table[2, GO] == 10
    # Before, it is less than that of the greedy policy, for the policy stays now and then.
    assert (policy.q_table[:2, GO] < GONE[:2]).all()
    assert (policy.q_table[:2, GO] > np.multiply(GONE[:2], 0.6)).all()
    assert means.shape == (150,)
    assert means[-50:].mean() > 9


@KINDS
def test_off_policy_control_finds_the_values_of_the_greedy_policy(chain, kind):
    behaviour = RandomPolicy(Discrete(2), Discrete(4), seed=5)
    trainer = MonteCarloTrainer(managed(kind, chain), behaviour)
    trainer.train(iterations=300, gamma=0.5, off_policy=True, horizon=40)
    table = trainer.target_policy.q_table
    assert table[:3].argmax(axis=1).tolist() == [GO] * 3
    # Early episodes were played back from another greedy policy; their share fades.
    assert np.allclose(table[:3, GO], GONE, rtol=0.02)
    assert np.allclose(table[2, STAY], -1 + 0.5 * 10, rtol=0.1)
    assert trainer.visits is None


def test_off_policy_control_improves_the_behaviour_that_shares_the_table(chain, soft):
    policy = soft(epsilon=0.5)
    trainer = MonteCarloTrainer(AllStepManager(chain()), policy)
    assert trainer.target_policy.q_table is policy.q_table
    trainer.train(iterations=200, gamma=0.5, off_policy=True)
    assert policy.q_table[:3].argmax(axis=1).tolist() == [GO] * 3


def test_one_iteration_by_hand(chain, script, soft):
    """Stay, stay, go, go, go from state 0 with gamma 1: returns 8, 9, 10, 10, 10."""
    trainer = MonteCarloTrainer(AllStepManager(chain()), soft())
    played = script([0, 0, 1, 1, 1])
    trainer.policy.reset, trainer.policy.compute_action = played.reset, played.compute_action
    assert trainer.train(iterations=1, gamma=1).tolist() == [8]
    # The second stay, worth 9, is no first visit.
    assert trainer.policy.q_table.tolist() == [[8, 10], [0, 10], [0, 10], [0, 0]]
    assert trainer.visits.tolist() == [[1, 1], [0, 1], [0, 1], [0, 0]]
    trainer.train(iterations=1, gamma=1)
    assert trainer.visits.tolist() == [[2, 2], [0, 2], [0, 2], [0, 0]]


def test_weights_by_hand(chain, script):
    """Two steps before the end the weight is (1 / 0.5) ** 2, as all actions are greedy."""
    behaviour = RandomPolicy(Discrete(2), Discrete(4))
    trainer = MonteCarloTrainer(AllStepManager(chain()), behaviour)
    played = script([1, 1, 1])
    behaviour.reset, behaviour.compute_action = played.reset, played.compute_action
    trainer.train(iterations=1, gamma=0.5, off_policy=True)
    assert trainer.target_policy.q_table[:, GO].tolist() == [*GONE, 0]
    assert trainer.weights.tolist() == [[0, 4], [0, 2], [0, 1], [0, 0]]


def test_spaces_that_do_not_start_at_0(chain, script):
    class Shifted(chain):
        def get_obs(self, agent_id, **kwargs):
            return super().get_obs(agent_id) + 7

        def step(self, action_dict, **kwargs):
            super().step({key: action + 1 for key, action in action_dict.items()})

    sim = Shifted()
    sim.agents["a0"].observation_space = Discrete(4, start=7)
    sim.agents["a0"].action_space = Discrete(2, start=-1)
    policy = EpsilonSoftPolicy(Discrete(2, start=-1), Discrete(4, start=7), epsilon=0.3, seed=1)
    MonteCarloTrainer(AllStepManager(sim), policy).train(iterations=50, gamma=0.5)
    assert policy.q_table[2, GO] == 10


@KINDS
@pytest.mark.parametrize("off_policy", [False, True])
def test_the_seeds_decide(chain, soft, kind, off_policy):
    def table(seed, policy_seed):
        sim = kind(chain(num_agents=2, slip=0.3)) if kind != "vec" else VecChain()
        trainer = MonteCarloTrainer(sim, soft(0.5, policy_seed))
        trainer.train(iterations=5, off_policy=off_policy, seed=seed)
        counts = trainer.weights if off_policy else trainer.visits
        return trainer.policy.q_table.tolist(), counts.tolist()

    assert table(1, 2) == table(1, 2)
    assert table(1, 2) != table(1, 3)
    if kind != "vec":  # a VecChain has no chance in it
        assert table(1, 2) != table(2, 2)


def test_seed_is_for_the_first_iteration(soft):
    vec = VecChain()
    MonteCarloTrainer(vec, soft()).train(iterations=3, seed=8)
    assert vec.seeds == [8, None, None]


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"iterations": 0}, ValueError, "iterations must be 1 or more"),
        ({"iterations": 1.5}, TypeError, "iterations must be an int"),
        ({"horizon": 0}, ValueError, "horizon must be 1 or more"),
        ({"gamma": 1.5}, ValueError, "gamma must lie in [0, 1], got 1.5"),
        ({"gamma": "0.9"}, TypeError, "gamma must be a number"),
    ],
)
def test_bad_numbers(chain, soft, kwargs, error, message):
    sim = chain()
    trainer = MonteCarloTrainer(AllStepManager(sim), soft())
    with pytest.raises(error, match=re.escape(message)):
        trainer.train(**kwargs)
    assert not hasattr(sim, "state")


def test_policies_that_cannot_be_trained(chain, script):
    sim = AllStepManager(chain())
    trainer = MonteCarloTrainer(sim, RandomPolicy(Discrete(2), Discrete(4)))
    with pytest.raises(TypeError, match=r"RandomPolicy has none; use train\(off_policy=True\)"):
        trainer.train()
    with pytest.raises(TypeError, match=r"needs a policy with probability.*got Script"):
        MonteCarloTrainer(sim, script([0])).train(off_policy=True)
    with pytest.raises(ValueError, match="they must be equal"):
        MonteCarloTrainer(sim, GreedyPolicy(Discrete(2), Discrete(5)))
    sim.agents["a0"].observation_space = box = Box(0, 1, (1,))
    with pytest.raises(TypeError, match="observation_space must be Discrete"):
        MonteCarloTrainer(sim, RandomPolicy(Discrete(2), box))


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
