"""Done components that look at targets."""

import numpy as np

from abmarl.gridworld.done.base import DoneBase
from abmarl.gridworld.grid import parse_encodings
from abmarl.kernels.done import targets_inactive
from abmarl.kernels.program import Call


class TargetEncodingInactiveDone(DoneBase):
    """An agent is done when every agent of its target encodings is inactive.

    Args:
        target_mapping: ``{encoding: target encoding or set of them}``. Agents of other encodings
            are never done.
        sim_ends_if_one_done: Whether the world is done when the agents of one mapped encoding
            are; else it takes all of them.
    """

    def __init__(self, target_mapping=None, sim_ends_if_one_done=True, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(sim_ends_if_one_done, bool | np.bool_):
            raise TypeError(
                f"sim_ends_if_one_done must be True or False, got {sim_ends_if_one_done!r}."
            )
        store = self.store
        kinds = store.kinds.tolist()
        self.target_mapping = parse_encodings("target_mapping", target_mapping or {}, kinds)
        if not self.target_mapping:
            raise ValueError("TargetEncodingInactiveDone needs a target_mapping, like {1: {2}}.")
        self.sim_ends_if_one_done = bool(sim_ends_if_one_done)
        self._targets = store.relation(self.target_mapping)
        self._mapped = np.isin(store.kinds, list(self.target_mapping))
        self._extinct = np.zeros(len(store.kinds), bool)

    def calls(self) -> list:
        """Whose targets are all inactive, and where one mapped encoding is done, or all are."""
        store = self.store
        find = Call(
            targets_inactive, store.active, store.traits, self._targets, self._mapped,
            self.sim_ends_if_one_done, self._extinct, self.agents_done, self.worlds_done,
        )  # fmt: skip
        return [find]
