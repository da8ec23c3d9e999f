"""State components: what an episode starts from."""

from abmarl.gridworld.former_names import former_names_in
from abmarl.gridworld.state.ammo import AmmoState
from abmarl.gridworld.state.base import StateBase
from abmarl.gridworld.state.health import HealthState
from abmarl.gridworld.state.orientation import OrientationState
from abmarl.gridworld.state.position import PositionState
from abmarl.gridworld.state.target import MazePlacementState, TargetBarriersFreePlacementState
from abmarl.gridworld.state.team import TeamState

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
