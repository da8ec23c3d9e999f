"""The state component of health."""

from abmarl.gridworld.state.base import StateBase
from abmarl.kernels.placement import reset_health
from abmarl.kernels.program import Call


class HealthState(StateBase):
    """Gives every agent its initial health, or a uniform one in (0, 1) where it has none."""

    def calls(self, worlds) -> list:
        """Sets health, and with it ``active``."""
        store = self.store
        return [Call(reset_health, worlds, store.traits, store.streams, store.active, store.health)]
