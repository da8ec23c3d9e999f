"""The padded grid: cell numbers, and the line-of-sight tables that go with the ranges in use."""

import numpy as np

from abmarl.kernels.cells import unravel_cells
from abmarl.kernels.sight import sight_table

# Bit sets of hidden cells are made per blocker offset up to this range; for larger windows they
# would take megabytes, and the rule is asked instead.
LARGEST_TABLE = 24


class Padding:
    """How the cells of a grid are numbered: row by row, with ``pad`` cells added on every side.

    Attributes:
        pad: At least as wide as any window, so that windows and steps stay inside the arrays.
        width: Cells in a padded row; ``cells``: all of them; ``dtype``: what holds their number.
        sight, starts: The bit sets of hidden cells and where each range's table starts (below 0:
            no table); see ``abmarl.kernels.sight``.
    """

    def __init__(self, rows, cols, traits):
        farthest = max(rows, cols) - 1
        reach = min(max(traits["move_range"].max(), traits["attack_range"].max()), farthest)
        self.pad = int(max(1, traits["view_range"].max(), reach))
        self.rows, self.cols = rows, cols
        self.width = cols + 2 * self.pad
        self.cells = (rows + 2 * self.pad) * self.width
        # Unsigned: numba then needs no code for negative indices.
        self.dtype = np.dtype(np.uint16 if self.cells <= np.iinfo(np.uint16).max else np.uint32)
        if self.cells > np.iinfo(np.int32).max:
            raise ValueError(
                f"A {rows} x {cols} grid with ranges up to {self.pad} is too large; "
                "use a smaller grid or smaller ranges."
            )
        self.starts = np.full(self.pad + 1, -1, np.int64)
        self.sight = np.zeros(1, np.uint64)
        self._blocked = bool(traits["blocking"].any())
        if self._blocked:
            attack = np.minimum(traits["attack_range"], self.pad)
            self._make_tables(np.union1d(traits["view_range"], attack))

    def _make_tables(self, ranges):
        ranges = [int(r) for r in ranges if r <= LARGEST_TABLE]
        sizes = [(2 * r + 1) ** 2 * _words(r) for r in ranges]
        self.sight = np.zeros(max(1, sum(sizes)), np.uint64)
        start = 0
        for reach, size in zip(ranges, sizes, strict=True):
            self.starts[reach] = start
            sight_table(reach, _words(reach), self.sight, start)
            start += size

    def scratch(self) -> np.ndarray:
        """uint64: room for the hidden cells of the largest window; empty when nobody blocks."""
        return np.zeros(_words(self.pad) if self._blocked else 0, np.uint64)

    def blank(self, dtype) -> np.ndarray:
        """[cells]: an empty grid, 0 inside and -1 outside."""
        grid = np.full((self.rows + 2 * self.pad, self.width), -1, dtype)
        grid[self.pad : self.pad + self.rows, self.pad : self.pad + self.cols] = 0
        return grid.reshape(-1)

    def ravel(self, row: int, col: int) -> int:
        """The number of a cell."""
        return (row + self.pad) * self.width + col + self.pad

    def unravel(self, p: int) -> tuple:
        """Row and column of a cell."""
        return p // self.width - self.pad, p % self.width - self.pad

    def positions(self, cells) -> np.ndarray:
        """Cells [B, N] as rows and columns, int32 [B, N, 2]."""
        out = np.empty((*cells.shape, 2), np.int32)
        unravel_cells(cells, self.width, self.pad, out)
        return out


def _words(reach: int) -> int:
    return ((2 * reach + 1) ** 2 + 63) // 64
