"""Actors: components that process the agents' actions."""

from abmarl.gridworld.actor.attack import AttackOutcome, BinaryAttackActor
from abmarl.gridworld.actor.base import ActorBase
from abmarl.gridworld.actor.move import CrossMoveActor, DriftMoveActor, MoveActor

__all__ = [
    "ActorBase",
    "AttackOutcome",
    "BinaryAttackActor",
    "CrossMoveActor",
    "DriftMoveActor",
    "MoveActor",
]
