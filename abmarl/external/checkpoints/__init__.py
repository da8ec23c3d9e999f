"""Policies from checkpoints: what trained policies do, on the arrays of a vectorised simulation."""

from abmarl.external.checkpoints.loading import load_policy
from abmarl.external.checkpoints.policy import CheckpointPolicy

__all__ = ["CheckpointPolicy", "load_policy"]
