"""Placement around a target: barriers near it, free agents far from it, or both in a maze."""

import numpy as np

from abmarl.kernels.cells import ravel_cell
from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.maze import PASSAGE, WALL, grow_maze
from abmarl.kernels.occupancy import available, clear_world, enter
from abmarl.kernels.placement import find_cell, is_free, list_classes, shuffle_classes

# A maze may have too few walls or passages for everyone; then another one is tried, so often.
MAZES = 32


@rule
def sort_by_distance(centre, rows, cols, width, pad, ranks, ranked):
    """Lists the cells in ``ranked``, nearest to ``centre`` first, in reading order among equals.

    Distances are Euclidean. ``ranks`` is int32 scratch with an entry per squared distance, and one
    more.
    """
    row, col = centre // width - pad, centre % width - pad
    for k in range(ranks.shape[0]):
        ranks[k] = 0
    for r in range(rows):
        for c in range(cols):
            ranks[(r - row) * (r - row) + (c - col) * (c - col) + 1] += 1
    for k in range(1, ranks.shape[0]):
        ranks[k] += ranks[k - 1]
    for r in range(rows):
        for c in range(cols):
            distance = (r - row) * (r - row) + (c - col) * (c - col)
            ranked[ranks[distance]] = ravel_cell(r, c, width, pad)
            ranks[distance] += 1


@rule
def next_cell(
    b, kind, step, alone, ground, wanted, ranked, cursors, first, next_, top, traits, overlap
):
    """The first free cell for this kind in ``ranked``, or the last one if ``step`` is -1, or -1.

    While agents are placed, cells that are not free stay so: every kind goes on where it was.
    """
    k = cursors[kind]
    while 0 <= k < ranked.shape[0]:
        p = np.int64(ranked[k])
        if is_free(b, kind, p, alone, ground, wanted, first, next_, top, traits, overlap):
            cursors[kind] = k
            return p
        k += step
    cursors[kind] = k
    return np.int64(-1)


@kernel
def place_around_target(
    worlds, target, barriers, clustered, scattered, in_maze, spare, order, shuffled, alone, start,
    rows, cols, width, pad, blank, cell, first, next_, top, walls, active, traits, overlap, rng,
    ground, frontier, ranks, ranked, cursors, failed, trouble,
):  # fmt: skip
    """Places the agents of the listed worlds on their empty grids; below 0 the list ends.

    The target comes first, then the agents with an initial position, then the others, as in
    ``place_agents``. A random cell of the target is none that others need for their start.
    ``barriers`` bool [kinds] says which kinds are barriers; the others are free. ``clustered``
    barriers take the free cell closest to the target, ``scattered`` free agents the farthest one,
    the others a random one; ``in_maze`` barriers only walls and free agents only passages of
    a fresh maze. ``spare`` barriers without a cell are left off the grid, not active, on the
    target's cell as the one where they were last. ``ground`` uint8 [cells] keeps the maze of the
    last world; the arrays around it are scratch.
    ``failed`` and ``trouble`` tell of failures as in ``place_agents``.
    """
    for k in range(worlds.shape[0]):
        b = worlds[k]
        if b < 0:
            break
        for attempt in range(MAZES if in_maze else 1):
            if attempt > 0:
                clear_world(b, blank, first, top, walls, cell)
            num_fixed, count = list_classes(start, target, order)
            if shuffled:
                shuffle_classes(b, order, num_fixed, count, rng)
            failed[b] = _place_fixed(
                b, target, num_fixed, order, alone, start, rows, cols, width, pad,
                cell, first, next_, top, walls, traits, overlap, rng,
            )  # fmt: skip
            if failed[b] >= 0:
                break
            centre = np.int64(cell[b, target])
            if in_maze:
                grow_maze(b, centre, rows, cols, width, pad, rng, ground, frontier)
            if clustered or scattered:
                sort_by_distance(centre, rows, cols, width, pad, ranks, ranked)
                for kind in range(barriers.shape[0]):
                    cursors[kind] = 0 if barriers[kind] else rows * cols - 1
            failed[b] = _place_others(
                b, target, num_fixed, count, barriers, clustered, scattered, in_maze, spare, order,
                alone, rows, cols, width, pad, cell, first, next_, top, walls, active, traits,
                overlap, rng, ground, ranked, cursors,
            )  # fmt: skip
            if failed[b] < 0:
                break
        if failed[b] >= 0:
            trouble[0] = 1


@rule
def _place_fixed(
    b, target, num_fixed, order, alone, start, rows, cols, width, pad,
    cell, first, next_, top, walls, traits, overlap, rng,
):  # fmt: skip
    """Places the target and the first agents in ``order``; returns who does not fit, or -1."""
    if start[target] > 0:
        enter(b, target, start[target], cell, first, next_, top, walls, traits)
    for t in range(num_fixed):
        i = np.int64(order[t])
        if not available(b, traits[i].kind, start[i], first, next_, top, traits, overlap):
            return i
        enter(b, i, start[i], cell, first, next_, top, walls, traits)
    if start[target] <= 0:
        p = find_cell(
            b, traits[target].kind, alone, None, 0, rows, cols, width, pad,
            first, next_, top, traits, overlap, rng,
        )  # fmt: skip
        if p < 0:
            return np.int64(target)
        enter(b, target, p, cell, first, next_, top, walls, traits)
    return np.int64(-1)


@rule
def _place_others(
    b, target, num_fixed, count, barriers, clustered, scattered, in_maze, spare, order, alone,
    rows, cols, width, pad, cell, first, next_, top, walls, active, traits, overlap, rng, ground,
    ranked, cursors,
):  # fmt: skip
    """Places the other agents in ``order``; returns who finds no cell, or -1."""
    for t in range(num_fixed, count):
        i = np.int64(order[t])
        kind = traits[i].kind
        barrier = barriers[kind]
        wanted = 0
        if in_maze:
            wanted = WALL if barrier else PASSAGE
        if clustered if barrier else scattered:
            p = next_cell(
                b, kind, 1 if barrier else -1, alone, ground, wanted, ranked, cursors,
                first, next_, top, traits, overlap,
            )  # fmt: skip
        else:
            p = find_cell(
                b, kind, alone, ground, wanted, rows, cols, width, pad,
                first, next_, top, traits, overlap, rng,
            )  # fmt: skip
        if barrier and spare:
            active[b, i] = p >= 0
            if p < 0:
                cell[b, i] = cell[b, target]
                continue
        if p < 0:
            return i
        enter(b, i, p, cell, first, next_, top, walls, traits)
    return np.int64(-1)
