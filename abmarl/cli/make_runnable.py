"""``abmarl make-runnable``: scripts that train an experiment on a cluster."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abmarl.cli.console import DONE, UserError, for_the_user
from abmarl.cli.options import Debug, ExperimentFile

if TYPE_CHECKING:
    from abmarl.experiments.experiment import Experiment

EXAMPLES = {
    "abmarl make-runnable experiment.py": "writes runnable_experiment.py",
    "abmarl make-runnable experiment.py --slurm -n 4 -t 12": "and a batch script for Slurm",
}

# The end of a runnable script: Slurm's batch script names its Ray by RAY_ADDRESS, Magpie by a
# variable of its own, and without them Ray is started.
_MAIN = """

if __name__ == "__main__":
    import os
    import sys

    if "MAGPIE_RAY_ADDRESS" in os.environ:
        os.environ["RAY_ADDRESS"] = os.environ["MAGPIE_RAY_ADDRESS"]

    from abmarl.cli import main

    main(["train", __file__, *sys.argv[1:]])
"""

_SLURM = """#!/bin/bash
#SBATCH --job-name={title}
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --time={time}
#SBATCH --output={title}-%j.out

# Starts Ray on all nodes of the job and trains on it. Adapt the next two lines to your site.
# module load python
# source ~/abmarl/bin/activate

set -e
export OMP_NUM_THREADS=1 RAY_USAGE_STATS_ENABLED=0
nodes=($(scontrol show hostnames "$SLURM_JOB_NODELIST"))
head=${{nodes[0]}}
port=$((20000 + SLURM_JOB_ID % 10000))
ip=$(srun --nodes=1 --ntasks=1 -w "$head" hostname --ip-address | cut -d " " -f 1)

srun --nodes=1 --ntasks=1 -w "$head" \\
    ray start --head --node-ip-address="$ip" --port="$port" --include-dashboard=false --block &
sleep 20
for node in "${{nodes[@]:1}}"; do
    srun --nodes=1 --ntasks=1 -w "$node" ray start --address="$ip:$port" --block &
done
sleep 10

RAY_ADDRESS="$ip:$port" python -u {script}
"""

_MAGPIE = """#!/bin/bash
#SBATCH --job-name={title}
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --no-kill
#SBATCH --time={time}
#SBATCH --output={title}-%j.out

# Starts Ray by Magpie (https://github.com/LLNL/magpie), where ray is installed. Compare with the
# script for Ray of your copy of Magpie, and adapt the paths.
export MAGPIE_SUBMISSION_TYPE="sbatchsrun"
export MAGPIE_SCRIPTS_HOME="${{MAGPIE_SCRIPTS_HOME:-$HOME/magpie}}"
export MAGPIE_LOCAL_DIR="/tmp/$USER/magpie"
export MAGPIE_JOB_TYPE="ray"
export RAY_SETUP=yes
export RAY_PATH="$(dirname "$(command -v ray)")"
export RAY_LOCAL_DIR="/tmp/$USER/ray"
export RAY_JOB="rayscript"
export RAY_SCRIPT_PATH={script}

srun --no-kill -W 0 "$MAGPIE_SCRIPTS_HOME/magpie-check-inputs"
for stage in setup-core setup-projects setup-post pre-run run cleanup post-run; do
    srun --no-kill -W 0 "$MAGPIE_SCRIPTS_HOME/magpie-$stage" || break
done
"""

# Kind of batch script -> its end of a file name and its template.
_BATCH_SCRIPTS = {"slurm": ("slurm.sbatch", _SLURM), "magpie": ("magpie.sbatch-srun-ray", _MAGPIE)}


def make_runnable(
    file: ExperimentFile,
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

        experiment = read(file)
        written = [write_runnable(experiment)]
        if magpie or slurm:
            kind = "magpie" if magpie else "slurm"
            written.append(write_batch_script(experiment, kind, nodes, hours))
    for path in written:
        print(f"wrote {path}")
    if len(written) > 1:
        print(f"start it with: sbatch {'-k --ip-isolate=yes ' if magpie else ''}{written[1]}")
    return DONE


def write_runnable(experiment: "Experiment") -> Path:
    """Write ``runnable_<file>``: the file, and an end that trains when it is run.

    It trains on this machine, or on the Ray of the batch script that runs it.

    Args:
        experiment: The experiment.

    Returns:
        The path of the script.

    Raises:
        ValueError: The file is such a script itself.
        OSError: The script cannot be written.
    """
    source = Path(experiment.path)
    if source.name.startswith("runnable_"):
        raise ValueError(f"{source.name} is runnable already: python {source.name}")
    text = source.read_text(encoding="utf-8").rstrip("\n")
    path = _script(experiment)
    path.write_text(text + "\n" + _MAIN, encoding="utf-8")
    return path


def write_batch_script(experiment: "Experiment", kind: str, nodes: int, hours: float) -> Path:
    """Write a batch script that starts Ray over the nodes of its job.

    Args:
        experiment: The experiment, whose script it runs; see `write_runnable`.
        kind: ``"slurm"`` or ``"magpie"``.
        nodes: How many nodes the job has.
        hours: Its time limit.

    Returns:
        The path of the batch script.
    """
    from abmarl.experiments.results import plain_name

    suffix, template = _BATCH_SCRIPTS[kind]
    title = plain_name(experiment.title)
    path = Path(experiment.path).with_name(f"{title}_{suffix}")
    minutes = max(1, round(hours * 60))
    path.write_text(
        template.format(
            title=title,
            nodes=nodes,
            time=f"{minutes // 60}:{minutes % 60:02d}:00",
            script=shlex.quote(os.fspath(_script(experiment))),
        ),
        encoding="utf-8",
    )
    path.chmod(path.stat().st_mode | 0o111)
    return path


def _script(experiment: "Experiment") -> Path:
    source = Path(experiment.path)
    return source.with_name(f"runnable_{source.name}")
