"""Pac-Man eats pellets while ghosts are after it, on a map from a file: in the array style."""

from pathlib import Path
from typing import Any

import numpy as np

from abmarl.examples.wall import WallAgent
from abmarl.gridworld.actor import DriftMoveActor
from abmarl.gridworld.agent import (
    GridObservingAgent,
    GridWorldAgent,
    MovingAgent,
    OrientationAgent,
)
from abmarl.gridworld.done import ActiveDone, TargetEncodingInactiveDone
from abmarl.gridworld.observer import (
    PositionCenteredEncodingObserver,
    StackedPositionCenteredEncodingObserver,
)
from abmarl.gridworld.smart import SmartGridWorldSimulation
from abmarl.gridworld.state import OrientationState, PositionState

PELLET, PACMAN, GHOST, WALL = 1, 2, 3, 4
MAP = Path(__file__).with_name("pacman.txt")


class PelletAgent(GridWorldAgent):
    """Lies there until it is eaten."""

    def __init__(
        self,
        encoding: int = PELLET,
        render_color: str = "goldenrod",
        render_size: int = 40,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            encoding=encoding, render_color=render_color, render_size=render_size, **kwargs
        )


class PacmanAgent(MovingAgent, GridObservingAgent, OrientationAgent):
    """Sees 4 cells far and runs on the way it looks unless it turns."""

    def __init__(
        self,
        encoding: int = PACMAN,
        view_range: int = 4,
        move_range: int = 1,
        render_color: str = "gold",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            encoding=encoding,
            view_range=view_range,
            move_range=move_range,
            render_color=render_color,
            **kwargs,
        )


class GhostAgent(MovingAgent, GridObservingAgent, OrientationAgent):
    """Sees and moves as Pac-Man does."""

    def __init__(
        self,
        encoding: int = GHOST,
        view_range: int = 4,
        move_range: int = 1,
        render_shape: str = "^",
        render_color: str = "firebrick",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            encoding=encoding,
            view_range=view_range,
            move_range=move_range,
            render_shape=render_shape,
            render_color=render_color,
            **kwargs,
        )


class PacmanSim(SmartGridWorldSimulation):
    """Pac-Man and the ghosts run through corridors that are strewn with pellets.

    Everybody runs on, one cell a step, the way it looks, unless it can move the way it wants; then
    it looks that way. After the moves Pac-Man eats the pellet on its cell. Then the ghosts catch it
    that are on its cell or have changed places with it.

    Actions: ``move`` (``Discrete(5)``: 0 run on, 1 left, 2 down, 3 right, 4 up). Observations:
    ``position_centered_encoding``, where of a ghost and a pellet on one cell a random one shows,
    and ``stacked_position_centered_encoding``, where both do. Walls hide nothing.

    Rewards: Pac-Man +0.1 per pellet, +1 for the last one besides, -1 when caught; ghosts that
    catch it +1; everybody -0.01 a step.

    The world is done when Pac-Man is caught or no pellet is left.

    Args:
        **kwargs: See ``SmartGridWorldSimulation``; also parameters of the components.

    Raises:
        ValueError: There is not just one ``PacmanAgent``, or no pellet or ghost.
    """

    def __init__(self, **kwargs: Any) -> None:
        agents = kwargs["agents"]
        kinds = PacmanAgent, GhostAgent, PelletAgent
        found = [[i for i, one in enumerate(agents.values()) if isinstance(one, k)] for k in kinds]
        pacmen, ghosts, pellets = found
        if len(pacmen) != 1 or not ghosts or not pellets:
            raise ValueError(
                "A map has one Pac-Man, and ghosts and pellets; this one has "
                f"{len(pacmen)}, {len(ghosts)} and {len(pellets)}."
            )
        pacman, ghost, pellet = (list(agents.values())[one[0]].encoding for one in found)
        parameters = {
            "states": (PositionState, OrientationState),
            "actors": (DriftMoveActor,),
            "observers": (
                PositionCenteredEncodingObserver, StackedPositionCenteredEncodingObserver,
            ),
            "dones": (ActiveDone, TargetEncodingInactiveDone),
            "rewards": {"step": -0.01},
            "target_mapping": {pacman: {pellet}, ghost: {pacman}},
        }  # fmt: skip
        super().__init__(**(parameters | kwargs))
        self._pacman, self._ghosts, self._pellets = pacmen[0], np.array(ghosts), np.array(pellets)

    def step_batch(self, actions: Any) -> None:
        """Move everybody, let Pac-Man eat and the ghosts catch it."""
        store, pacman, ghosts = self.store, self._pacman, self._ghosts
        before = store.cell.copy()
        super().step_batch(actions)
        cell, alive = store.cell, store.active[:, pacman]
        place = cell[:, pacman, None]
        gone = np.zeros_like(store.active)
        eaten = store.active[:, self._pellets] & (cell[:, self._pellets] == place)
        gone[:, self._pellets] = eaten & alive[:, None]
        changed_places = (cell[:, ghosts] == before[:, pacman, None]) & (before[:, ghosts] == place)
        caught = alive[:, None] & ((cell[:, ghosts] == place) | changed_places)
        gone[:, pacman] = caught.any(axis=1)
        num_eaten = gone[:, self._pellets].sum(axis=1)
        num_left = store.active[:, self._pellets].sum(axis=1) - num_eaten
        store.rewards[:, pacman] += 0.1 * num_eaten + ((num_eaten > 0) & (num_left == 0))
        store.rewards[:, pacman] -= gone[:, pacman]
        store.rewards[:, ghosts] += caught
        store.remove(gone)


REGISTRY = {
    "#": lambda n: WallAgent(id=f"wall{n}", encoding=WALL, blocking=False),
    "o": lambda n: PelletAgent(id=f"pellet{n}", group="pellet"),
    "P": lambda n: PacmanAgent(id="pacman", group="pacman"),
    "G": lambda n: GhostAgent(id=f"ghost{n}", group="ghost"),
}


def pacman(path: str | Path = MAP) -> PacmanSim:
    """Build a simulation of Pac-Man on a map of 11 x 15, or on one of your own.

    Args:
        path: A map file: ``#`` wall, ``o`` pellet, ``P`` Pac-Man, ``G`` ghost, ``.`` nothing.
    """
    return PacmanSim.build_sim_from_file(
        path,
        REGISTRY,
        overlapping={PACMAN: {PELLET, GHOST}, GHOST: {PELLET, GHOST}},
    )
