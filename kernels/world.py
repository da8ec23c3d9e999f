"""The worlds that kernels and rules work on: who is where, on a padded grid.

``World`` holds the arrays of all worlds of a store; a rule gets it with the number ``b`` of one of
the worlds and the number ``i`` of an agent, in this order. So does a compiled function of a user.

A cell of a grid of ``rows x cols`` is an index into a padded grid: ``pad`` extra cells on every
side, ``width = cols + 2 * pad`` cells in a row. A step by (dr, dc) is the addition of
``dr * width + dc``, and as long as it is not longer than ``pad`` it cannot leave the array: inner
loops need neither division nor bounds checks.

The agents of a cell are an intrusive linked list, newest first, which ``enter`` and ``leave`` keep
up to date together with ``top`` and ``walls``.
"""

from typing import NamedTuple

import numpy as np

from abmarl.kernels.compile import kernel, rule


class Sight(NamedTuple):
    """Line of sight, see ``abmarl.kernels.sight``.

    Attributes:
        table: uint64, the cells that blockers hide as bit sets, range by range.
        starts: int64 [pad + 1], where the table of every range starts; below 0: there is none.
        hidden: uint64, room for the hidden cells of one window; empty when nobody blocks.
    """

    table: np.ndarray
    starts: np.ndarray
    hidden: np.ndarray


class World(NamedTuple):
    """The arrays of B worlds of N agents, which are changed in place and never replaced.

    Attributes:
        cell: uint16 or uint32 [B, N], the cell of every agent, or the last one it was on; 0:
            nowhere, as that cell lies outside of the grid.
        first: int [B, cells], the newest agent of a cell, or -1.
        next_: int [B, N], the agent below in the same cell, or -1.
        top: int [B, cells], the encoding of the newest agent of a cell, 0 where it is empty and -1
            outside of the grid; ``flat_top`` is the same as a flat array.
        walls: uint8 [B, cells], 1 where an active blocking agent stands, [B, 1] when nobody
            blocks; ``flat_walls`` is the same as a flat array with room for eight more.
        active: bool [B, N], alive and on the grid.
        health: float64 [B, N], in [0, 1].
        rewards: float64 [B, N], added up until they are read.
        traits: Records [N] of the agents' parameters, see ``abmarl.gridworld.store.TRAITS``.
        overlap: bool [kinds, kinds], symmetric: which kinds may share a cell.
        blank: int [cells], ``top`` of an empty grid.
        rows, cols: Size of the grid.
        width, pad: Cells in a row of the padded grid, and on every side of the grid, at least 1.
        streams, sight_streams: uint64 [B, 4], the random streams for what happens and for what is
            seen.
        sight: A ``Sight``.
    """

    cell: np.ndarray
    first: np.ndarray
    next_: np.ndarray
    top: np.ndarray
    flat_top: np.ndarray
    walls: np.ndarray
    flat_walls: np.ndarray
    active: np.ndarray
    health: np.ndarray
    rewards: np.ndarray
    traits: np.ndarray
    overlap: np.ndarray
    blank: np.ndarray
    rows: int
    cols: int
    width: int
    pad: int
    streams: np.ndarray
    sight_streams: np.ndarray
    sight: Sight


# --- cells


@rule
def ravel_cell(row, col, width, pad):
    """Return the index of cell (row, col)."""
    return (row + pad) * width + col + pad


@rule
def cell_at(world, row, col):
    """Return the index of cell (row, col) of the grid."""
    return ravel_cell(row, col, world.width, world.pad)


@rule
def cell_beside(world, b, i, dr, dc):
    """Return the index of the cell (dr, dc) away from agent i, ``world.pad`` cells at most."""
    return np.uint32(np.int64(world.cell[b, i]) + dr * world.width + dc)


@kernel
def ravel_cells(positions, width, pad, cells):
    """Turn ``positions`` int [M, 2] (row, column) into indices ``cells`` int [M]."""
    for k in range(cells.shape[0]):
        cells[k] = ravel_cell(positions[k, 0], positions[k, 1], width, pad)


@kernel
def unravel_cells(cells, width, pad, positions):
    """Turn indices ``cells`` int [B, N] into rows and columns ``positions`` int32 [B, N, 2]."""
    for b in range(cells.shape[0]):
        for i in range(cells.shape[1]):
            p = np.int64(cells[b, i])
            row = p // width
            positions[b, i, 0] = row - pad
            positions[b, i, 1] = p - row * width - pad


# --- who is where


@rule
def enter(world, b, i, p):
    """Put agent i, which is taken to be active, on cell p."""
    world.cell[b, i] = p
    world.next_[b, i] = world.first[b, p]
    world.first[b, p] = i
    world.top[b, p] = world.traits[i].encoding
    if world.traits[i].blocking:
        world.walls[b, p] = 1


@rule
def leave(world, b, i):
    """Take agent i off its cell, which it keeps as the last one it was on."""
    p = world.cell[b, i]
    j = world.first[b, p]
    if j == i:
        j = world.next_[b, i]
        world.first[b, p] = j
        if j < 0:
            world.top[b, p] = 0
        else:
            world.top[b, p] = world.traits[j].encoding
    else:
        while j >= 0 and world.next_[b, j] != i:
            j = world.next_[b, j]
        if j < 0:
            return  # not placed yet
        world.next_[b, j] = world.next_[b, i]
    if world.traits[i].blocking:
        j = world.first[b, p]
        while j >= 0 and not (world.traits[j].blocking and world.active[b, j]):
            j = world.next_[b, j]
        world.walls[b, p] = j >= 0


@rule
def available(world, b, i, p):
    """Return whether agent i may enter cell p: it is empty or all agents there may overlap."""
    if world.top[b, p] == -1:
        return False
    kind = world.traits[i].kind
    j = world.first[b, p]
    while j >= 0:
        if not world.overlap[kind, world.traits[j].kind]:
            return False
        j = world.next_[b, j]
    return True


@rule
def clear_world(world, b):
    """Empty the grid of world b, see ``clear_worlds``."""
    for p in range(world.first.shape[1]):
        world.first[b, p] = -1
        world.top[b, p] = world.blank[p]
    for p in range(world.walls.shape[1]):
        world.walls[b, p] = 0
    for i in range(world.cell.shape[1]):
        world.cell[b, i] = 0


@kernel
def clear_worlds(world, worlds):
    """Empty the grids of the listed worlds; a number below 0 ends the list."""
    for k in range(worlds.shape[0]):
        b = worlds[k]
        if b < 0:
            break
        clear_world(world, b)


@kernel
def remove_agents(world, gone):
    """Make the agents in ``gone`` bool [B, N] inactive and take them off the grid."""
    for b in range(gone.shape[0]):
        for i in range(gone.shape[1]):
            if gone[b, i] and world.active[b, i]:
                world.active[b, i] = False
                leave(world, b, i)


@kernel
def may_enter(world, asked):
    """Set ``asked[2]`` to whether agent ``asked[0]`` of world 0 may enter cell ``asked[1]``."""
    asked[2] = available(world, 0, asked[0], asked[1])


@kernel
def enter_cell(world, asked):
    """Put agent ``asked[0]`` of world 0 on cell ``asked[1]``."""
    enter(world, 0, asked[0], asked[1])


@kernel
def leave_cell(world, asked):
    """Take agent ``asked[0]`` of world 0 off its cell."""
    leave(world, 0, asked[0])
