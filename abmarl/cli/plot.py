"""``abmarl plot``: pictures of rollouts that were saved."""

import sys
from typing import Annotated, Any

import typer

from abmarl.cli.console import (
    DONE,
    UserError,
    brief,
    check_outputs,
    for_the_user,
    prepare_outputs,
    require_library,
)
from abmarl.cli.inputs import load_rollout, name_of_rollout, simulation_of
from abmarl.terminal import progress

EXAMPLES = {
    "abmarl plot run.npz": "writes run.png",
    "abmarl plot before.npz after.npz --out both.svg": "two runs in one picture",
}


def plot(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", show_default=False, help="Rollouts, as `--save` of abmarl writes."
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FILE", show_default=False,
            help="Where the picture goes: .png or .svg. [default: the first FILE, with .png]",
        ),
    ] = None,
    sim: Annotated[
        str | None,
        typer.Option(
            metavar="SIM",
            show_default=False,
            help="The simulation that they were made with: a shipped one, or a Python file, which "
            "is executed. [default: the shipped one that a file names]",
        ),
    ] = None,
) -> int:  # fmt: skip
    """Draw returns and lengths of episodes, agents over time, and heat maps of where they were.

    The heat maps show where the agents of every group stood and where they attacked. A rollout does
    not hold that: it is simulated again from its seed and actions. Needs abmarl[render].
    """
    path = out or f"{files[0].removesuffix('.npz')}.png"
    check_outputs({"--out": path}, {"--out": (".png", ".svg")})
    for file in files:
        if out is not None and file == out:
            raise UserError(f"--out {out}: is one of the rollouts")
    require_library("matplotlib")
    rollouts = [load_rollout(file) for file in files]
    prepare_outputs({"--out": path})
    from abmarl.render import plot_runs

    runs = [_run(rollout, file, sim) for rollout, file in zip(rollouts, files, strict=True)]
    with for_the_user("--out"):
        plot_runs(path, runs)
    print(f"wrote {path}", file=sys.stderr)
    return DONE


def _run(rollout: Any, file: str, sim: str | None) -> Any:
    """Return a rollout with the colours and places of its agents, as far as they are known."""
    from abmarl.render import Run
    from abmarl.render.scenes.appearance import drawn_colors
    from abmarl.rollout.whereabouts import whereabouts

    try:
        simulation = simulation_of(rollout, file, sim)
    except UserError as error:
        if sim is not None:
            raise
        print(f"no heat maps: {error}", file=sys.stderr)
        return Run(name_of_rollout(file), rollout)
    agents = simulation.agents
    shown = dict(zip(agents, drawn_colors(list(agents.values())), strict=True))
    colors = {
        name: shown[group.ids[0]] for name, group in rollout.groups.items() if group.ids[0] in shown
    }
    where = None
    try:
        with progress(f"simulating {file} again", rollout.num_steps, "steps") as report:
            where = whereabouts(simulation, rollout, report.update)
    except (ValueError, TypeError, NotImplementedError, MemoryError) as error:
        if sim is not None and isinstance(error, ValueError | TypeError):
            raise UserError(f"--sim {sim} does not fit {file}: {brief(error)}") from error
        print(f"no heat maps of {file}: {brief(error)}", file=sys.stderr)
    if where is not None and where.mismatch:
        print(
            f"not as recorded: {file}, {where.mismatch}\nheat maps leave such worlds out from "
            "there on",
            file=sys.stderr,
        )
    return Run(name_of_rollout(file), rollout, where, colors)
