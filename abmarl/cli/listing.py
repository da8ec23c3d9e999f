"""``abmarl list``: what there is to run, and what was run."""

from typing import Annotated

import typer

from abmarl.cli.errors import for_the_user
from abmarl.cli.options import Debug

EXAMPLES = {"abmarl list": "simulations that ship with the package, and earlier results"}


def list_everything(
    results: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            show_default=False,
            help="The folder that holds abmarl_results. [default: the home folder]",
        ),
    ] = None,
    debug: Debug = False,
) -> int:
    """List the simulations that ship with the package, and the results of earlier training."""
    with for_the_user():
        from abmarl.examples import shipped
        from abmarl.experiments.results import base_folder, earlier

        print("simulations, for abmarl rollout:")
        for name in shipped:
            print(f"  {name}")
        base = base_folder(results)
        found = earlier(base)
        print(f"results in {base}:" if found else f"no results in {base}")
        for one in found:
            print(f"  {_line(one)}")
    return 0


def _line(results: object) -> str:
    row = results.last_row()
    iteration = row.get("training_iteration") or 0
    returned = row.get("env_runners/episode_return_mean")
    told = f"return {float(returned):,.2f}" if returned else "no episode ended"
    checkpoints = len(results.checkpoints())
    return (
        f"{results.folder.name}: {int(float(iteration)):,} iterations, {told}, "
        f"{checkpoints} checkpoint{'' if checkpoints == 1 else 's'}"
    )
