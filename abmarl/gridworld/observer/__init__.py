"""Observers: components that fill the agents' observations."""

from abmarl.gridworld.former_names import former_names_in
from abmarl.gridworld.observer.base import ObserverBase
from abmarl.gridworld.observer.observers import (
    AbsoluteEncodingObserver,
    AbsolutePositionObserver,
    AmmoObserver,
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

__getattr__ = former_names_in(__name__)
