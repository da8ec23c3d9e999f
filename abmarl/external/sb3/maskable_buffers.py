"""Rollout buffers of MaskablePPO that train on steps in which the agents acted only."""

from abmarl.external.sb3.rollout_buffers import ActedRows
from abmarl.extras import load

_maskable = load("sb3_contrib.common.maskable.buffers", "sb3", "abmarl.external.sb3")


class ActiveMaskableRolloutBuffer(ActedRows, _maskable.MaskableRolloutBuffer):
    """For observations that are one array."""


class ActiveMaskableDictRolloutBuffer(ActedRows, _maskable.MaskableDictRolloutBuffer):
    """For `Dict` observations."""
