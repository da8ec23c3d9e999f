"""``abmarl list``: what there is to run, and what was run."""

from typing import Annotated, Any

import typer

from abmarl.cli.console import DONE, for_the_user
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
    return DONE


def _line(results: Any) -> str:
    try:
        about = results.about
    except ValueError as error:
        return f"{results.folder.name}: {error}"
    values = results.last_values()
    returned = values.get("env_runners/episode_return_mean")
    parts = (
        f"{about.get('algorithm', '?')} of {about.get('source', '?')}",
        _counted(int(values.get("training_iteration", 0)), "iteration"),
        "no episode ended" if returned is None else f"return {returned:,.2f}",
        _counted(len(results.checkpoints()), "checkpoint"),
    )
    return f"{results.folder.name}: {', '.join(parts)}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
