"""Actors: components that process the agents' actions."""

from abmarl.gridworld.actor.aim import (
    EncodingBasedAttackActor,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)
from abmarl.gridworld.actor.attack import AttackActor, AttackOutcome, BinaryAttackActor
from abmarl.gridworld.actor.base import ActorBase
from abmarl.gridworld.actor.move import CrossMoveActor, DriftMoveActor, MoveActor

__all__ = [
    "ActorBase",
    "AttackActor",
    "AttackOutcome",
    "BinaryAttackActor",
    "CrossMoveActor",
    "DriftMoveActor",
    "EncodingBasedAttackActor",
    "MoveActor",
    "RestrictedSelectiveAttackActor",
    "SelectiveAttackActor",
]
