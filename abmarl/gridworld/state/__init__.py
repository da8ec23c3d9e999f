"""State components: what an episode starts from."""

from abmarl.gridworld.former_names import former_names_in
from abmarl.gridworld.state.base import (
    AmmoState,
    HealthState,
    OrientationState,
    StateBase,
    TeamState,
)
from abmarl.gridworld.state.position import (
    MazePlacementState,
    PositionState,
    TargetBarriersFreePlacementState,
)

__all__ = [
    "AmmoState",
    "HealthState",
    "MazePlacementState",
    "OrientationState",
    "PositionState",
    "StateBase",
    "TargetBarriersFreePlacementState",
    "TeamState",
]

__getattr__ = former_names_in(__name__)
