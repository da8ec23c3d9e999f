"""Collecting experience from vectorised simulations, and files of it.

from abmarl.rollout import collect, save, load

rollout = collect(vec, {"red": "heuristic", "blue": "random"}, num_steps=500)
save(rollout, "run.npz")
"""

from abmarl.gridworld.memory import available_memory
from abmarl.rollout.agent_policies import AgentPolicies
from abmarl.rollout.collect import Statistics, collect, statistics
from abmarl.rollout.columns import Rollout, RolloutGroup
from abmarl.rollout.episodes import AliveCurve, Episodes
from abmarl.rollout.file import load, save
from abmarl.rollout.heuristic import HeuristicPolicy
from abmarl.rollout.policies import SampledActions
from abmarl.rollout.size import rollout_nbytes

__all__ = [
    "AgentPolicies",
    "AliveCurve",
    "Episodes",
    "HeuristicPolicy",
    "Rollout",
    "RolloutGroup",
    "SampledActions",
    "Statistics",
    "available_memory",
    "collect",
    "load",
    "rollout_nbytes",
    "save",
    "statistics",
]
