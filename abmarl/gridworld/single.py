"""The single world: what agent objects and the grid read and write."""

import numpy as np

from abmarl.gridworld.fields import Field, Trait, declared
from abmarl.kernels.occupancy import enter_cell, leave_cell, may_enter


class SingleWorld:
    """The part of a store that shows its world 0 to single agents."""

    def bind(self, slot, agent):
        """Moves what the agent holds into the arrays; from then on it reads and writes them."""
        names = ("active", "health", *declared(type(agent), Field))
        values = {name: getattr(agent, name) for name in names}
        position = agent.position
        for name in (*declared(type(agent), Trait), *names, "position"):
            agent.__dict__.pop(name, None)
        agent._store, agent._slot = self, slot
        for name, value in values.items():
            getattr(self, name)[0, slot] = value
        if position is not None:
            self.set_position(slot, position)

    def position_of(self, slot):
        """int array (row, column) of one agent of world 0, or None."""
        p = self.cell.item(slot)
        return np.array(self.padding.unravel(p)) if p else None

    def set_position(self, slot, position):
        """Moves one agent of world 0, on the grid if it is there.

        Raises:
            ValueError: The cell is not on the grid or not available.
        """
        row, col = (int(v) for v in position)
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            raise ValueError(f"({row}, {col}) is not on the {self.rows} x {self.cols} grid.")
        p = self.padding.ravel(row, col)
        if p == self.cell[0, slot]:
            return
        if not self.on_grid(slot):
            self.cell[0, slot] = p
        else:
            if not self.may_enter(slot, p):
                raise ValueError(f"Cell ({row}, {col}) is not available to {self.ids[slot]!r}.")
            self.leave(slot)
            self.enter(slot, p)
        self.touch()

    def empty_grid(self):
        """Takes every agent of world 0 off the grid and changes nothing else about it."""
        self.first[0] = -1
        self.top[0] = self.blank
        self.walls[0] = 0
        self.cell[0] = 0
        self.touch()

    def set_active(self, slot, value):
        """Makes one agent of world 0 active or not; it stays where it is."""
        self.active[0, slot] = value
        self.update_wall(slot)
        self.touch()

    def update_wall(self, slot):
        """Says anew whether the cell of a blocking agent hides what is behind it."""
        if self.traits["blocking"][slot] and self.on_grid(slot):
            p = self.cell.item(slot)
            there = self.occupants(p)
            self.walls[0, p] = (self.traits["blocking"][there] & self.active[0, there]).any()

    def occupants(self, p) -> list:
        """The agents (numbers) of a cell of world 0, in the order in which they came."""
        found, j = [], self.first.item(p)
        while j >= 0:
            found.append(j)
            j = self.next_.item(j)
        return found[::-1]

    def on_grid(self, slot) -> bool:
        """Whether an agent of world 0 stands on a cell."""
        return slot in self.occupants(self.cell.item(slot))

    def may_enter(self, slot, p) -> bool:
        """Whether cell p of world 0 is available to an agent."""
        return may_enter(slot, p, self.first, self.next_, self.top, self.traits, self.overlap)

    def enter(self, slot, p):
        """Puts an agent of world 0 on cell p."""
        enter_cell(slot, p, self.cell, self.first, self.next_, self.top, self.walls, self.traits)
        if not self.active[0, slot]:
            self.update_wall(slot)
        self.touch()

    def leave(self, slot):
        """Takes an agent of world 0 off the grid."""
        leave_cell(
            slot, self.cell, self.first, self.next_, self.top, self.walls, self.active, self.traits
        )
        self.touch()
