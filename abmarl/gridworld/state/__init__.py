"""State components: what an episode starts from."""

from abmarl.gridworld.state.base import StateBase
from abmarl.gridworld.state.health import HealthState
from abmarl.gridworld.state.position import PositionState
from abmarl.gridworld.state.team import TeamState

__all__ = ["HealthState", "PositionState", "StateBase", "TeamState"]
