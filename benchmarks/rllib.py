"""What batched training with RLlib must show, measured in one run: ``python -m benchmarks.rllib``.

PPO on the team battle: 24 agents, 4 policies, networks of 2 x 64, one epoch, minibatches of 2,048
rows, no remote env runner. RLlib's own env runner plays 24 worlds one by one through
`MultiAgentWrapper`, `batched` 256 worlds as arrays. All take turns, so that whatever else the
machine does meets them alike.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import statistics
import time

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner

from abmarl.examples import team_battle
from abmarl.external.rllib import batched

HORIZON = 200
# Worlds and steps of each per iteration.
SIZES = {"stock": (24, 88), "episodes": (256, 32), "columns": (256, 32)}
WANTED = {"episodes": 8, "columns": 12, "sampling": 20}


def algorithm(name):
    """PPO with the env runner of that name."""
    worlds, steps = SIZES[name]
    config = (
        PPOConfig()
        .env_runners(num_env_runners=0)
        .training(train_batch_size_per_learner=worlds * steps, minibatch_size=2048, num_epochs=1)
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64, 64]))
        .debugging(seed=1, log_level="ERROR")
    )
    mode = "columns" if name == "columns" else "episodes"
    config = batched(config, team_battle(), mode=mode, num_envs=worlds, horizon=HORIZON)
    if name == "stock":
        config.env_runners(env_runner_cls=MultiAgentEnvRunner)
    return config.build_algo()


def training_rate(algo) -> float:
    """Agent-steps per second of a whole iteration."""
    start = time.perf_counter()
    found = algo.train()["env_runners"]["num_agent_steps_sampled"]
    return sum(found.values()) / (time.perf_counter() - start)


def sampling_rate(algo) -> float:
    """Agent-steps per second of the env runner alone."""
    runner = algo.env_runner
    start = time.perf_counter()
    runner.sample()
    elapsed = time.perf_counter() - start
    found = runner.get_metrics()["num_agent_steps_sampled"]
    return sum(one.peek() for one in found.values()) / elapsed


def main(turns=7) -> None:
    """Measures and prints everything.

    Args:
        turns: how often each is measured, after one turn that does not count.
    """
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    algos = {name: algorithm(name) for name in SIZES}
    rates = {(what, name): [] for what in ("training", "sampling") for name in SIZES}
    for turn in range(turns + 1):
        for name, algo in algos.items():
            found = training_rate(algo), sampling_rate(algo)
            if turn:
                rates["training", name].append(found[0])
                rates["sampling", name].append(found[1])
    print(f"{'agent-steps per second':<24}{'median':>10}{'min':>10}{'max':>10}{'ratio':>8}  wanted")
    for (what, name), each in rates.items():
        ratio = statistics.median(
            ours / stock for ours, stock in zip(each, rates[what, "stock"], strict=True)
        )
        wanted = WANTED.get(name if what == "training" else what) if name != "stock" else None
        row = "".join(f"{one:>10,.0f}" for one in (statistics.median(each), min(each), max(each)))
        print(f"{what + ', ' + name:<24}{row}{ratio:>8.1f}  {f'>= {wanted}' if wanted else ''}")
    ray.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=7)
    main(parser.parse_args().turns)
