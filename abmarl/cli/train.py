"""``abmarl train``: run an experiment file on RLlib."""

import os
import sys
from typing import Annotated, Any

import typer

from abmarl.cli.console import DONE, INTERRUPTED, UserError, for_the_user, wants_traceback
from abmarl.cli.options import Debug
from abmarl.terminal import Terminated

EXAMPLES = {
    "abmarl train experiment.py": "train until its stop criterion is reached",
    "abmarl train experiment.py --smoke": "see in about a minute whether everything works",
    "abmarl train experiment.py --set num_workers=0 --set stop.episodes_total=100": (
        "with other settings than the file's"
    ),
    "abmarl train --resume ~/abmarl_results/MultiCorridor_2026-01-31_12-00-00": "go on",
}


def train(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="An experiment file: Python, with `params`. It is executed. May be left out with "
            "--resume, which has a copy.",
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Go on from the last checkpoint of a results folder, "
            "with what --set changed before.",
        ),
    ] = None,
    smoke: Annotated[
        bool,
        typer.Option(
            "--smoke",
            help="One small iteration, a checkpoint, the checkpoint loaded again and an episode "
            "played with it; then everything is removed.",
        ),
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            show_default=False,
            help="Change a setting of the file: of its config (lr=0.001), how to run "
            "(checkpoint_freq=10, stop.episodes_total=100) or experiment.batched=True. May be "
            "given several times.",
        ),
    ] = None,
    debug: Debug = False,
) -> int:
    """Train the policies of an experiment with RLlib.

    Results go to ~/abmarl_results/<title>_<date>_<time>/: a copy of the file, checkpoints, and logs
    for TensorBoard and as CSV. Ctrl-C or SIGTERM ends it after the iteration under way,
    with a checkpoint.
    """
    if file is None and resume is None:
        raise UserError("give an experiment file, or --resume with a results folder")
    if smoke and resume is not None:
        raise UserError(
            "--smoke tries a file out and --resume goes on with a run: give one of them"
        )
    settings = list(set_ or [])
    with for_the_user():
        # Before Ray and torch are imported.
        from abmarl.experiments.ray_session import prepare

        prepare()
        from abmarl.experiments.experiment import read
        from abmarl.experiments.results import Results
        from abmarl.experiments.settings import apply_settings
        from abmarl.external.runtime import hush

        results = source = None
        path: str | os.PathLike = file or ""
        if resume is not None:
            results = Results.open(resume)
            results.checkpoint()
            settings = [*results.about.get("set", []), *settings]
            if file is None:
                path, source = results.experiment, results.about.get("source")
        experiment = read(path, source)
        apply_settings(experiment, settings)
        if not wants_traceback():
            hush()
        if smoke:
            from abmarl.experiments.training import try_out

            try_out(experiment, settings, noisy=wants_traceback())
            return DONE
    return _train(experiment, settings, results)


def _train(experiment: Any, settings: list[str], results: Any) -> int:
    from abmarl.experiments.configuration import translate
    from abmarl.experiments.ray_session import ray_session
    from abmarl.experiments.stop import already_reached
    from abmarl.experiments.training import TrainingRun, check_same

    with for_the_user():
        plan = translate(experiment)
        for line in plan.lines:
            print(line)
        if results is not None:
            check_same(plan, results)
            iteration, checkpoint = results.checkpoint()
            done = already_reached(results.last_values(iteration), plan.stop, iteration)
            if done:
                print(f"{done}\ncheckpoint: {checkpoint}")
                return DONE
        print(f"starting Ray for {plan.title} ...", flush=True)
        with ray_session(plan.num_processes, noisy=wants_traceback()):
            if results is None:
                run = TrainingRun.start(experiment, plan, settings)
            else:
                run = TrainingRun.resume(plan, results)
                results.remember(**{**results.about, "set": settings})
                print(f"going on after iteration {run.iteration}")
            try:
                print(f"results go to {run.results.folder}", flush=True)
                if not plan.stop:
                    print("no stop criterion is set: training goes on until Ctrl-C", flush=True)
                run.train()
            except KeyboardInterrupt as error:
                run.interrupted, run.terminated = True, isinstance(error, Terminated)
            finally:
                run.close()
    if run.interrupted:
        how = "terminated" if run.terminated else "interrupted"
        print(f"{how} after iteration {run.iteration}", file=sys.stderr)
    else:
        print(f"done: {run.reason} reached after iteration {run.iteration}")
    if run.checkpoint is not None:
        print(f"checkpoint: {run.checkpoint}")
    if run.terminated:
        return Terminated.exit_code
    return INTERRUPTED if run.interrupted else DONE
