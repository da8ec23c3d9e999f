"""The grid world: components over a store of arrays."""

from abmarl.gridworld.actor import AttackOutcome, BinaryAttackActor, CrossMoveActor, MoveActor
from abmarl.gridworld.agent import (
    AttackingAgent,
    GridObservingAgent,
    GridWorldAgent,
    MovingAgent,
    TeamAgent,
)
from abmarl.gridworld.base import GridWorldSimulation
from abmarl.gridworld.done import ActiveDone, OneTeamRemainingDone, TargetEncodingInactiveDone
from abmarl.gridworld.fields import Field
from abmarl.gridworld.former_names import former_names_in
from abmarl.gridworld.grid import Grid
from abmarl.gridworld.observer import (
    PositionCenteredEncodingObserver,
    StackedPositionCenteredEncodingObserver,
    TeamObserver,
)
from abmarl.gridworld.registry import register, registry
from abmarl.gridworld.smart import SmartGridWorldSimulation
from abmarl.gridworld.state import HealthState, PositionState, TeamState
from abmarl.gridworld.vector import VectorSimulation

__all__ = [
    "ActiveDone",
    "AttackOutcome",
    "AttackingAgent",
    "BinaryAttackActor",
    "CrossMoveActor",
    "Field",
    "Grid",
    "GridObservingAgent",
    "GridWorldAgent",
    "GridWorldSimulation",
    "HealthState",
    "MoveActor",
    "MovingAgent",
    "OneTeamRemainingDone",
    "PositionCenteredEncodingObserver",
    "PositionState",
    "SmartGridWorldSimulation",
    "StackedPositionCenteredEncodingObserver",
    "TargetEncodingInactiveDone",
    "TeamAgent",
    "TeamObserver",
    "TeamState",
    "VectorSimulation",
    "register",
    "registry",
]

__getattr__ = former_names_in(__name__)
