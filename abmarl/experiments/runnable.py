"""Scripts that train an experiment without the command line, on one machine or many."""

import os
import shlex
from pathlib import Path

from abmarl.experiments.execute import ExperimentError
from abmarl.experiments.experiment import Experiment

# The same whoever starts it: Slurm's script names its Ray by RAY_ADDRESS, Magpie by a variable of
# its own, and by hand there is none.
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


def write_runnable(experiment: Experiment) -> Path:
    """Write ``runnable_<file>``: the file, and an end that trains when it is run.

    It trains on this machine, or on the Ray of the batch script that runs it.

    Args:
        experiment: its file.

    Returns:
        Path of the script.

    Raises:
        ExperimentError: the file is such a script itself.
        OSError: it cannot be written.
    """
    source = Path(experiment.path)
    if source.name.startswith("runnable_"):
        raise ExperimentError(f"{source.name} is runnable already: python {source.name}")
    text = source.read_text(encoding="utf-8").rstrip("\n")
    path = _script(experiment)
    path.write_text(text + "\n" + _MAIN, encoding="utf-8")
    return path


def write_slurm(experiment: Experiment, nodes: int, hours: float) -> Path:
    """Write a batch script for Slurm that starts Ray over the nodes of its job.

    Args:
        experiment: whose script it runs, see `write_runnable`.
        nodes: of the job.
        hours: time limit.

    Returns:
        Path of the batch script.
    """
    return _write(experiment, _SLURM, "slurm.sbatch", nodes, hours)


def write_magpie(experiment: Experiment, nodes: int, hours: float) -> Path:
    """Write a batch script for Magpie; see `write_slurm`."""
    return _write(experiment, _MAGPIE, "magpie.sbatch-srun-ray", nodes, hours)


def _write(experiment: Experiment, template: str, suffix: str, nodes: int, hours: float) -> Path:
    title = "".join(c if c.isalnum() or c in "-_." else "-" for c in experiment.title)
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


def _script(experiment: Experiment) -> Path:
    folder, name = os.path.split(experiment.path)
    return Path(folder) / f"runnable_{name}"
