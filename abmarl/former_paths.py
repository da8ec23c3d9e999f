"""Modules by the paths that they had in Abmarl and in earlier releases.

A former path leads to the module that is in its place now, not to a copy of it:
``abmarl.sim.gridworld.actor`` is ``abmarl.gridworld.actor``. Code written for these paths, models
and checkpoints that name classes by them go on working.
"""

import importlib.util
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

# Former path: the present one. What is below a former path is below the present one.
FORMER_PATHS = {
    "abmarl.sim.gridworld": "abmarl.gridworld",
    "abmarl.sim.corridor": "abmarl.examples.sim.multi_corridor",
    "abmarl.sim.predator_prey": "abmarl.examples.sim.predator_prey",
    "abmarl.examples.sim.comms_blocking": "abmarl.examples.comms_blocking",
    "abmarl.examples.sim.maze_navigation": "abmarl.examples.maze_navigation",
    "abmarl.examples.sim.multi_maze_navigation": "abmarl.examples.maze_navigation",
    "abmarl.examples.sim.pacman": "abmarl.examples.pacman",
    "abmarl.examples.sim.predator_prey_resources": "abmarl.examples.predator_prey_resources",
    "abmarl.examples.sim.reach_the_target": "abmarl.examples.reach_the_target",
    "abmarl.examples.sim.team_battle_example": "abmarl.examples.team_battle",
    "abmarl.examples.sim.traffic_corridor": "abmarl.examples.traffic_corridor",
    "abmarl.external.rllib_multiagentenv_wrapper": "abmarl.external.rllib.multi_agent_env",
    "abmarl.external.rllib.setting": "abmarl.external.rllib.worlds",
    "abmarl.external.rllib.limits": "abmarl.external.rllib.batched",
    "abmarl.external.rllib.algorithms.a2c": "abmarl.external.rllib.algorithms",
    "abmarl.external.rllib.algorithms.pg": "abmarl.external.rllib.algorithms",
    "abmarl.external.sb3.last_step": "abmarl.external.sb3.buffers",
    "abmarl.external.sb3.replay_buffers": "abmarl.external.sb3.buffers",
    "abmarl.external.sb3.rollout_buffers": "abmarl.external.sb3.buffers",
}
# Those that users are asked to replace, and the line to write instead.
DEPRECATED = {
    "abmarl.sim.corridor": "from abmarl.examples import MultiCorridor",
    "abmarl.sim.predator_prey": (
        "from abmarl.examples import PredatorPreySimulation, Predator, Prey"
    ),
}


def present_path(path: str) -> str | None:
    """Return where a module is now, or None for one that has not moved."""
    parent, rest = path, ""
    while parent not in FORMER_PATHS:
        parent, dot, name = parent.rpartition(".")
        if not dot:
            return None
        rest = f".{name}{rest}"
    return FORMER_PATHS[parent] + rest


class FormerPaths(MetaPathFinder, Loader):
    """Finds modules by their former paths.

    It has to be asked first: below the alias of a package Python would find the files of the
    package, run them a second time and make a second class of everything.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for a former path, and None for any other."""
        present = present_path(fullname)
        if present is None:
            return None
        try:
            found = importlib.util.find_spec(present)
        except ModuleNotFoundError as error:
            # An optional library that is missing is another matter.
            if not (error.name or "").startswith("abmarl"):
                raise
            found = None
        return ModuleSpec(fullname, self) if found else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the present module in the place of the one that Python has made."""
        former = module.__name__
        if former in DEPRECATED:
            warnings.warn(
                f"{former} has moved: {DEPRECATED[former]}", DeprecationWarning, stacklevel=2
            )
        sys.modules[former] = importlib.import_module(present_path(former) or former)


def install() -> None:
    """Let former paths be imported, in this process."""
    if not any(isinstance(finder, FormerPaths) for finder in sys.meta_path):
        sys.meta_path.insert(0, FormerPaths())
