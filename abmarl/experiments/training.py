"""Training: iterations of an algorithm of RLlib, logged and kept in a results folder."""

import contextlib
import errno
import os
import shutil
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from abmarl.experiments.execute import ExperimentError
from abmarl.experiments.experiment import Experiment
from abmarl.experiments.health import Watch
from abmarl.experiments.logs import Logs
from abmarl.experiments.plan import Plan
from abmarl.experiments.progress import display
from abmarl.experiments.results import Results
from abmarl.experiments.stop import reached, share_done
from abmarl.rollout.interrupt import deferred_interrupt

MOST_IDLE = 120.0
"""Seconds without a sampled step after which the workers are given up. A new one needs up to 30."""


NOTE = "finishing this iteration and keeping a checkpoint; Ctrl-C then stops at once"


class TrainingStopped(ExperimentError):
    """Training could not go on."""


class Run:
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
        self._algorithm = build(plan.config)

    def close(self) -> None:
        """Stop the workers."""
        self._algorithm.stop()

    def restore(self, number: int, checkpoint: Path) -> None:
        """Go on from a checkpoint.

        Args:
            number: its iteration.
            checkpoint: its folder.

        Raises:
            ExperimentError: it does not belong to this experiment.
        """
        try:
            self._algorithm.restore_from_path(checkpoint)
        except Exception as error:
            raise ExperimentError(
                f"{checkpoint} cannot be restored: {first_line(error)}\n"
                f"were policies or spaces changed since?"
            ) from error
        self.iteration, self.checkpoint = number, checkpoint
        with self._room():
            self.results.forget_after(number)
        self._seconds_before = self.results.last_values().get("time_total_s", 0.0)

    def train(self) -> None:
        """Train until a criterion is reached or Ctrl-C is pressed, and keep a checkpoint then.

        Ctrl-C waits for the end of the iteration; a second one does not. SIGTERM waits for it too.

        Raises:
            TrainingStopped: the disk is full, or the simulation or an algorithm fails.
        """
        with self._room():
            opened = Logs(self.results.folder)
        watch = Watch(self.plan.stop)
        with contextlib.closing(opened) as logs, deferred_interrupt(NOTE, termination=True) as stop:
            with display(self.plan.title) as progress:
                while not stop and self.reason is None:
                    began = time.monotonic()
                    result = self._iterate(stop)
                    if result is None:
                        break
                    with self._room():
                        logs.write(result)
                    share = None if stop else share_done(result, self.plan.stop)
                    progress.update(result, time.monotonic() - began, share)
                    for line in watch.look(result, self._kept()):
                        print(line, file=sys.stderr, flush=True)
                    self.reason = reached(result, self.plan.stop)
                    if self.plan.checkpoint_freq and not (
                        self.iteration % self.plan.checkpoint_freq
                    ):
                        self.save()
            self.interrupted, self.terminated = bool(stop), stop.terminated
            if self.plan.checkpoint_at_end or self.interrupted:
                self.save()

    def save(self) -> Path:
        """Keep a checkpoint of now: written beside and then renamed.

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
            with self._room():
                self._algorithm.save_to_path(partial)
                shutil.rmtree(target, ignore_errors=True)
                partial.rename(target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        self.checkpoint = target
        return target

    def _iterate(self, stop: Any) -> dict[str, Any] | None:
        """One iteration; None where it was interrupted before anything was sampled.

        Without workers RLlib's iterations are empty, until new ones have taken their place: these
        do not count.
        """
        began = time.monotonic()
        while True:
            try:
                with warnings.catch_warnings():
                    # What is not finite is told by `Watch`, once.
                    warnings.filterwarnings("ignore", "", RuntimeWarning, r"(ray|numpy)\.")
                    result = self._algorithm.train()
            except Exception as error:
                if stop.terminated:  # it reached the workers, too
                    return None
                raise TrainingStopped(
                    f"training stopped in iteration {self.iteration + 1}: {first_line(error)}\n"
                    f"{self._kept()}"
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
                    f"--set num_workers=0 to see why\n{self._kept()}"
                )
            time.sleep(1.0)

    @contextlib.contextmanager
    def _room(self) -> Iterator[None]:
        """Say so when the disk is full."""
        try:
            yield
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(error)
            what = "the disk is full" if full else first_line(error)
            raise TrainingStopped(
                f"training stopped after iteration {self.iteration}, {self.results.folder} cannot "
                f"be written: {what}\n{self._kept()}"
            ) from error

    def _kept(self) -> str:
        if self.checkpoint is None:
            return "there is no checkpoint"
        return f"the last checkpoint is {self.checkpoint}"


def build(config: Any) -> Any:
    """Build an algorithm, without the empty folder in ``~/ray_results`` that RLlib makes for it.

    Raises:
        ExperimentError: RLlib refuses the configuration.
    """
    try:
        algorithm = config.build_algo()
    except Exception as error:
        raise ExperimentError(f"RLlib cannot build the algorithm: {first_line(error)}") from error
    logdir = Path(algorithm.logdir)
    for folder in (logdir, logdir.parent):
        with contextlib.suppress(OSError):
            folder.rmdir()
    return algorithm


def first_line(error: BaseException) -> str:
    """What an error says, or the one that it was raised from, in a worker maybe, on one line."""
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


def start(experiment: Experiment, plan: Plan, overrides: list[str]) -> Run:
    """Make a results folder and a run that goes to it."""
    from importlib.metadata import version

    results = Results.create(
        plan.base,
        plan.title,
        experiment.path,
        algorithm=plan.algorithm,
        ray=version("ray"),
        set=overrides,
    )
    try:
        return Run(plan, results)
    except BaseException:
        shutil.rmtree(results.folder, ignore_errors=True)
        raise
