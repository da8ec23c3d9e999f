"""The state component of ammunition."""

import numpy as np

from abmarl.gridworld.state.base import StateBase
from abmarl.kernels.placement import reset_ammo
from abmarl.kernels.program import Call


class AmmoState(StateBase):
    """Gives every agent its initial ammo."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._ammo = self.store.require("ammo", np.int32)

    def calls(self, worlds) -> list:
        """Sets ``store.ammo``, int32 [B, N]; 0 for agents without ammunition."""
        return [Call(reset_ammo, worlds, self.store.traits, self._ammo)]
