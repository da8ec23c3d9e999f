"""Collecting experience from vectorised simulations, and files of it.

from abmarl.rollout import collect, save, load

rollout = collect(vec, {"red": "heuristic", "blue": "random"}, num_steps=500)
save(rollout, "run.npz")
"""

from abmarl.resources import available_memory
from abmarl.rollout.collect import Statistics, collect, statistics
from abmarl.rollout.columns import Rollout, RolloutGroup, rollout_nbytes
from abmarl.rollout.cross_play import CrossPlay, Match, cross_play
from abmarl.rollout.episodes import AliveCurve, Episodes
from abmarl.rollout.evaluation import Evaluation, Interval, evaluate
from abmarl.rollout.file import load, save
from abmarl.rollout.heuristic import HeuristicPolicy
from abmarl.rollout.policies import AgentPolicies, SampledActions

__all__ = [
    "AgentPolicies",
    "AliveCurve",
    "CrossPlay",
    "Episodes",
    "Evaluation",
    "HeuristicPolicy",
    "Interval",
    "Match",
    "Rollout",
    "RolloutGroup",
    "SampledActions",
    "Statistics",
    "available_memory",
    "collect",
    "cross_play",
    "evaluate",
    "load",
    "rollout_nbytes",
    "save",
    "statistics",
]
