"""The agents of the grid world: sums of abilities, data without behaviour."""

from abmarl.gridworld.agent.abilities import (
    AmmoAgent,
    AttackingAgent,
    GridObservingAgent,
    MovingAgent,
    OrientationAgent,
    TeamAgent,
)
from abmarl.gridworld.agent.base import GridWorldAgent
from abmarl.gridworld.agent.health import HealthAgent as _HealthAgent  # noqa: F401
from abmarl.gridworld.former_names import former_names_in

__all__ = [
    "AmmoAgent",
    "AttackingAgent",
    "GridObservingAgent",
    "GridWorldAgent",
    "MovingAgent",
    "OrientationAgent",
    "TeamAgent",
]

__getattr__ = former_names_in(__name__)
