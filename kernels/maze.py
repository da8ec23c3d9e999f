"""Mazes: passages one cell wide that grow over the grid from one cell.

Source: R. C. Prim, "Shortest connection networks and some generalizations", 1957, with random
lengths: a random cell of the frontier is opened when exactly one of its four neighbours is open.
So passages form a tree: every one is connected to the first, and there are no open squares.
"""

from abmarl.kernels.cells import ravel_cell
from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.streams import below

# What a cell of ``ground``, uint8 [cells], is. Outside of the grid it is 0 and stays so.
WALL = 1
PASSAGE = 2
_UNTOUCHED = 3


@rule
def _widen(p, width, ground, frontier, count):
    """Adds the untouched neighbours of cell p to the frontier; returns how many cells it has."""
    for q in (p - width, p - 1, p + 1, p + width):
        if ground[q] == _UNTOUCHED:
            ground[q] = WALL
            frontier[count] = q
            count += 1
    return count


@rule
def grow_maze(b, start, rows, cols, width, pad, rng, ground, frontier):
    """Makes a maze of world b around the cell ``start``: ``ground`` becomes walls and passages.

    ``frontier`` int32 [rows * cols] is scratch.
    """
    for r in range(rows):
        for c in range(cols):
            ground[ravel_cell(r, c, width, pad)] = _UNTOUCHED
    ground[start] = PASSAGE
    count = _widen(start, width, ground, frontier, 0)
    while count > 0:
        k = below(rng, b, count)
        count -= 1
        p = frontier[k]
        frontier[k] = frontier[count]
        opened = 0
        for q in (p - width, p - 1, p + 1, p + width):
            opened += ground[q] == PASSAGE
        if opened == 1:
            ground[p] = PASSAGE
            count = _widen(p, width, ground, frontier, count)
    # What is enclosed by walls is wall.
    for r in range(rows):
        for c in range(cols):
            p = ravel_cell(r, c, width, pad)
            if ground[p] == _UNTOUCHED:
                ground[p] = WALL


@kernel
def grow_mazes(starts, rows, cols, width, pad, rng, ground, frontier):
    """A maze for every world: ``ground`` uint8 [B, cells] around ``starts`` [B]."""
    for b in range(starts.shape[0]):
        grow_maze(b, starts[b], rows, cols, width, pad, rng, ground[b], frontier)
