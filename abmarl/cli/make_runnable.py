"""``abmarl make-runnable``: scripts that train an experiment on a cluster."""

from typing import Annotated

import typer

from abmarl.cli.errors import UserError, for_the_user
from abmarl.cli.options import Debug

EXAMPLES = {
    "abmarl make-runnable experiment.py": "writes runnable_experiment.py",
    "abmarl make-runnable experiment.py --slurm -n 4 -t 12": "and a batch script for Slurm",
}


def make_runnable(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="An experiment file: Python, with `params`. It is executed.",
        ),
    ],
    magpie: Annotated[
        bool, typer.Option("--magpie", help="Write a batch script for Magpie as well.")
    ] = False,
    slurm: Annotated[
        bool,
        typer.Option(
            "--slurm",
            help="Write a batch script for Slurm as well, which starts Ray over the nodes.",
        ),
    ] = False,
    nodes: Annotated[
        int, typer.Option("--nodes", "-n", min=1, metavar="N", help="Nodes of the job.")
    ] = 1,
    hours: Annotated[
        float, typer.Option("--time", "-t", min=0.01, metavar="HOURS", help="Time limit.")
    ] = 2.0,
    debug: Debug = False,
) -> int:
    """Turn an experiment file into a script that trains when it is run.

    The script is named runnable_<file> and stands beside the file, as do batch scripts.
    """
    if magpie and slurm:
        raise UserError("--magpie and --slurm are two ways to do the same: give one of them")
    with for_the_user():
        from abmarl.experiments.experiment import read
        from abmarl.experiments.runnable import write_magpie, write_runnable, write_slurm

        experiment = read(file)
        written = [write_runnable(experiment)]
        if magpie:
            written.append(write_magpie(experiment, nodes, hours))
        if slurm:
            written.append(write_slurm(experiment, nodes, hours))
    for path in written:
        print(f"wrote {path}")
    if len(written) > 1:
        print(f"start it with: sbatch {'-k --ip-isolate=yes ' if magpie else ''}{written[1]}")
    return 0
