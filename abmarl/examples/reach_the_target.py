"""Runners make for a target that defends itself: a simulation in the array style."""

from typing import Any

import numpy as np

from abmarl.examples.wall import WallAgent
from abmarl.gridworld.actor import BinaryAttackActor, MoveActor
from abmarl.gridworld.agent import AttackingAgent, GridObservingAgent, MovingAgent
from abmarl.gridworld.done import ActiveDone, TargetEncodingInactiveDone
from abmarl.gridworld.observer import PositionCenteredEncodingObserver
from abmarl.gridworld.smart import SmartGridWorldSimulation
from abmarl.gridworld.state import HealthState, TargetBarriersFreePlacementState

TARGET, RUNNER, BARRIER = 1, 2, 3


class TargetAgent(GridObservingAgent, AttackingAgent):
    """Stays where it is, sees 4 cells far and hits half of the time within 2 cells."""

    def __init__(
        self,
        encoding: int = TARGET,
        view_range: int = 4,
        attack_range: int = 2,
        attack_strength: float = 1.0,
        attack_accuracy: float = 0.5,
        initial_health: float = 1.0,
        render_shape: str = "X",
        render_color: str = "firebrick",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            encoding=encoding,
            view_range=view_range,
            attack_range=attack_range,
            attack_strength=attack_strength,
            attack_accuracy=attack_accuracy,
            initial_health=initial_health,
            render_shape=render_shape,
            render_color=render_color,
            **kwargs,
        )


class RunningAgent(MovingAgent, GridObservingAgent):
    """Sees 4 cells far and moves by 1, also diagonally."""

    def __init__(
        self,
        encoding: int = RUNNER,
        view_range: int = 4,
        move_range: int = 1,
        initial_health: float = 1.0,
        render_color: str = "royalblue",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            encoding=encoding,
            view_range=view_range,
            move_range=move_range,
            initial_health=initial_health,
            render_color=render_color,
            **kwargs,
        )


class ReachTheTargetSim(SmartGridWorldSimulation):
    """Runners run to the cell of a target, which attacks them on the way.

    Runners start as far from the target as they can, barriers lie around at random. In a step the
    target attacks first, then the runners move. A runner on the cell of the target has arrived: it
    leaves the grid and is done.

    Actions: ``attack`` of the target (``Discrete(2)``), ``move`` of runners (``Box``, up to 1 cell
    by row and column). Observations: ``position_centered_encoding`` of both; barriers hide what is
    behind them.

    Rewards: a runner +1 for arriving, -1 when killed, -0.1 for a failed move; the target +1 per
    kill, -1 per runner that arrives, -0.1 for an attack without a hit; both -0.01 a step.

    A runner is done when it has arrived or is dead, the world when all runners are.

    Args:
        target_agent: The ``TargetAgent``, or its id.
        **kwargs: See ``SmartGridWorldSimulation``; also parameters of the components.
    """

    def __init__(self, target_agent: Any = "target", **kwargs: Any) -> None:
        agents = kwargs["agents"].values()
        runners = {one.encoding for one in agents if isinstance(one, RunningAgent)}
        targets = {one.encoding for one in agents if isinstance(one, TargetAgent)}
        parameters = {
            "states": (TargetBarriersFreePlacementState, HealthState),
            "actors": (BinaryAttackActor, MoveActor),
            "observers": (PositionCenteredEncodingObserver,),
            "dones": (ActiveDone, TargetEncodingInactiveDone),
            "rewards": {
                "attack_missed": -0.1, "kill": 1.0, "killed": -1.0, "move_failed": -0.1,
                "step": -0.01,
            },
            "barrier_encodings": {one.encoding for one in agents} - runners - targets,
            "free_encodings": runners,
            "scatter_free_agents": True,
            "no_overlap_at_reset": True,
            "attack_mapping": dict.fromkeys(targets, runners),
            "target_mapping": dict.fromkeys(targets, runners),
        }  # fmt: skip
        super().__init__(target_agent=target_agent, **(parameters | kwargs))
        self._target = self.store.index[self.states[0].target_agent.id]
        self._runners = np.isin(self.store.encodings, list(runners))

    def step_batch(self, actions: Any) -> None:
        """Let the target attack and the runners move; those that have arrived leave the grid."""
        super().step_batch(actions)
        store = self.store
        there = store.cell == store.cell[:, self._target, None]
        arrived = there & self._runners & store.active
        store.rewards[arrived] += 1.0
        store.rewards[:, self._target] -= arrived.sum(axis=1)
        store.remove(arrived)


def reach_the_target(
    rows: int = 10, cols: int = 14, num_runners: int = 6, num_barriers: int = 20
) -> ReachTheTargetSim:
    """Build a simulation of a target among barriers, and runners that start far from it.

    Args:
        rows: Rows of the grid.
        cols: Columns of the grid.
        num_runners: How many runners.
        num_barriers: How many barriers.
    """
    agents = [
        TargetAgent(id="target", group="target"),
        *(RunningAgent(id=f"runner{i}", group="runner") for i in range(num_runners)),
        *(WallAgent(id=f"barrier{i}", encoding=BARRIER) for i in range(num_barriers)),
    ]
    return ReachTheTargetSim.build_sim(
        rows,
        cols,
        agents={agent.id: agent for agent in agents},
        overlapping={TARGET: {RUNNER}, RUNNER: {RUNNER}},
    )
