"""Actors: components that process the agents' actions."""

from abmarl.gridworld.actor.attack import (
    AttackActorBase,
    AttackOutcome,
    BinaryAttackActor,
    EncodingBasedAttackActor,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)
from abmarl.gridworld.actor.base import ActorBase
from abmarl.gridworld.actor.move import CrossMoveActor, DriftMoveActor, MoveActor
from abmarl.gridworld.former_names import former_names_in

__all__ = [
    "ActorBase",
    "AttackActorBase",
    "AttackOutcome",
    "BinaryAttackActor",
    "CrossMoveActor",
    "DriftMoveActor",
    "EncodingBasedAttackActor",
    "MoveActor",
    "RestrictedSelectiveAttackActor",
    "SelectiveAttackActor",
]

__getattr__ = former_names_in(__name__)
