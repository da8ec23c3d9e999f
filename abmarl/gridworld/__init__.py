"""The grid world: components over a store of arrays."""

from abmarl.gridworld.actor import (
    AttackOutcome,
    BinaryAttackActor,
    CrossMoveActor,
    EncodingBasedAttackActor,
    MoveActor,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)
from abmarl.gridworld.agent import (
    AmmoAgent,
    AttackingAgent,
    GridObservingAgent,
    GridWorldAgent,
    MovingAgent,
    TeamAgent,
)
from abmarl.gridworld.base import GridWorldSimulation
from abmarl.gridworld.done import ActiveDone, OneTeamRemainingDone, TargetEncodingInactiveDone
from abmarl.gridworld.fields import Field
from abmarl.gridworld.grid import Grid
from abmarl.gridworld.observer import (
    AbsoluteEncodingObserver,
    AbsolutePositionObserver,
    AmmoObserver,
    PositionCenteredEncodingObserver,
    StackedPositionCenteredEncodingObserver,
    TeamObserver,
)
from abmarl.gridworld.registry import register, registry
from abmarl.gridworld.smart import SmartGridWorldSimulation
from abmarl.gridworld.state import HealthState, PositionState, TeamState
from abmarl.gridworld.vector import VectorSimulation
from abmarl.gridworld.wrapper import ExclusiveChannelActionWrapper, RavelActionWrapper

__all__ = [
    "AbsoluteEncodingObserver",
    "AbsolutePositionObserver",
    "ActiveDone",
    "AmmoAgent",
    "AmmoObserver",
    "AttackOutcome",
    "AttackingAgent",
    "BinaryAttackActor",
    "CrossMoveActor",
    "EncodingBasedAttackActor",
    "ExclusiveChannelActionWrapper",
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
    "RavelActionWrapper",
    "RestrictedSelectiveAttackActor",
    "SelectiveAttackActor",
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
