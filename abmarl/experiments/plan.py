"""What is to be run, and on how many processors."""

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Plan:
    """A run of an experiment.

    Attributes:
        title: of the experiment.
        config: RLlib's ``AlgorithmConfig``, complete.
        stop: path in a result -> value at which training stops.
        checkpoint_freq: iterations between two checkpoints; 0 for none in between.
        checkpoint_at_end: whether there is one at the end.
        base: the folder in which the results folder is made.
        horizon: time limit of an episode, None for none.
        multiagent: the policies and the mapping function, as analysis scripts ask for them.
        lines: what was translated, a line for each key.
    """

    title: str
    config: Any
    stop: dict[str, float]
    checkpoint_freq: int
    checkpoint_at_end: bool
    base: Path
    horizon: int | None = None
    multiagent: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return type(self.config).__name__.removesuffix("Config")


def limit_runners(plan: Plan) -> None:
    """No more processes on this machine than it has processors for."""
    if os.environ.get("RAY_ADDRESS"):
        return
    cpus = len(os.sched_getaffinity(0))
    wanted, most = plan.config.num_env_runners, max(1, cpus - 1)
    if isinstance(wanted, int) and wanted > most:
        plan.config.num_env_runners = most
        plan.lines.append(
            f"num_env_runners={wanted} -> {most}: this machine has {cpus} processors; more would "
            f"be slower"
        )


def processes(plan: Plan) -> int:
    """How many processors Ray has to have for a plan: its workers, and one for the rest."""
    config = plan.config
    runners = config.num_env_runners + (config.evaluation_num_env_runners or 0)
    return math.ceil(runners * config.num_cpus_per_env_runner) + config.num_learners + 1
