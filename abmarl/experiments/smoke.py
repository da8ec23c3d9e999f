"""An experiment tried out: everything once, and small."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from abmarl.experiments.experiment import Experiment
from abmarl.experiments.plan import Plan, processes
from abmarl.experiments.play import play
from abmarl.experiments.ray_session import ray_session
from abmarl.experiments.replay import load_replay
from abmarl.experiments.training import Run, start
from abmarl.experiments.translate import translate

STEPS = 200
"""Steps of the iteration and of the episode at most."""


def try_out(experiment: Experiment, settings: Sequence[str], noisy: bool = False) -> None:
    """Train an iteration, keep a checkpoint, go on from it, and play an episode with it.

    What is translated and done is printed; nothing is left behind.

    Args:
        experiment: to be tried.
        settings: what was changed in it.
        noisy: whether Ray may print what it does.

    Raises:
        ExperimentError, TrainingStopped: something does not work.
    """
    folder = Path(tempfile.mkdtemp(prefix="abmarl_smoke_"))
    try:
        plan = translate(experiment)
        for line in plan.lines:
            print(line)
        _make_small(plan)
        plan.base = folder
        print(f"starting Ray for {plan.title} ...", flush=True)
        with ray_session(processes(plan), noisy):
            run = start(experiment, plan, list(settings))
            try:
                run.train()
            finally:
                run.close()
            plan.config.num_env_runners = 0  # the network is what matters
            again = Run(plan, run.results)
            try:
                again.restore(*run.results.checkpoint())
            finally:
                again.close()
            print("trained one iteration, kept a checkpoint and restored it")
        replay = load_replay(run.results)
        played = play(replay.manager, replay.trainer, STEPS, explore=True, seed=0)
        print(f"played an episode of {played.steps} steps with it: {plan.title} works")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _make_small(plan: Plan) -> None:
    config: Any = plan.config
    plan.stop, plan.checkpoint_freq, plan.checkpoint_at_end = {"training_iteration": 1}, 0, True
    config.num_env_runners = min(config.num_env_runners, 1)
    most = STEPS * max(1, config.num_envs_per_env_runner // STEPS)
    config.train_batch_size_per_learner = min(config.train_batch_size_per_learner or most, most)
    if isinstance(config.minibatch_size, int):
        config.minibatch_size = min(config.minibatch_size, config.train_batch_size_per_learner)
    config.num_epochs = min(config.num_epochs, 1)
    config.rollout_fragment_length = "auto"
    config.min_time_s_per_iteration = 0
    config.min_sample_timesteps_per_iteration = 0
    if config.evaluation_interval:
        config.evaluation_interval, config.evaluation_duration = 1, 1
