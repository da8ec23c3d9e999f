"""``abmarl debug``: play an experiment with random actions and write everything down."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from abmarl.cli.console import DONE, UserError, for_the_user
from abmarl.cli.options import AnySeed, Debug, Episodes, ExperimentFile, StepsPerEpisode

EXAMPLES = {
    "abmarl debug experiment.py -n 2 -s 20": "two episodes of 20 steps at most, as text files"
}


def debug(
    file: ExperimentFile,
    episodes: Episodes = 1,
    steps: StepsPerEpisode = 200,
    render: Annotated[
        bool, typer.Option("--render", help="Show every step on the screen.")
    ] = False,
    seed: AnySeed = None,
    debug: Debug = False,
) -> int:
    """Play episodes of an experiment's simulation with random actions and write them down.

    A new folder in ~/abmarl_results gets a copy of the file and, for each episode, everything that
    is observed and done, in the order of time and agent by agent.
    """
    with for_the_user():
        from abmarl.experiments.experiment import read
        from abmarl.experiments.results import base_folder, new_folder
        from abmarl.experiments.watching import has_screen
        from abmarl.trainers import DebugTrainer

        if render and not has_screen():
            raise UserError(
                "--render: there is no screen here (DISPLAY is not set)\n"
                "leave it out: the text files have every step"
            )
        experiment = read(file)
        manager = experiment.manager()
        base = base_folder(experiment.local_dir)
        trainer = DebugTrainer(manager, output_dir=base, seed=seed)
        folder = trainer.output_dir = new_folder(base, f"{Path(file).stem}_debug")
        shutil.copy(file, folder)
    with for_the_user(file):
        trainer.train(iterations=episodes, render=render, horizon=steps, seed=seed)
    print(f"wrote {folder}")
    return DONE
