"""Observers that name cells by their place on the grid."""

import numpy as np
from gymnasium.spaces import Box

from abmarl.gridworld.observer.remembering import RememberingObserver
from abmarl.kernels.grids import label_grids, show_positions
from abmarl.kernels.program import Call
from abmarl.sim.agents import ObservingAgent


class AbsoluteEncodingObserver(RememberingObserver):
    """Shows the encodings in all cells of the grid.

    Channel ``absolute_encoding``: ``Box(-2, max_encoding, (rows, cols), int)``: 0 empty, -1 the
    cell of the observer itself, -2 beyond its view range or masked by a blocking agent; null all
    -2. Of several agents in another cell a random one is shown.
    """

    key = "absolute_encoding"
    needs_positions = True

    def parameters(self, agent):
        """The space is the same for all."""
        return ()

    def space(self, agent):
        """Box of the grid."""
        kinds = self.store.kinds
        low, high = min(-2, int(kinds.min())), max(0, int(kinds.max()))
        return Box(low, high, (self.rows, self.cols), int)

    def null(self, agent):
        """Every cell masked."""
        return np.full((self.rows, self.cols), -2)

    def calls(self, worlds, flat, rows_of, final) -> list:
        """See ``ObserverBase.write``."""
        store, padding = self.store, self.store.padding
        write = Call(
            label_grids, worlds, self._viewers, rows_of, store.uniform, final, self.rows,
            self.cols, padding.width, padding.pad, store.cell, store.first, store.next_, store.top,
            store.flat_walls, store.active, store.traits, store.encodings, padding.sight,
            padding.starts, store.hidden, store.sight_streams, self._shown, self._due, flat,
        )  # fmt: skip
        return [write]


class AbsolutePositionObserver(RememberingObserver):
    """Shows the agent where it is.

    Channel ``position``: ``Box([0, 0], [rows - 1, cols - 1], int)``, row and column; null zeros.
    Any observing agent has it, with a view range or without.
    """

    key = "position"
    needs_positions = True
    supported_agent_type = ObservingAgent

    def parameters(self, agent):
        """The space is the same for all."""
        return ()

    def space(self, agent):
        """Box of the cells."""
        return Box(np.zeros(2, int), np.array([self.rows - 1, self.cols - 1]), dtype=int)

    def null(self, agent):
        """The first cell."""
        return np.zeros(2, int)

    def calls(self, worlds, flat, rows_of, final) -> list:
        """See ``ObserverBase.write``."""
        store, padding = self.store, self.store.padding
        write = Call(
            show_positions, worlds, self._viewers, rows_of, final, padding.width, padding.pad,
            store.cell, store.active, self._shown, self._due, flat,
        )  # fmt: skip
        return [write]
