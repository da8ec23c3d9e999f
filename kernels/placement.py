"""Where agents are placed when an episode starts: at random, around a target, or in a maze."""

from typing import NamedTuple

import numpy as np

from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.streams import below
from abmarl.kernels.world import available, cell_at, clear_world, enter

# A random cell is drawn until one is available. Only when that has failed so often, on a crowded
# grid, are the available cells counted, which visits all of them.
TRIES = 32
# A maze may have too few walls or passages for everyone; then another one is tried, so often.
MAZES = 32
# What a cell of ``ground`` is. Outside of the grid it is 0 and stays so.
WALL, PASSAGE, _UNTOUCHED = 1, 2, 3


class Placement(NamedTuple):
    """How agents are placed.

    Attributes:
        start: int [N], the initial cell of every agent; 0: a random one.
        alone: Whether random cells have to be empty even where agents could overlap.
        shuffled: Whether the agents with an initial cell, and the others, come in a fresh order.
        order: int [N], scratch.
        failed: int64 [B], the first agent of every world that did not fit, or -1.
        trouble: int64 [1], becomes 1 when somebody did not fit.
    """

    start: np.ndarray
    alone: bool
    shuffled: bool
    order: np.ndarray
    failed: np.ndarray
    trouble: np.ndarray


class Surroundings(NamedTuple):
    """How barriers and free agents are placed around a target.

    Attributes:
        target: Number of the target.
        barriers: bool [kinds], the kinds that are barriers; the others are free.
        clustered, scattered: Whether barriers take the free cell closest to the target, and free
            agents the farthest one; else a random one.
        in_maze: Whether barriers take only walls, and free agents only passages, of a fresh maze.
        spare: Whether barriers that find no cell are left off the grid, not active, on the
            target's cell as their last one.
        ground: uint8 [cells], the maze of the last world.
        frontier: int32 [rows * cols], scratch of mazes.
        ranks, ranked: int32, scratch: cells by distance.
        cursors: int64 [kinds], scratch: how far in ``ranked`` every kind is.
    """

    target: int
    barriers: np.ndarray
    clustered: bool
    scattered: bool
    in_maze: bool
    spare: bool
    ground: np.ndarray
    frontier: np.ndarray
    ranks: np.ndarray
    ranked: np.ndarray
    cursors: np.ndarray


# --- free cells


@rule
def is_free(world, b, i, p, alone, ground, wanted):
    """Return whether cell p of the grid is available to agent i: an empty one if ``alone``.

    With a ``ground``, [cells], it must be ``wanted`` there, unless that is 0.
    """
    if ground is not None:
        if wanted != 0 and ground[p] != wanted:
            return False
    if world.first[b, p] < 0:
        return True
    return not alone and available(world, b, i, p)


@rule
def find_cell(world, b, i, alone, ground, wanted):
    """Return a random cell among those that are free, see ``is_free``, or -1."""
    for _ in range(TRIES):
        k = below(world.streams, b, world.rows * world.cols)
        p = cell_at(world, k // world.cols, k % world.cols)
        if is_free(world, b, i, p, alone, ground, wanted):
            return p
    return _nth_free_cell(world, b, i, alone, ground, wanted)


@rule
def _nth_free_cell(world, b, i, alone, ground, wanted):
    """Do as ``find_cell``, by counting the free cells."""
    chosen = -1
    for attempt in range(2):
        count = 0
        for r in range(world.rows):
            for c in range(world.cols):
                p = cell_at(world, r, c)
                if is_free(world, b, i, p, alone, ground, wanted):
                    if count == chosen:
                        return p
                    count += 1
        if count == 0:
            return np.int64(-1)
        if attempt == 0:
            chosen = below(world.streams, b, count)
    return np.int64(-1)


# --- everywhere


@rule
def list_classes(start, but, order):
    """List the agents with an initial position, then the others, all but one.

    Return how many have an initial position, and how many are listed.
    """
    fixed = 0
    for i in range(start.shape[0]):
        if start[i] > 0 and i != but:
            order[fixed] = i
            fixed += 1
    count = fixed
    for i in range(start.shape[0]):
        if start[i] <= 0 and i != but:
            order[count] = i
            count += 1
    return fixed, count


@rule
def shuffle_classes(streams, b, order, num_fixed, count):
    """Shuffle each class."""
    for k in range(num_fixed - 1, 0, -1):
        j = below(streams, b, k + 1)
        order[k], order[j] = order[j], order[k]
    for k in range(count - 1, num_fixed, -1):
        j = num_fixed + below(streams, b, k - num_fixed + 1)
        order[k], order[j] = order[j], order[k]


@kernel
def place_agents(world, worlds, placement):
    """Place the agents of the listed worlds on their empty grids; below 0 the list ends.

    Those with an initial position come first. Each class is placed in the order of the agents, or
    in a fresh one.
    """
    start, order = placement.start, placement.order
    for k in range(worlds.shape[0]):
        b = worlds[k]
        if b < 0:
            break
        placement.failed[b] = -1
        num_fixed, count = list_classes(start, -1, order)
        if placement.shuffled:
            shuffle_classes(world.streams, b, order, num_fixed, count)
        for t in range(count):
            i = order[t]
            if t < num_fixed:
                p = np.int64(start[i])
                if not available(world, b, i, p):
                    p = np.int64(-1)
            else:
                p = find_cell(world, b, i, placement.alone, None, 0)
            if p < 0:
                placement.failed[b] = i
                placement.trouble[0] = 1
                break
            enter(world, b, i, p)


# --- mazes
#
# Source: R. C. Prim, "Shortest connection networks and some generalizations", 1957, with random
# lengths: a random cell of the frontier is opened when exactly one of its four neighbours is open.
# So passages form a tree: every one is connected to the first, and there are no open squares.


@rule
def _widen(p, width, ground, frontier, count):
    """Add the untouched neighbours of cell p to the frontier; return how many cells it has."""
    for q in (p - width, p - 1, p + 1, p + width):
        if ground[q] == _UNTOUCHED:
            ground[q] = WALL
            frontier[count] = q
            count += 1
    return count


@rule
def grow_maze(world, b, start, ground, frontier):
    """Make a maze around the cell ``start``: ``ground`` becomes walls and passages."""
    width = world.width
    for r in range(world.rows):
        for c in range(world.cols):
            ground[cell_at(world, r, c)] = _UNTOUCHED
    ground[start] = PASSAGE
    count = _widen(start, width, ground, frontier, 0)
    while count > 0:
        k = below(world.streams, b, count)
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
    for r in range(world.rows):
        for c in range(world.cols):
            p = cell_at(world, r, c)
            if ground[p] == _UNTOUCHED:
                ground[p] = WALL


@kernel
def grow_mazes(world, starts, ground, frontier):
    """Make a maze for every world: ``ground`` uint8 [B, cells] around ``starts`` [B]."""
    for b in range(starts.shape[0]):
        grow_maze(world, b, starts[b], ground[b], frontier)


# --- around a target


@rule
def sort_by_distance(world, centre, ranks, ranked):
    """List the cells in ``ranked``, nearest to ``centre`` first, in reading order among equals.

    Distances are Euclidean. ``ranks`` has an entry per squared distance, and one more.
    """
    row, col = centre // world.width - world.pad, centre % world.width - world.pad
    for k in range(ranks.shape[0]):
        ranks[k] = 0
    for r in range(world.rows):
        for c in range(world.cols):
            ranks[(r - row) * (r - row) + (c - col) * (c - col) + 1] += 1
    for k in range(1, ranks.shape[0]):
        ranks[k] += ranks[k - 1]
    for r in range(world.rows):
        for c in range(world.cols):
            distance = (r - row) * (r - row) + (c - col) * (c - col)
            ranked[ranks[distance]] = cell_at(world, r, c)
            ranks[distance] += 1


@rule
def next_cell(world, b, i, step, alone, wanted, around):
    """Return the first free cell for agent i in ``ranked``, the last one if ``step`` is -1, or -1.

    While agents are placed, cells that are not free stay so: every kind goes on where it was.
    """
    ranked, cursors, kind = around.ranked, around.cursors, world.traits[i].kind
    k = cursors[kind]
    while 0 <= k < ranked.shape[0]:
        p = np.int64(ranked[k])
        if is_free(world, b, i, p, alone, around.ground, wanted):
            cursors[kind] = k
            return p
        k += step
    cursors[kind] = k
    return np.int64(-1)


@kernel
def place_around_target(world, worlds, placement, around):
    """Place the agents of the listed worlds on their empty grids; below 0 the list ends.

    The target comes first, then the agents with an initial position, then the others, as in
    ``place_agents``. A random cell of the target is none that others need for their start.
    """
    target, order, failed = around.target, placement.order, placement.failed
    for k in range(worlds.shape[0]):
        b = worlds[k]
        if b < 0:
            break
        for attempt in range(MAZES if around.in_maze else 1):
            if attempt > 0:
                clear_world(world, b)
            num_fixed, count = list_classes(placement.start, target, order)
            if placement.shuffled:
                shuffle_classes(world.streams, b, order, num_fixed, count)
            failed[b] = _place_fixed(world, b, target, num_fixed, placement)
            if failed[b] >= 0:
                break
            centre = np.int64(world.cell[b, target])
            if around.in_maze:
                grow_maze(world, b, centre, around.ground, around.frontier)
            if around.clustered or around.scattered:
                sort_by_distance(world, centre, around.ranks, around.ranked)
                for kind in range(around.barriers.shape[0]):
                    last = world.rows * world.cols - 1
                    around.cursors[kind] = 0 if around.barriers[kind] else last
            failed[b] = _place_others(world, b, num_fixed, count, placement, around)
            if failed[b] < 0:
                break
        if failed[b] >= 0:
            placement.trouble[0] = 1


@rule
def _place_fixed(world, b, target, num_fixed, placement):
    """Place the target and the first agents in ``order``; return who does not fit, or -1."""
    start = placement.start
    if start[target] > 0:
        enter(world, b, target, start[target])
    for t in range(num_fixed):
        i = np.int64(placement.order[t])
        if not available(world, b, i, start[i]):
            return i
        enter(world, b, i, start[i])
    if start[target] <= 0:
        p = find_cell(world, b, target, placement.alone, None, 0)
        if p < 0:
            return np.int64(target)
        enter(world, b, target, p)
    return np.int64(-1)


@rule
def _place_others(world, b, num_fixed, count, placement, around):
    """Place the other agents in ``order``; return who finds no cell, or -1."""
    for t in range(num_fixed, count):
        i = np.int64(placement.order[t])
        barrier = around.barriers[world.traits[i].kind]
        wanted = 0
        if around.in_maze:
            wanted = WALL if barrier else PASSAGE
        if around.clustered if barrier else around.scattered:
            step = 1 if barrier else -1
            p = next_cell(world, b, i, step, placement.alone, wanted, around)
        else:
            p = find_cell(world, b, i, placement.alone, around.ground, wanted)
        if barrier and around.spare:
            world.active[b, i] = p >= 0
            if p < 0:
                world.cell[b, i] = world.cell[b, around.target]
                continue
        if p < 0:
            return i
        enter(world, b, i, p)
    return np.int64(-1)
