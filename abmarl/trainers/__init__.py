"""Trainers: policies and a simulation brought together, to play and to learn."""

from abmarl.trainers.base import MultiPolicyTrainer, SinglePolicyTrainer
from abmarl.trainers.debug import DebugTrainer
from abmarl.trainers.monte_carlo import MonteCarloTrainer

__all__ = ["DebugTrainer", "MonteCarloTrainer", "MultiPolicyTrainer", "SinglePolicyTrainer"]
