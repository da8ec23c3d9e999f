"""Trainers: policies and a simulation brought together, to play and to learn."""

from abmarl.trainers.base import MultiPolicyTrainer, SinglePolicyTrainer, Trajectories
from abmarl.trainers.debug import DebugTrainer
from abmarl.trainers.monte_carlo import (
    MonteCarloTrainer,
    discounted_returns,
    first_visit_update,
    off_policy_update,
)

__all__ = [
    "DebugTrainer",
    "MonteCarloTrainer",
    "MultiPolicyTrainer",
    "SinglePolicyTrainer",
    "Trajectories",
    "discounted_returns",
    "first_visit_update",
    "off_policy_update",
]
