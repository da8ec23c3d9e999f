"""Observers that know what the rows of their outputs hold."""

import numpy as np

from abmarl.gridworld.observer.base import ObserverBase
from abmarl.gridworld.store import SHOWN


class RememberingObserver(ObserverBase):
    """Writes an agent's row while it is active and twice more: its last view, then the null one.

    Subclasses hand ``_viewers``, ``_shown`` and ``_due`` to their kernel, see
    ``abmarl.kernels.windows``.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._viewers = np.flatnonzero(self.form_of >= 0).astype(self.store.slot_dtype)
        self._due = np.zeros(self.store.num_agents, self.store.slot_dtype)
        # What the agents' rows hold.
        self._shown = self.store.require(f"{SHOWN}{self.key}", np.uint8, default=2, reset=True)

    def go_back(self, flat):
        """See ``ObserverBase.go_back``."""
        super().go_back(flat)
        if flat is None:
            # Nobody knows what the rows hold now: null ones are written once more.
            np.maximum(self._shown, 1, out=self._shown)
