"""Observers: components that fill the agents' observations."""

from abmarl.gridworld.observer.base import ObserverBase
from abmarl.gridworld.observer.window import (
    PositionCenteredEncodingObserver,
    StackedPositionCenteredEncodingObserver,
    TeamObserver,
)

__all__ = [
    "ObserverBase",
    "PositionCenteredEncodingObserver",
    "StackedPositionCenteredEncodingObserver",
    "TeamObserver",
]
