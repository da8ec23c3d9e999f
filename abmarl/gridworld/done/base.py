"""What done components have in common."""

import numpy as np

from abmarl.gridworld.component import Component


class DoneBase(Component):
    """Says when agents and worlds are done.

    A subclass defines ``done`` and ``all_done`` on the arrays.
    """

    def done(self) -> np.ndarray:
        """bool [B, N]: the agents that are done."""
        return ~self.store.active

    def all_done(self) -> np.ndarray:
        """bool [B]: the worlds that are done."""
        return self.done().all(axis=1)

    def get_done(self, agent, **kwargs) -> bool:
        """Whether an agent of a single world is done."""
        return bool(self.done()[0, agent._slot])

    def get_all_done(self, **kwargs) -> bool:
        """Whether a single world is done."""
        return bool(self.all_done()[0])
