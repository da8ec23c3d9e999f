"""Policies: what an agent does, given what it observes."""

from abmarl.policies.policy import (
    EpsilonSoftPolicy,
    GreedyPolicy,
    Policy,
    QTablePolicy,
    RandomPolicy,
)

__all__ = ["EpsilonSoftPolicy", "GreedyPolicy", "Policy", "QTablePolicy", "RandomPolicy"]
