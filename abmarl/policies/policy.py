"""All policies in one module, where existing code imports them from."""

from abmarl.policies.base import Policy, RandomPolicy
from abmarl.policies.tabular import EpsilonSoftPolicy, GreedyPolicy, QTablePolicy

__all__ = ["EpsilonSoftPolicy", "GreedyPolicy", "Policy", "QTablePolicy", "RandomPolicy"]
