"""Navigators look for a target in a maze, alone or racing one another: the array style."""

import math
from typing import Any

import numpy as np

from abmarl.examples.wall import WallAgent
from abmarl.gridworld.actor import CrossMoveActor
from abmarl.gridworld.agent import GridObservingAgent, GridWorldAgent, MovingAgent
from abmarl.gridworld.done import TargetAgentOverlapDone
from abmarl.gridworld.observer import PositionCenteredEncodingObserver
from abmarl.gridworld.smart import SmartGridWorldSimulation
from abmarl.gridworld.state import MazePlacementState

TARGET, NAVIGATOR, WALL = 1, 2, 3


class MazeNavigationAgent(MovingAgent, GridObservingAgent):
    """Sees 2 cells far and moves by 1."""

    def __init__(
        self,
        encoding: int = NAVIGATOR,
        view_range: int = 2,
        move_range: int = 1,
        render_color: str = "royalblue",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            encoding=encoding,
            view_range=view_range,
            move_range=move_range,
            render_color=render_color,
            **kwargs,
        )


class FilledMazeState(MazePlacementState):
    """Puts a barrier on every wall of the maze; barriers that are left over stay off the grid.

    How many walls there are differs from maze to maze. Barriers that are left over are inactive in
    that episode. Where there are too few, the walls farthest from the target stay open.

    Args:
        **kwargs: Parameters of ``MazePlacementState``; barriers are always clustered.
    """

    spares_barriers = True

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**(kwargs | {"cluster_barriers": True}))

    @property
    def may_fail(self) -> bool:
        """Whether placing may fail: not where every maze has room for all other agents."""
        store = self.store
        barrier = self._barriers[store.traits["kind"]] & (store.start <= 0)
        others = store.num_agents - np.count_nonzero(barrier)
        return bool(others >= max(2, math.isqrt(store.rows * store.cols)))


class MazeNavigationSim(SmartGridWorldSimulation):
    """Navigators walk to a target through a maze that is another one in every episode.

    The maze grows from the target, and navigators start on the passages farthest from it. A
    navigator on the cell of the target has arrived: it leaves the grid and is done.

    Actions: ``move`` (``Discrete(5)``: 0 stay, 1 left, 2 down, 3 right, 4 up). Observations:
    ``position_centered_encoding``; walls hide what is behind them.

    Rewards: +1 for arriving, -0.1 for a failed move, -0.01 a step.

    The world is done when every navigator has arrived.

    Args:
        target_agent: The agent to find, or its id.
        **kwargs: See ``SmartGridWorldSimulation``; also parameters of the components.
    """

    def __init__(self, target_agent: Any = "target", **kwargs: Any) -> None:
        agents = kwargs["agents"].values()
        navigators = [one for one in agents if isinstance(one, MazeNavigationAgent)]
        free = {one.encoding for one in navigators}
        target_id = getattr(target_agent, "id", target_agent)
        parameters = {
            "states": (FilledMazeState,),
            "actors": (CrossMoveActor,),
            "observers": (PositionCenteredEncodingObserver,),
            "dones": (TargetAgentOverlapDone,),
            "rewards": {"move_failed": -0.1, "step": -0.01},
            "barrier_encodings": {
                one.encoding for one in agents if one.id != target_id and one.encoding not in free
            },
            "free_encodings": free,
            "scatter_free_agents": True,
            "no_overlap_at_reset": True,
            "target_mapping": {one.id: target_agent for one in navigators},
        }
        super().__init__(target_agent=target_agent, **(parameters | kwargs))
        self._target = self.store.index[self.states[0].target_agent.id]
        self._navigators = np.zeros(self.store.num_agents, bool)
        self._navigators[[self.store.index[one.id] for one in navigators]] = True

    def step_batch(self, actions: Any) -> None:
        """Move everybody; those that have arrived are rewarded and leave the grid."""
        super().step_batch(actions)
        store = self.store
        there = store.cell == store.cell[:, self._target, None]
        arrived = there & self._navigators & store.active
        store.rewards += arrived * self.worth_of_arrival()
        store.remove(arrived)

    def worth_of_arrival(self) -> np.ndarray:
        """Return what it is worth to arrive in this step, float [B, 1]."""
        return np.ones((self.store.num_worlds, 1))


class MultiMazeNavigationAgent(MazeNavigationAgent):
    """A navigator among others: sees 3 cells far."""

    def __init__(self, view_range: int = 3, **kwargs: Any) -> None:
        super().__init__(view_range=view_range, **kwargs)


class MultiMazeNavigationSim(MazeNavigationSim):
    """As ``MazeNavigationSim``, with navigators that get into one another's way.

    Only one of them can be on a cell, so that passages are blocked by those who wait in them, and
    one at a time arrives. Of n navigators the first to arrive gets a reward of 1, the next one
    1 - 1/n, and so on down to 1/n for the last.
    """

    def worth_of_arrival(self) -> np.ndarray:
        """Return the share of navigators that are still on their way, float [B, 1]."""
        waiting = self.store.active & self._navigators
        return waiting.sum(axis=1, keepdims=True) / max(1, self._navigators.sum())


def _maze(
    rows: int,
    cols: int,
    num_navigators: int,
    simulation: type[MazeNavigationSim],
    navigator: type[MazeNavigationAgent],
) -> Any:
    """Build a maze and its navigators, with walls for half of the cells: mazes seldom have more.

    Args:
        rows: Rows of the grid.
        cols: Columns of the grid.
        num_navigators: How many look for the target.
        simulation: The class of the simulation.
        navigator: The class of the navigators.
    """
    num_walls = rows * cols // 2
    agents = [
        GridWorldAgent(
            id="target", encoding=TARGET, group="target", render_shape="X", render_color="goldenrod"
        ),
        *(navigator(id=f"navigator{i}", group="navigator") for i in range(num_navigators)),
        *(WallAgent(id=f"wall{i}", encoding=WALL) for i in range(num_walls)),
    ]
    return simulation.build_sim(
        rows,
        cols,
        agents={agent.id: agent for agent in agents},
        overlapping={TARGET: {NAVIGATOR}},
    )


def maze_navigation(rows: int = 9, cols: int = 13) -> MazeNavigationSim:
    """Build a simulation of one navigator in a maze.

    Args:
        rows: Rows of the grid.
        cols: Columns of the grid.
    """
    return _maze(rows, cols, 1, MazeNavigationSim, MazeNavigationAgent)


def multi_maze_navigation(
    rows: int = 11, cols: int = 15, num_navigators: int = 5
) -> MultiMazeNavigationSim:
    """Build a simulation of several navigators in a maze.

    Args:
        rows: Rows of the grid.
        cols: Columns of the grid.
        num_navigators: How many of them.
    """
    return _maze(rows, cols, num_navigators, MultiMazeNavigationSim, MultiMazeNavigationAgent)
