"""Observers: components that fill the agents' observations."""

from abmarl.gridworld.observer.absolute import (
    AbsoluteEncodingObserver,
    AbsolutePositionObserver,
)
from abmarl.gridworld.observer.ammo import AmmoObserver
from abmarl.gridworld.observer.base import ObserverBase
from abmarl.gridworld.observer.window import (
    PositionCenteredEncodingObserver,
    StackedPositionCenteredEncodingObserver,
    TeamObserver,
)

__all__ = [
    "AbsoluteEncodingObserver",
    "AbsolutePositionObserver",
    "AmmoObserver",
    "ObserverBase",
    "PositionCenteredEncodingObserver",
    "StackedPositionCenteredEncodingObserver",
    "TeamObserver",
]
