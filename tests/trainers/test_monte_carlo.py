import re

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.policies.policy import EpsilonSoftPolicy, GreedyPolicy, RandomPolicy
from abmarl.trainers import MonteCarloTrainer
from tests.trainers.probes import GO, STAY, VecChain

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
