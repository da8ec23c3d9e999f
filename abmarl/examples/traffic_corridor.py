"""Cars that cannot stand still pass one another in a narrow corridor: in the array style."""

import itertools
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
from abmarl.gridworld.done import TargetAgentOverlapDone
from abmarl.gridworld.observer import PositionCenteredEncodingObserver
from abmarl.gridworld.smart import SmartGridWorldSimulation
from abmarl.gridworld.state import OrientationState, PositionState

EASTBOUND, WESTBOUND, GOAL, WALL = 1, 2, 3, 4
LEFT, RIGHT = 1, 3  # orientations

# E and W are where cars bound east and west start, and where cars from the other side are going.
CORRIDOR = """
# # # # # # # # # # # # #
E . . . # . . . # . . . W
E . . . . . . . . . . . W
E . . . # . . . # . . . W
# # # # # # # # # # # # #
"""


class TrafficAgent(MovingAgent, GridObservingAgent, OrientationAgent):
    """A car: sees 3 cells far and drifts on the way it looks unless it turns."""

    def __init__(self, view_range: int = 3, move_range: int = 1, **kwargs: Any) -> None:
        super().__init__(view_range=view_range, move_range=move_range, **kwargs)


class TrafficCorridorSim(SmartGridWorldSimulation):
    """Cars drive to the far ends of a corridor, through gaps that let one of them through.

    A car always drives on the way it looks, one cell a step, unless it can move the way it wants;
    then it looks that way. A car on the cell of its goal has arrived: it leaves the grid and is
    done.

    Actions: ``move`` (``Discrete(5)``: 0 drive on, 1 left, 2 down, 3 right, 4 up). Observations:
    ``position_centered_encoding``; walls hide what is behind them.

    Rewards: +1 for arriving, -0.1 for a step in which the car did not get away from its cell,
    -0.01 a step.

    The world is done when all cars have arrived.

    Args:
        target_mapping: ``{id of a car: id of its goal}``, for every car.
        **kwargs: See ``SmartGridWorldSimulation``; also parameters of the components.
    """

    def __init__(self, target_mapping: Any = None, **kwargs: Any) -> None:
        parameters = {
            "states": (PositionState, OrientationState),
            "actors": (DriftMoveActor,),
            "observers": (PositionCenteredEncodingObserver,),
            "dones": (TargetAgentOverlapDone,),
            "rewards": {"move_failed": -0.1, "step": -0.01},
        }
        super().__init__(target_mapping=target_mapping, **(parameters | kwargs))
        index = self.store.index
        mapping = self.dones[0].target_mapping
        self._cars = np.array([index[car] for car in mapping])
        self._goals = np.array([index[goal] for goal in mapping.values()])

    def step_batch(self, actions: Any) -> None:
        """Let everybody drive; cars that have arrived are rewarded and leave the grid."""
        super().step_batch(actions)
        store = self.store
        arrived = np.zeros_like(store.active)
        arrived[:, self._cars] = store.cell[:, self._cars] == store.cell[:, self._goals]
        arrived &= store.active
        store.rewards += arrived
        store.remove(arrived)


def traffic_corridor(corridor: str = CORRIDOR) -> TrafficCorridorSim:
    """Build a simulation of cars from both ends of a corridor.

    Args:
        corridor: The map: a line per row, characters separated by blanks; ``E`` and ``W`` where
            cars start that are bound east and west, ``#`` a wall. There are as many E as W: car i
            of one side, from the top, is going to where car i of the other one starts.

    Raises:
        ValueError: There are not as many E as W, or the map is no map.
    """
    rows = [line.split() for line in corridor.strip().splitlines()]
    east, west = (sum(row.count(letter) for row in rows) for letter in "EW")
    if east != west or not east:
        raise ValueError(f"The corridor has {east} E and {west} W; there must be as many of each.")
    numbers = {"east": itertools.count(), "west": itertools.count()}

    def start(side: str, other: str, encoding: int, orientation: int, color: str) -> list:
        i = next(numbers[side])
        car = TrafficAgent(
            id=f"{side}{i}", encoding=encoding, initial_orientation=orientation, group=side,
            render_color=color, render_shape=">" if orientation == RIGHT else "<",
        )  # fmt: skip
        goal = GridWorldAgent(
            id=f"goal_{other}{i}", encoding=GOAL, group="goal", render_shape="s",
            render_color="lightgray",
        )  # fmt: skip
        return [goal, car]

    registry = {
        "E": lambda n: start("east", "west", EASTBOUND, RIGHT, "royalblue"),
        "W": lambda n: start("west", "east", WESTBOUND, LEFT, "firebrick"),
        "#": lambda n: WallAgent(id=f"wall{n}", encoding=WALL),
    }
    sides = ("east", "west")
    return TrafficCorridorSim.build_sim_from_array(
        rows,
        registry,
        overlapping={EASTBOUND: {GOAL}, WESTBOUND: {GOAL}},
        target_mapping={f"{s}{i}": f"goal_{s}{i}" for s in sides for i in range(east)},
    )
