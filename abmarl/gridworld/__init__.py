"""The grid world: components over a store of arrays."""

from abmarl.gridworld.actor import (
    AttackOutcome,
    BinaryAttackActor,
    CrossMoveActor,
    DriftMoveActor,
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
    OrientationAgent,
    TeamAgent,
)
from abmarl.gridworld.base import GridWorldSimulation
from abmarl.gridworld.done import (
    ActiveDone,
    OneTeamRemainingDone,
    TargetAgentInactiveDone,
    TargetAgentOverlapDone,
    TargetEncodingInactiveDone,
)
from abmarl.gridworld.fields import Field
from abmarl.gridworld.former_names import former_names_in
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
from abmarl.gridworld.state import (
    AmmoState,
    HealthState,
    MazePlacementState,
    OrientationState,
    PositionState,
    TargetBarriersFreePlacementState,
    TeamState,
)
from abmarl.gridworld.vector import VectorSimulation
from abmarl.gridworld.wrapper import ExclusiveChannelActionWrapper, RavelActionWrapper

__all__ = [
    "AbsoluteEncodingObserver",
    "AbsolutePositionObserver",
    "ActiveDone",
    "AmmoAgent",
    "AmmoObserver",
    "AmmoState",
    "AttackOutcome",
    "AttackingAgent",
    "BinaryAttackActor",
    "CrossMoveActor",
    "DriftMoveActor",
    "EncodingBasedAttackActor",
    "ExclusiveChannelActionWrapper",
    "Field",
    "Grid",
    "GridObservingAgent",
    "GridWorldAgent",
    "GridWorldSimulation",
    "HealthState",
    "MazePlacementState",
    "MoveActor",
    "MovingAgent",
    "OneTeamRemainingDone",
    "OrientationAgent",
    "OrientationState",
    "PositionCenteredEncodingObserver",
    "PositionState",
    "RavelActionWrapper",
    "RestrictedSelectiveAttackActor",
    "SelectiveAttackActor",
    "SmartGridWorldSimulation",
    "StackedPositionCenteredEncodingObserver",
    "TargetAgentInactiveDone",
    "TargetAgentOverlapDone",
    "TargetBarriersFreePlacementState",
    "TargetEncodingInactiveDone",
    "TeamAgent",
    "TeamObserver",
    "TeamState",
    "VectorSimulation",
    "register",
    "registry",
]

__getattr__ = former_names_in(__name__)
