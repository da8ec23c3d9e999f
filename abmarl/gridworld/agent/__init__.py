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

__all__ = [
    "AmmoAgent",
    "AttackingAgent",
    "GridObservingAgent",
    "GridWorldAgent",
    "MovingAgent",
    "OrientationAgent",
    "TeamAgent",
]
