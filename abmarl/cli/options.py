"""Options and arguments that several commands have."""

import os
from typing import Annotated

import typer

from abmarl.cli.console import UserError

Sim = Annotated[
    str,
    typer.Argument(
        metavar="SIM",
        show_default=False,
        help="A shipped simulation (team-battle, predator-prey-resources, foraging, "
        "foragers-and-hunters, reach-the-target, maze-navigation, multi-maze-navigation, "
        "traffic-corridor, pacman, comms-blocking) or a Python file with `sim`, a function "
        "`make_sim()`, or an experiment's `params`. The file is executed.",
    ),
]
ExperimentFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        show_default=False,
        help="An experiment file: Python, with `params`. It is executed.",
    ),
]
ResultsFolder = Annotated[
    str,
    typer.Argument(metavar="DIR", show_default=False, help="A results folder of `abmarl train`."),
]
Horizon = Annotated[
    int, typer.Option(min=0, metavar="N", help="Longest episode in steps; 0 for no limit.")
]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="The same seed gives the same run.")]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        show_default=False,
        help="Threads to step with. [default: ABMARL_NUM_THREADS, else 1]",
    ),
]


def _check_order(order: str) -> str:
    if order not in ("fixed", "random"):
        raise UserError(f"--order {order}: allowed are fixed and random")
    return order


Order = Annotated[
    str,
    typer.Option(
        callback=_check_order,
        metavar="fixed|random",
        help="In which order the agents of a world act: that of the simulation, or a fresh "
        "random one in every step.",
    ),
]
_POLICY = (
    "How a group of agents acts, or all of them: random, heuristic, or the path of a checkpoint or "
    "of a results folder of `abmarl train`; of several policies the one that has the name of the "
    "group, or PATH#policy."
)
Policy = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[GROUP=]NAME",
        show_default=False,
        help=f"{_POLICY} May be given for several groups. [default: random]",
    ),
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[GROUP=]NAME",
        show_default=False,
        help=f"{_POLICY} Several for one group: every combination is played. [default: random]",
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Open checkpoints that can execute code (those of RLlib, so of `abmarl train`, and of "
        "Stable-Baselines3 with classes of its own). Only for files that you know.",
    ),
]
Sample = Annotated[
    bool,
    typer.Option(
        "--sample",
        help="Let policies from checkpoints draw their actions as in training, in place of "
        "taking the best ones.",
    ),
]


def _want_traceback(wanted: bool) -> None:
    if wanted:
        os.environ["ABMARL_TRACEBACK"] = "1"


Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        callback=_want_traceback,
        help="Tell the whole story of an error; so does ABMARL_TRACEBACK=1.",
    ),
]
Checkpoint = Annotated[
    int | None,
    typer.Option(
        "--checkpoint",
        "-c",
        min=0,
        metavar="N",
        show_default=False,
        help="The checkpoint of which iteration. [default: the last one]",
    ),
]
AnySeed = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", show_default=False, help="The same seed gives the same run."),
]
Episodes = Annotated[
    int, typer.Option("--episodes", "-n", min=1, metavar="N", help="How many episodes.")
]
StepsPerEpisode = Annotated[
    int,
    typer.Option(
        "--steps-per-episode", "-s", min=1, metavar="N", help="Steps of an episode at most."
    ),
]
