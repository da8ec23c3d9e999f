"""Rollout buffers of MaskablePPO that train on steps in which the agents acted only."""

from typing import Any

from abmarl.external.sb3.rollout_buffers import ActedRows
from abmarl.extras import load

_maskable = load("sb3_contrib.common.maskable.buffers", "sb3", "abmarl.external.sb3")


class MaskedRows(ActedRows):
    """What is the same for all rollout buffers of MaskablePPO."""

    def add(self, *args: Any, **kwargs: Any) -> None:
        """See `ActedRows.add`.

        Raises:
            TypeError: The algorithm has no masks.
        """
        if "action_masks" not in kwargs:
            raise TypeError(
                "on_policy(masked=True) is for MaskablePPO; give other algorithms **env.on_policy()"
            )
        super().add(*args, **kwargs)


class ActiveMaskableRolloutBuffer(MaskedRows, _maskable.MaskableRolloutBuffer):
    """For observations that are one array."""


class ActiveMaskableDictRolloutBuffer(MaskedRows, _maskable.MaskableDictRolloutBuffer):
    """For `Dict` observations."""
