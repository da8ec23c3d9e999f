import re

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from abmarl.gridworld.actor import BinaryAttackActor, CrossMoveActor
from abmarl.gridworld.agent import AttackingAgent, GridObservingAgent, MovingAgent
from abmarl.gridworld.done import ActiveDone
from abmarl.gridworld.observer import PositionCenteredEncodingObserver
from abmarl.gridworld.smart import SmartGridWorldSimulation
from abmarl.gridworld.state import HealthState, PositionState
from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.policies.policy import EpsilonSoftPolicy, GreedyPolicy, RandomPolicy
from abmarl.rollout import AgentPolicies, collect, load, save
from abmarl.sim.wrappers import RavelDiscreteWrapper
from abmarl.trainers import DebugTrainer, MonteCarloTrainer, MultiPolicyTrainer, SinglePolicyTrainer
from tests.support.chain_mdp import VecChain


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


class Fixed(GreedyPolicy):
    """The action of each state is that of a script."""

    def __init__(self, script):
        super().__init__(Discrete(2), Discrete(4))
        self.q_table[np.arange(len(script)), script] = 1


class Player(MultiPolicyTrainer):
    def train(self, **kwargs):
        return self.generate_trajectories(**kwargs)


def test_first_episodes_are_cut_out(script):
    """a0 goes at once and is done after 3 steps, a1 never goes and the horizon ends the world."""
    vec = VecChain(num_envs=2, horizon=5)
    policies = {"go": Fixed([1, 1, 1]), "stay": Fixed([0])}
    trainer = Player(vec, policies, lambda one: "go" if one == "a0" else "stay")
    found = trainer.train(horizon=50)
    assert found["go"].lengths.tolist() == [3, 3]
    assert found["go"].rewards[:3].T.tolist() == [[0, 0, 10]] * 2
    assert found["go"].observations[:3].T.tolist() == [[0, 1, 2]] * 2
    assert found["stay"].lengths.tolist() == [5, 5]
    # Both go: worlds end after 3 steps and begin again, which does not count.
    trainer = Player(vec, {"go": policies["go"]}, lambda one: "go")
    found = trainer.train(horizon=4)["go"]
    assert found.lengths.tolist() == [3] * 4
    assert Player(vec, policies, lambda one: "go").train(horizon=2)["stay"].lengths.size == 0


def test_actions_by_group():
    vec = VecChain(num_envs=2)
    trainer = Player(vec, {"a0": Fixed([1]), "a1": Fixed([0])}, lambda one: one)
    obs, _ = vec.reset()
    assert trainer.compute_actions(obs)["chain"].tolist() == [[1, 0], [1, 0]]
    vec.store.active[0, 0] = False
    assert trainer.compute_actions(obs)["chain"].tolist() == [[0, 0], [1, 0]]


def test_an_interrupt_ends_the_training():
    class Impatient(Fixed):
        calls = 0

        def compute_action_batch(self, obs, count):
            self.calls += 1
            if self.calls == 2:
                raise KeyboardInterrupt
            return super().compute_action_batch(obs, count)

    policy = Impatient([1, 1, 1])
    trainer = MonteCarloTrainer(VecChain(), policy)
    with pytest.raises(KeyboardInterrupt):
        trainer.train(iterations=5)
    assert policy.calls == 2
    assert not trainer.visits.any()


def test_what_needs_a_single_simulation(tmp_path):
    vec = VecChain()
    with pytest.raises(TypeError, match="come from generate_trajectories"):
        Player(vec, {"x": Fixed([1])}, lambda one: "x").generate_episode()
    with pytest.raises(TypeError, match="DebugTrainer follows a single simulation"):
        DebugTrainer(vec, output_dir=tmp_path)


def test_spaces_must_be_equal():
    policy = RandomPolicy(Discrete(2), Discrete(9))
    with pytest.raises(ValueError, match="observation_space of group 'chain' is Discrete"):
        Player(VecChain(), {"x": policy}, lambda one: "x")
    with pytest.raises(ValueError, match="group 'chain' has 2 agents, there are 3 policies"):
        AgentPolicies([policy] * 3).bind(VecChain(), "chain")


class Duellist(MovingAgent, GridObservingAgent, AttackingAgent):
    def __init__(self, **kwargs):
        super().__init__(
            encoding=1, view_range=1, move_range=1, attack_range=1, attack_strength=1.0,
            attack_accuracy=0.7, initial_health=1.0, group="duel", **kwargs,
        )  # fmt: skip


def duel():
    """Two on 2 x 3 cells; 262,144 windows and 10 actions."""
    return SmartGridWorldSimulation.build_sim(
        2, 3,
        agents={name: Duellist(id=name) for name in ("one", "two")},
        states=[PositionState, HealthState],
        actors=[BinaryAttackActor, CrossMoveActor],
        observers=[PositionCenteredEncodingObserver],
        dones=[ActiveDone],
        rewards={"kill": 1.0, "killed": -1.0, "move_failed": -0.1, "step": -0.01},
        attack_mapping={1: {1}},
    )  # fmt: skip


def test_a_world_of_many_is_the_single_simulation():
    vec = duel().vectorize(num_envs=6, seed=4).ravel()
    group = vec.groups["duel"]
    policy = GreedyPolicy(group.action_space, group.observation_space)
    policy.q_table[:] = np.random.default_rng(2).random(policy.q_table.shape)
    many = Player(vec, {"x": policy}, lambda one: "x").train(horizon=12)["x"]
    assert len(many) == 12
    single = AllStepManager(RavelDiscreteWrapper(duel()))
    for world in range(6):
        found = Player(single, {"x": policy}, lambda one: "x").train(horizon=12, seed=(4, world))
        one = found["x"]
        for agent in range(2):
            k = 2 * world + agent
            n = many.lengths[k]
            assert n == one.lengths[agent]
            for name in ("observations", "actions", "rewards"):
                ours, theirs = getattr(many, name)[:n, k], getattr(one, name)[:n, agent]
                assert np.array_equal(ours, theirs), name


def test_monte_carlo_on_the_engine():
    vec = duel().vectorize(num_envs=256, seed=4).ravel()
    group = vec.groups["duel"]
    policy = EpsilonSoftPolicy(group.action_space, group.observation_space, epsilon=0.2, seed=1)
    means = MonteCarloTrainer(vec, policy).train(iterations=8, gamma=0.9, horizon=20)
    # Kills and deaths cancel out; what can be saved are steps and moves against walls.
    assert means[-4:].mean() > means[0] + 0.05


def test_ravelled_rollouts_are_kept_and_saved(tmp_path):
    vec = duel().vectorize(num_envs=3, seed=4, horizon=6).ravel()
    group = vec.groups["duel"]
    policy = RandomPolicy(group.action_space, group.observation_space, seed=1)
    rollout = collect(vec, policy, 10, progress=False)
    seen, done = rollout.observations["duel"]["point"], rollout.actions["duel"]["point"]
    assert seen.shape == done.shape == (10, 3, 2)
    assert seen.dtype == np.int32
    assert seen.max() > 1000
    save(rollout, tmp_path / "run.npz")
    again = load(tmp_path / "run.npz")
    assert again.groups["duel"].action_space == group.action_space
    for (path, one), (other, two) in zip(rollout.arrays(), again.arrays(), strict=True):
        assert path == other
        assert np.array_equal(one, two)


def test_a_policy_acts_for_agents_with_channels():
    """In worlds that are not ravelled a policy has the spaces of the group."""
    vec = duel().vectorize(num_envs=3, seed=4, horizon=6)
    group = vec.groups["duel"]
    made = [
        collect(
            duel().vectorize(num_envs=3, seed=4, horizon=6),
            {"duel": RandomPolicy(group.action_space, group.observation_space, seed=seed)},
            10,
            progress=False,
        )
        for seed in (1, 1, 2)
    ]
    one, two, other = (rollout.actions["duel"] for rollout in made)
    assert all(np.array_equal(one[key], two[key]) for key in ("move", "attack"))
    assert not np.array_equal(one["move"], other["move"])
    idle = ~made[0].active["duel"]
    assert idle.any()
    assert not one["move"][idle].any()
