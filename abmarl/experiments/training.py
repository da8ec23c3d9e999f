"""Training: iterations of an algorithm of RLlib, logged and kept in a results folder."""

import contextlib
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from abmarl.experiments.configuration import Plan, translate
from abmarl.experiments.experiment import Experiment, ExperimentError
from abmarl.experiments.monitoring import Logs, TrainingDisplay, Watch
from abmarl.experiments.ray_session import ray_session
from abmarl.experiments.results import Results
from abmarl.experiments.stop import reached, share_done
from abmarl.experiments.trained import load_trained
from abmarl.experiments.watching import play_episode
from abmarl.files import disk_is_full
from abmarl.terminal import Interrupt, deferred_interrupt

MOST_IDLE = 120.0
"""Seconds without a sampled step after which the workers are given up. A new one needs up to 30."""
NOTE = "finishing this iteration and keeping a checkpoint; Ctrl-C then stops at once"
SMOKE_STEPS = 200
"""Steps of the iteration and of the episode at most, when an experiment is tried out."""


class TrainingStopped(ExperimentError):
    """Training could not go on."""


class TrainingRun:
    """A training run.

    Args:
        plan: what to run.
        results: the folder it goes to.

    Attributes:
        results: the folder.
        iteration: iterations done, those before a resumption included.
        checkpoint: path of the last checkpoint, None while there is none.
        interrupted: whether Ctrl-C or SIGTERM ended it.
        terminated: whether it was SIGTERM.
        reason: the criterion that ended it, None before the end.
    """

    def __init__(self, plan: Plan, results: Results) -> None:
        self.plan, self.results = plan, results
        self.iteration = 0
        self.checkpoint: Path | None = None
        self.interrupted = self.terminated = False
        self.reason: str | None = None
        self._steps: float | None = None
        self._seconds_before = 0.0
        self._algorithm = _build(plan.config)

    @classmethod
    def start(cls, experiment: Experiment, plan: Plan, settings: Sequence[str]) -> "TrainingRun":
        """Return a run that goes to a new results folder.

        Args:
            experiment: the experiment, whose file is copied.
            plan: what to run.
            settings: the settings that were changed, for later resumptions.
        """
        results = Results.create(
            plan.base,
            plan.title,
            experiment.path,
            algorithm=plan.algorithm,
            ray=version("ray"),
            set=list(settings),
        )
        try:
            return cls(plan, results)
        except BaseException:
            shutil.rmtree(results.folder, ignore_errors=True)
            raise

    @classmethod
    def resume(cls, plan: Plan, results: Results) -> "TrainingRun":
        """Return a run that goes on from the last checkpoint of a results folder.

        Raises:
            ExperimentError: the checkpoint does not belong to this experiment.
        """
        run = cls(plan, results)
        run.iteration, run.checkpoint = results.checkpoint()
        try:
            run._algorithm.restore_from_path(run.checkpoint)
        except Exception as error:
            raise ExperimentError(
                f"{run.checkpoint} cannot be restored: {_first_line(error)}\n"
                f"were policies or spaces changed since?"
            ) from error
        with run._explained_os_errors():
            results.forget_after(run.iteration)
        run._seconds_before = results.last_values().get("time_total_s", 0.0)
        return run

    def close(self) -> None:
        """Stop the workers."""
        self._algorithm.stop()

    def train(self) -> None:
        """Train until a criterion is reached or Ctrl-C is pressed, and keep a checkpoint then.

        Ctrl-C waits for the end of the iteration; a second one does not. SIGTERM waits for it too.

        Raises:
            TrainingStopped: the disk is full, or the simulation or an algorithm fails.
        """
        with self._explained_os_errors():
            opened = Logs(self.results.folder)
        watch = Watch(self.plan.stop)
        with contextlib.closing(opened) as logs, deferred_interrupt(NOTE, termination=True) as stop:
            with TrainingDisplay(self.plan.title) as display:
                while not stop and self.reason is None:
                    began = time.monotonic()
                    result = self._iterate(stop)
                    if result is None:
                        break
                    with self._explained_os_errors():
                        logs.write(result)
                    share = None if stop else share_done(result, self.plan.stop)
                    display.update(result, time.monotonic() - began, share)
                    for line in watch.look(result, self._last_checkpoint()):
                        print(line, file=sys.stderr, flush=True)
                    self.reason = reached(result, self.plan.stop)
                    freq = self.plan.checkpoint_freq
                    if freq and self.iteration % freq == 0:
                        self.save()
            self.interrupted, self.terminated = bool(stop), stop.terminated
            if self.plan.checkpoint_at_end or self.interrupted:
                self.save()

    def save(self) -> Path:
        """Keep a checkpoint of now: written beside its place and then renamed.

        Returns:
            Its folder.

        Raises:
            TrainingStopped: the disk is full.
        """
        target = self.results.checkpoint_path(self.iteration)
        if self.checkpoint == target:
            return target
        partial = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with self._explained_os_errors():
                self._algorithm.save_to_path(partial)
                shutil.rmtree(target, ignore_errors=True)
                partial.rename(target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        self.checkpoint = target
        return target

    def _iterate(self, stop: Interrupt) -> dict[str, Any] | None:
        """Do one iteration; return None where it was interrupted before anything was sampled.

        Without workers RLlib's iterations are empty, until new ones have taken their place: these
        do not count.
        """
        began = time.monotonic()
        while True:
            try:
                with warnings.catch_warnings():
                    # `Watch` reports what is not finite, once.
                    warnings.filterwarnings("ignore", "", RuntimeWarning, r"(ray|numpy)\.")
                    result = self._algorithm.train()
            except Exception as error:
                if stop.terminated:  # the workers got the signal, too
                    return None
                raise TrainingStopped(
                    f"training stopped in iteration {self.iteration + 1}: {_first_line(error)}\n"
                    f"{self._last_checkpoint()}"
                ) from error
            steps = result.get("env_runners", {}).get("num_env_steps_sampled_lifetime")
            if steps != self._steps:
                self._steps = steps
                self.iteration += 1
                result["training_iteration"] = self.iteration
                result["time_total_s"] += self._seconds_before
                return result
            if stop:
                return None
            if time.monotonic() - began > MOST_IDLE:
                raise TrainingStopped(
                    f"nothing was sampled for {MOST_IDLE:.0f} s, the workers fail: try with "
                    f"--set num_workers=0 to see why\n{self._last_checkpoint()}"
                )
            time.sleep(1.0)

    @contextlib.contextmanager
    def _explained_os_errors(self) -> Iterator[None]:
        """Turn an error of writing into one that names the last checkpoint."""
        try:
            yield
        except OSError as error:
            what = "the disk is full" if disk_is_full(error) else _first_line(error)
            raise TrainingStopped(
                f"training stopped after iteration {self.iteration}, {self.results.folder} cannot "
                f"be written: {what}\n{self._last_checkpoint()}"
            ) from error

    def _last_checkpoint(self) -> str:
        if self.checkpoint is None:
            return "there is no checkpoint"
        return f"the last checkpoint is {self.checkpoint}"


def check_same(plan: Plan, results: Results) -> None:
    """Refuse to go on with another experiment.

    Args:
        plan: what is to be run.
        results: the folder of the run to go on with.

    Raises:
        ExperimentError: the title or the algorithm is another one.
    """
    about = results.about
    for what, now in (("title", plan.title), ("algorithm", plan.algorithm)):
        before = about.get(what, now)
        if now != before:
            raise ExperimentError(
                f"{results.folder} holds a training with the {what} {before!r}, here it is "
                f"{now!r}:\ntrain without --resume for a new run, or with the file of that one"
            )


def try_out(experiment: Experiment, settings: Sequence[str], noisy: bool = False) -> None:
    """Train an iteration, keep a checkpoint, go on from it, and play an episode with it.

    What is translated and done is printed; nothing is left behind.

    Args:
        experiment: the experiment.
        settings: what was changed in it.
        noisy: whether Ray may print what it does.

    Raises:
        ExperimentError: something does not work.
    """
    with tempfile.TemporaryDirectory(prefix="abmarl_smoke_", ignore_cleanup_errors=True) as folder:
        plan = translate(experiment)
        for line in plan.lines:
            print(line)
        _make_small(plan)
        plan.base = Path(folder)
        print(f"starting Ray for {plan.title} ...", flush=True)
        with ray_session(plan.num_processes, noisy):
            with contextlib.closing(TrainingRun.start(experiment, plan, settings)) as run:
                run.train()
            plan.config.num_env_runners = 0  # the network is what matters
            TrainingRun.resume(plan, run.results).close()
            print("trained one iteration, kept a checkpoint and restored it")
        trained = load_trained(run.results)
        played = play_episode(trained.manager, trained.trainer, SMOKE_STEPS, explore=True, seed=0)
        print(f"played an episode of {played.steps} steps with it: {plan.title} works")


def _make_small(plan: Plan) -> None:
    config: Any = plan.config
    plan.stop, plan.checkpoint_freq, plan.checkpoint_at_end = {"training_iteration": 1}, 0, True
    config.num_env_runners = min(config.num_env_runners, 1)
    most = SMOKE_STEPS * max(1, config.num_envs_per_env_runner // SMOKE_STEPS)
    config.train_batch_size_per_learner = min(config.train_batch_size_per_learner or most, most)
    if isinstance(config.minibatch_size, int):
        config.minibatch_size = min(config.minibatch_size, config.train_batch_size_per_learner)
    config.num_epochs = min(config.num_epochs, 1)
    config.rollout_fragment_length = "auto"
    config.min_time_s_per_iteration = 0
    config.min_sample_timesteps_per_iteration = 0
    if config.evaluation_interval:
        config.evaluation_interval, config.evaluation_duration = 1, 1


def _build(config: Any) -> Any:
    """Build an algorithm, without the empty folder in ``~/ray_results`` that RLlib makes for it.

    Raises:
        ExperimentError: RLlib refuses the configuration.
    """
    try:
        algorithm = config.build_algo()
    except Exception as error:
        raise ExperimentError(f"RLlib cannot build the algorithm: {_first_line(error)}") from error
    logdir = Path(algorithm.logdir)
    for folder in (logdir, logdir.parent):
        with contextlib.suppress(OSError):
            folder.rmdir()
    return algorithm


def _first_line(error: BaseException) -> str:
    """Return the message of an error, or of the one in a worker that caused it, on one line."""
    cause = _cause(error)
    while cause is not None:
        error, cause = cause, _cause(cause)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _cause(error: BaseException) -> BaseException | None:
    within = getattr(error, "cause", None)  # Ray's errors have it
    if isinstance(within, BaseException):
        return within
    return None if str(error) else error.__cause__ or error.__context__
