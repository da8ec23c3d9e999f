"""Actors: components that process the agents' actions."""

from abmarl.gridworld.actor.attack import AttackOutcome, BinaryAttackActor
from abmarl.gridworld.actor.base import ActorBase
from abmarl.gridworld.actor.move import CrossMoveActor, MoveActor

__all__ = ["ActorBase", "AttackOutcome", "BinaryAttackActor", "CrossMoveActor", "MoveActor"]
