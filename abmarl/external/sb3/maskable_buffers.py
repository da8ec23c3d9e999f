"""Rollout buffers of MaskablePPO that leave out the steps of slots that wait."""

from typing import Any

from abmarl.external.sb3.buffers import ActedRows
from abmarl.extras import load

_maskable = load("sb3_contrib.common.maskable.buffers", "sb3", "abmarl.external.sb3")


class MaskedRows(ActedRows):
    """A rollout buffer of MaskablePPO that trains only on steps in which the agents acted."""

    def add(self, *args: Any, **kwargs: Any) -> None:
        """Keep a step of all slots; called right after it."""
        if "action_masks" not in kwargs:
            raise TypeError(
                "on_policy(masked=True) is for MaskablePPO; give other algorithms **env.on_policy()"
            )
        super().add(*args, **kwargs)


class ActiveMaskableRolloutBuffer(MaskedRows, _maskable.MaskableRolloutBuffer):
    """For observations that are one array."""


class ActiveMaskableDictRolloutBuffer(MaskedRows, _maskable.MaskableDictRolloutBuffer):
    """For `Dict` observations."""
