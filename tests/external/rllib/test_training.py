"""Whole algorithms of RLlib on batched worlds."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

import ray
from gymnasium.spaces import Discrete, MultiDiscrete
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.random_rlm import RandomRLModule

from abmarl.external.rllib import batched
from abmarl.sim.wrappers import SuperAgentWrapper
from tests.external.rllib.test_env_runner import masked
from tests.support.grid_worlds import corridor, skirmish

pytestmark = pytest.mark.usefixtures("ray_session")


def config(sim=skirmish, mode="episodes", runners=0, num_envs=4, horizon=7, **training):
    given = {"train_batch_size_per_learner": 64, "minibatch_size": 20, "num_epochs": 1}
    made = (
        PPOConfig()
        .env_runners(num_env_runners=runners)
        .training(**{**given, **training})
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[16, 16]))
        .debugging(seed=1)
        .evaluation(
            evaluation_interval=None, evaluation_duration=6, evaluation_num_env_runners=runners
        )
    )
    return batched(made, sim, mode=mode, num_envs=num_envs, horizon=horizon)


@pytest.fixture
def build():
    made = []

    def start(one):
        made.append(one.build_algo())
        return made[-1]

    yield start
    for algo in made:
        algo.stop()


@pytest.mark.parametrize("mode", ["episodes", "columns"])
def test_ppo_learns(build, mode):
    algo = build(
        config(
            corridor,
            mode,
            num_envs=32,
            horizon=20,
            train_batch_size_per_learner=1024,
            minibatch_size=256,
            num_epochs=4,
            lr=3e-3,
            gamma=0.95,
        )
    )
    best, steps = -9.0, 0
    while best < -0.4 and steps < 40_000:
        found = algo.train()["env_runners"]
        steps = found["num_env_steps_sampled_lifetime"]
        best = max(best, found["episode_return_mean"])
    assert best >= -0.4


def test_ppo_learns_for_several_agents(build):
    """Red alone learns: to kill both others, who stand and walk about at random."""
    made = config(
        mode="columns",
        num_envs=32,
        horizon=20,
        train_batch_size_per_learner=1024,
        minibatch_size=256,
        num_epochs=4,
        lr=3e-3,
    )
    algo = build(made.multi_agent(policies_to_train=["fighter_1"]))
    frozen = algo.get_module("fighter_2").get_state()
    reds = []
    for _ in range(25):
        found = algo.train()
        reds.append(found["env_runners"]["agent_episode_returns_mean"]["red"])
        if reds[-1] > 1.5:
            break
    assert reds[0] < 0.8
    assert reds[-1] > 1.5
    assert "total_loss" not in found["learners"].get("fighter_2", {})
    for key, value in algo.get_module("fighter_2").get_state().items():
        np.testing.assert_array_equal(value, frozen[key])


@pytest.mark.parametrize("mode", ["episodes", "columns"])
def test_action_masks(build, mode):
    algo = build(masked(mode))
    assert np.isfinite(algo.train()["learners"]["fighter_1"]["total_loss"])


@pytest.mark.parametrize("mode", ["episodes", "columns"])
def test_several_choices_per_action(build, mode):
    sim = SuperAgentWrapper(skirmish(), {"team": ["blue0", "blue1"]})
    many = SuperAgentWrapper(skirmish(), {"all": ["red", "blue0", "blue1"]})
    for one, name, space in ((sim, "team", Discrete), (many, "all", MultiDiscrete)):
        algo = build(config(one, mode))
        assert isinstance(algo.env_runner.env.action_spaces[name], space)
        assert np.isfinite(algo.train()["learners"][name]["total_loss"])


@pytest.mark.parametrize("mode", ["episodes", "columns"])
def test_an_opponent_that_is_no_network(build, mode):
    spec = MultiRLModuleSpec(
        rl_module_specs={
            "fighter_1": RLModuleSpec(model_config={"fcnet_hiddens": [8]}),
            "fighter_2": RLModuleSpec(module_class=RandomRLModule),
        }
    )
    made = (
        PPOConfig()
        .env_runners(num_env_runners=0)
        .training(train_batch_size_per_learner=64, minibatch_size=20, num_epochs=1)
        .rl_module(rl_module_spec=spec)
        .multi_agent(
            policies={"fighter_1", "fighter_2"},
            policies_to_train=["fighter_1"],
            policy_mapping_fn=lambda agent_id, *_, **__: (
                "fighter_1" if agent_id == "red" else "fighter_2"
            ),
        )
    )
    algo = build(batched(made, skirmish, mode=mode, num_envs=4, horizon=7))
    assert np.isfinite(algo.train()["learners"]["fighter_1"]["total_loss"])


@pytest.mark.parametrize("mode", ["episodes", "columns"])
def test_local_evaluation(build, mode):
    made = config(mode=mode).evaluation(evaluation_interval=1)
    found = build(made).train()["evaluation"]["env_runners"]
    assert found["num_episodes"] == 6
    assert 1 <= found["episode_len_mean"] <= 7


@pytest.mark.parametrize("mode", ["episodes", "columns"])
def test_checkpoint_goes_on_as_without_it(build, tmp_path, mode):
    algo = build(config(mode=mode))
    algo.train()
    algo.save_to_path(tmp_path)
    before = algo.env_runner.env.vec.state_dict()
    other = PPO.from_checkpoint(tmp_path)
    try:
        runner = other.env_runner
        for key, value in runner.env.vec.state_dict().items():
            np.testing.assert_array_equal(value, before[key])
        assert runner._ids == algo.env_runner._ids
        # Without exploration both go on alike.
        runs = [one.env_runner.sample(num_timesteps=40, explore=False) for one in (algo, other)]
    finally:
        other.stop()
    if mode == "columns":
        runs = [[one.rows["fighter_1"].obs for one in run] for run in runs]
    else:
        runs = [[s.agent_episodes["red"].get_observations() for s in run] for run in runs]
    np.testing.assert_equal(*runs)


def test_worlds_of_remote_env_runners_when_the_local_one_has_some(build, tmp_path):
    made = config(runners=1)
    algo = build(made.env_runners(create_env_on_local_worker=True))
    algo.train()
    algo.save_to_path(tmp_path)

    def remote():
        (found,) = algo.env_runner_group.foreach_env_runner(
            lambda runner: runner.save_worlds(), local_env_runner=False
        )
        return found[1]

    before = remote()
    algo.train()
    algo.restore_from_path(tmp_path)
    assert remote()["ids"] == before["ids"]
    np.testing.assert_equal(remote()["vec"], before["vec"])


def test_a_new_mapping_of_agents_to_policies(build):
    algo = build(config())
    algo.train()
    specs = algo.config.get_multi_rl_module_spec(spaces=algo.env_runner.get_spaces())
    algo.add_module(
        "newcomer",
        specs.rl_module_specs["fighter_1"],
        new_agent_to_module_mapping_fn=lambda agent_id, *_, **__: (
            "newcomer" if agent_id == "red" else "fighter_2"
        ),
        new_should_module_be_updated=["newcomer", "fighter_2"],
    )
    found = algo.train()["env_runners"]
    assert found["num_module_steps_sampled"]["newcomer"] > 0


@pytest.mark.slow
def test_remote_env_runners_and_a_killed_one(build, tmp_path):
    made = config(runners=2, train_batch_size_per_learner=256, minibatch_size=64)
    made.evaluation(evaluation_interval=2, evaluation_num_env_runners=1)
    algo = build(made.env_runners(num_env_runners=1))
    algo.train()
    found = algo.train()
    assert found["evaluation"]["env_runners"]["num_episodes"] == 6
    algo.save_to_path(tmp_path)
    (worlds,) = algo.env_runner_group.foreach_env_runner(
        lambda runner: runner.save_worlds(), local_env_runner=False
    )
    algo.restore_from_path(tmp_path)
    (restored,) = algo.env_runner_group.foreach_env_runner(
        lambda runner: runner.save_worlds(), local_env_runner=False
    )
    np.testing.assert_equal(restored[1]["vec"], worlds[1]["vec"])
    (pid,) = algo.env_runner_group.foreach_env_runner(
        lambda runner: os.getpid(), local_env_runner=False
    )
    (seed,) = algo.env_runner_group.foreach_env_runner(
        lambda runner: runner.env.vec.seed, local_env_runner=False
    )
    os.kill(pid, signal.SIGKILL)
    fresh, deadline = pid, time.monotonic() + 300  # iterations are short while nobody samples
    while time.monotonic() < deadline:
        found = algo.train()
        if found["env_runners"].get("num_env_steps_sampled", 0) >= 256:
            (fresh,) = algo.env_runner_group.foreach_env_runner(
                lambda runner: os.getpid(), local_env_runner=False
            )
            if fresh != pid:
                break
    assert fresh != pid
    assert seed == 2  # that of the config, and 1 for the first env runner
    (seed,) = algo.env_runner_group.foreach_env_runner(
        lambda runner: runner.env.vec.seed, local_env_runner=False
    )
    assert seed != 2  # its worlds do not come again
    assert ray.is_initialized()


SEEDED = """
import sys, warnings
warnings.simplefilter("ignore")
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from abmarl.examples import team_battle
from abmarl.external.rllib import batched

TEAMS = ["red", "blue", "green", "gray"]
ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
config = PPOConfig().env_runners(num_env_runners=0).debugging(seed=3)
config.training(train_batch_size_per_learner=800, minibatch_size=200, num_epochs=1)
config.multi_agent(
    policies=set(TEAMS), policy_mapping_fn=lambda agent_id, *_, **__: TEAMS[int(agent_id[5:]) % 4]
)
algo = batched(config, team_battle, num_envs=8, horizon=30, mode=sys.argv[1]).build_algo()
algo.train()
for team in TEAMS:
    weights = algo.get_module(team).parameters()
    print("weights of", team, sum(float(one.double().abs().sum()) for one in weights))
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["episodes", "columns"])
def test_the_same_seed_trains_the_same_in_every_process(mode):
    found = []
    for hash_seed in ("1", "2"):
        variables = {**os.environ, "PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-c", SEEDED, mode]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300)
        found.append([one for one in done.stdout.splitlines() if one.startswith("weights")])
    assert len(found[0]) == 4
    assert found[0] == found[1]
