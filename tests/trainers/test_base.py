import re

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.policies.policy import RandomPolicy
from abmarl.trainers import MultiPolicyTrainer, SinglePolicyTrainer


class Single(SinglePolicyTrainer):
    def train(self, **kwargs):
        return self.generate_episode(**kwargs)


class Multi(MultiPolicyTrainer):
    def train(self, **kwargs):
        return self.generate_episode(**kwargs)


def test_an_episode(chain, script):
    sim = chain()
    trainer = Single(AllStepManager(sim), script([1, 0, 1, 1]))
    for _ in range(2):
        assert trainer.train() == (
            {"a0": [0, 1, 1, 2, 3]},
            {"a0": [1, 0, 1, 1]},
            {"a0": [0, -1, 0, 10]},
            {"a0": [False, False, False, True]},
        )
    assert sim.rendered == 0


def test_horizon_and_rendering(chain, script):
    sim = chain()
    trainer = Single(AllStepManager(sim), script([0] * 9))
    obs, actions, _, dones = trainer.train(horizon=3, render=True)
    assert (obs["a0"], actions["a0"], dones["a0"]) == ([0] * 4, [0] * 3, [False] * 3)
    assert sim.rendered == 4


def test_the_custom_trainer_of_the_documents(chain, soft):
    class MyCustomTrainer(SinglePolicyTrainer):
        def train(self, iterations=10, gamma=0.9, **kwargs):
            for _ in range(iterations):
                states, actions, rewards, _ = self.generate_episode(**kwargs)
                self.policy.update(states, actions, rewards)

    MyCustomTrainer(AllStepManager(chain()), soft(0.5)).train(iterations=3, horizon=30)


def test_agents_that_are_done_act_no_more(chain, script):
    sim = chain(num_agents=2)
    policies = {"fast": script([1, 1, 1]), "slow": script([0, 1, 1, 1])}
    trainer = Multi(AllStepManager(sim), policies, lambda one: "fast" if one == "a0" else "slow")
    obs, actions, rewards, dones = trainer.train()
    assert actions == {"a0": [1, 1, 1], "a1": [0, 1, 1, 1]}
    assert obs == {"a0": [0, 1, 2, 3], "a1": [0, 0, 1, 2, 3]}
    assert rewards == {"a0": [0, 0, 10], "a1": [-1, 0, 0, 10]}
    assert dones["a0"] == [False, False, True]


def test_compute_actions_leaves_out_who_is_done(chain, script):
    sim = AllStepManager(chain(length=1, num_agents=2))
    policies = {"a0": script([1], 1), "a1": script([0, 0], 1)}
    trainer = Multi(sim, policies, lambda agent_id: agent_id)
    for policy in policies.values():
        policy.reset()
    obs = sim.reset()
    assert trainer.compute_actions(obs) == {"a0": 1, "a1": 0}
    obs, *_ = sim.step({"a0": 1, "a1": 0})
    assert list(obs) == ["a0", "a1"]
    assert trainer.compute_actions(obs) == {"a1": 0}
    with pytest.raises(ValueError, match="observation of 'z', which is no learning agent"):
        trainer.compute_actions({"z": 0})


def test_rewards_belong_to_actions_when_agents_take_turns(chain, script):
    """The reward comes with the agent's next turn, or at the end."""
    sim = chain(length=2, num_agents=2)
    events = []
    policies = {"a0": script([0, 1, 1], 2), "a1": script([1, 0, 1], 2)}
    trainer = Multi(TurnBasedManager(sim), policies, lambda agent_id: agent_id)
    obs, actions, rewards, dones = trainer.train(log=lambda *event: events.append(event))
    assert actions == {"a0": [0, 1, 1], "a1": [1, 0, 1]}
    assert rewards == {"a0": [-1, 0, 10], "a1": [0, -1, 10]}
    assert obs == {"a0": [0, 0, 1, 2], "a1": [0, 1, 1, 2]}
    assert dones == {"a0": [False, False, True], "a1": [False, False, True]}
    assert [event[0] for event in events] == list(range(7))
    assert events[0] == (0, {}, ({"a0": 0}, {}, {}, {}))
    assert events[1][1] == {"a0": 0}
    assert events[1][2] == ({"a1": 0}, {"a1": 0}, {"a1": False, "__all__": False}, {"a1": {}})
    # A horizon that comes before the outcome of a0's second action, and before a1's first.
    obs, actions, rewards, _ = trainer.train(horizon=2)
    assert actions == {"a0": [0], "a1": [1]}
    assert rewards == {"a0": [-1], "a1": []}


def test_trajectories_by_policy(chain, script):
    sim = chain(num_agents=3)
    policies = {"x": script([1, 0, 1, 0, 1, 1]), "y": script([1, 1, 1])}
    trainer = Multi(AllStepManager(sim), policies, lambda one: "y" if one == "a1" else "x")
    found = trainer.generate_trajectories(horizon=3)
    # a0 and a2 share a script: 1, 1, 1 and 0, 0, 1.
    assert found["x"].actions.T.tolist() == [[1, 1, 1], [0, 0, 1]]
    assert found["x"].observations.T.tolist() == [[0, 1, 2], [0, 0, 0]]
    assert found["x"].rewards.T.tolist() == [[0, 0, 10], [-1, -1, 0]]
    assert found["y"].lengths.tolist() == [3]


def test_trajectories_with_turns(chain, script):
    trainer = Single(TurnBasedManager(chain(num_agents=2)), script([1, 0, 1]))
    found = trainer.generate_trajectories(horizon=3)["policy"]
    # a0 acts, a1 acts, a0 acts again: the outcome of the third action was not reported.
    assert found.lengths.tolist() == [1, 1]
    assert found.actions.tolist() == [[1, 0]]


def test_seed_reaches_the_simulation(chain, soft):
    def play(seed):
        trainer = Single(AllStepManager(chain(slip=0.5)), soft(0.5, seed=1))
        return trainer.train(seed=seed)

    assert play(3) == play(3)
    assert len({str(play(seed)) for seed in range(5)}) > 1


def policy(observations=4, actions=2):
    return RandomPolicy(Discrete(actions), Discrete(observations))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda sim: Single(sim.sim, policy()), TypeError, "write AllStepManager(sim)"),
        (lambda sim: Single(sim, "random"), TypeError, "policy must be a Policy, got str"),
        (
            lambda sim: Single(sim, policy(observations=5)),
            ValueError,
            "the observation_space of agent 'a0' is Discrete(4), its policy's is Discrete(5)",
        ),
        (
            lambda sim: Single(sim, policy(actions=3)),
            ValueError,
            "the action_space of agent 'a0' is Discrete(2), its policy's is Discrete(3)",
        ),
        (
            lambda sim: Multi(sim, {"x": policy()}, lambda one: "y"),
            ValueError,
            "maps agent 'a0' to 'y', which is not among the policies 'x'",
        ),
        (lambda sim: Multi(sim, {"x": 3}, str), TypeError, "policies['x'] must be a Policy"),
        (lambda sim: Multi(sim, {}, str), TypeError, "policies must be a dict"),
        (lambda sim: Multi(sim, {"x": policy()}, "x"), TypeError, "must be a function"),
    ],
)
def test_bad_parameters(chain, make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make(AllStepManager(chain()))


def test_only_learning_agents_need_a_policy(chain):
    from abmarl.sim import PrincipleAgent

    sim = chain()
    sim.agents["wall"] = PrincipleAgent(id="wall")
    asked = []
    Multi(AllStepManager(sim), {"x": policy()}, lambda one: asked.append(one) or "x")
    assert asked == ["a0"]


@pytest.mark.parametrize("horizon", [0, 1.5, None, True])
def test_bad_horizons(chain, horizon):
    trainer = Single(AllStepManager(chain()), policy())
    with pytest.raises((TypeError, ValueError), match="horizon must be"):
        trainer.train(horizon=horizon)


def test_the_base_does_not_train(chain):
    with pytest.raises(TypeError, match="abstract"):
        SinglePolicyTrainer(AllStepManager(chain()), policy())


def test_tables_need_numbers(chain):
    sim = chain()
    box = Box(0, 1, (1,), np.float32)
    sim.agents["a0"].observation_space = box
    trainer = Single(AllStepManager(sim), RandomPolicy(Discrete(2), box))
    with pytest.raises(TypeError, match="observation_space of policy 'policy' must be Discrete"):
        trainer.generate_trajectories()
