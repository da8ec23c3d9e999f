"""State components that place the agents."""

import numpy as np

from abmarl.gridworld.fields import truth
from abmarl.gridworld.state.base import StateBase
from abmarl.kernels.placement import place_agents
from abmarl.kernels.program import Call


class PositionState(StateBase):
    """Places the agents: those with an initial position there, the others at random.

    First come the agents with an initial position, then the others, each in the order of the
    agents. An agent without one gets a random cell among those available to it.

    Args:
        no_overlap_at_reset: Whether agents without an initial position need an empty cell even
            where they could overlap.
        randomize_placement_order: Whether each of the two classes is placed in a fresh random
            order every episode, which matters when cells are scarce.
    """

    rank = 0

    def __init__(self, no_overlap_at_reset=False, randomize_placement_order=False, **kwargs):
        super().__init__(**kwargs)
        self.no_overlap_at_reset = truth("no_overlap_at_reset", no_overlap_at_reset)
        self.randomize_placement_order = truth(
            "randomize_placement_order", randomize_placement_order
        )
        store = self.store
        self._order = np.zeros(store.num_agents, store.slot_dtype)
        self._failed = np.full(store.num_worlds, -1, np.int64)
        self._trouble = np.zeros(1, np.int64)

    def calls(self, worlds) -> list:
        """Empties the grids of the worlds and places their agents."""
        store, padding = self.store, self.store.padding
        place = Call(
            place_agents, worlds, self._order, self.randomize_placement_order,
            self.no_overlap_at_reset, store.start, store.rows, store.cols, padding.width,
            padding.pad, store.cell, store.first, store.next_, store.top, store.walls,
            store.traits, store.overlap, store.streams, self._failed, self._trouble,
        )  # fmt: skip
        return [store.clearing(worlds), place]

    @property
    def may_fail(self):
        """With a cell for everyone it does not: initial positions fit always or never."""
        store = self.store
        return super().may_fail or store.num_agents > store.rows * store.cols

    def check(self):
        """Raises a ValueError if an agent did not fit on the grid of a world."""
        if self._trouble.item(0):
            self._trouble[0] = 0
            world = int(np.argmax(self._failed >= 0))
            slot = int(self._failed[world])
            self._failed[:] = -1
            self._refuse(world, slot)

    def _refuse(self, world, slot):
        name, store = self.store.ids[slot], self.store
        where = f" of world {store.first_world + world}" if self.grid.replica else ""
        if store.start[slot] > 0:
            row, col = store.padding.unravel(int(store.start[slot]))
            raise ValueError(
                f"Agent {name!r} cannot start at its initial position ({row}, {col}){where}: "
                "it may not overlap with who is there; move one, or add both to overlapping."
            )
        raise ValueError(
            f"No cell of the {store.rows} x {store.cols} grid{where} is left for agent {name!r}; "
            "use a larger grid, fewer agents, or let more of them overlap."
        )
