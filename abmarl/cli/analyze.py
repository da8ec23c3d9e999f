"""``abmarl analyze``: run a script with a trained experiment."""

import os
from typing import Annotated

import typer

from abmarl.cli.console import DONE, UserError, for_the_user, wants_traceback
from abmarl.cli.options import AnySeed, Checkpoint, Debug, ResultsFolder

EXAMPLES = {
    "abmarl analyze ~/abmarl_results/PredatorPrey_2026-01-31_12-00-00 my_script.py": (
        "call its function run(sim, trainer)"
    )
}


def analyze(
    folder: ResultsFolder,
    script: Annotated[
        str,
        typer.Argument(
            metavar="SCRIPT",
            show_default=False,
            help="A Python file with a function `run(sim, trainer)`. It is executed.",
        ),
    ],
    checkpoint: Checkpoint = None,
    seed: AnySeed = None,
    debug: Debug = False,
) -> int:
    """Call a script's run(sim, trainer) with the simulation and the policies that were trained.

    sim is the simulation's manager. trainer answers compute_action(observation, policy_id=...),
    compute_actions({agent: observation}) and trainer.config['multiagent']['policy_mapping_fn'].
    """
    with for_the_user():
        from abmarl.experiments.experiment import execute, importable_from, located_errors
        from abmarl.experiments.results import Results

        results = Results.open(folder)
        results.checkpoint(checkpoint)
        with importable_from(os.path.dirname(os.path.abspath(script))):
            module = execute(script)
            if not callable(getattr(module, "run", None)):
                raise UserError(f"{script} has no function run(sim, trainer)")
            from abmarl.experiments.trained import load_trained

            trained = load_trained(results, checkpoint, wants_traceback())
            if seed is not None:
                trained.trainer.seed(seed)
                trained.manager.reset(seed=seed)
            with located_errors(script):
                module.run(trained.manager, trained.trainer)
    return DONE
