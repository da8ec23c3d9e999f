"""Who is where: an intrusive linked list of agents per cell, newest first.

``first[B, cells]`` is the newest agent of a cell or -1, ``next_[B, N]`` the one below it.
``top[B, cells]`` holds the encoding of the newest agent, 0 in an empty cell and -1 outside the
grid; ``walls[B, cells]`` is 1 where a blocking agent stands that is active. Both are kept up to
date while agents come and go; those who come are taken to be active. ``cell[B, N]`` is where an
agent is, or was when it left.
"""

from abmarl.kernels.compile import kernel, rule


@rule
def enter(b, i, p, cell, first, next_, top, walls, traits):
    """Puts agent i of world b on cell p."""
    cell[b, i] = p
    next_[b, i] = first[b, p]
    first[b, p] = i
    top[b, p] = traits[i].encoding
    if traits[i].blocking:
        walls[b, p] = 1


@rule
def leave(b, i, cell, first, next_, top, walls, active, traits):
    """Takes agent i of world b off its cell, which it keeps as the last one it was on."""
    p = cell[b, i]
    j = first[b, p]
    if j == i:
        j = next_[b, i]
        first[b, p] = j
        if j < 0:
            top[b, p] = 0
        else:
            top[b, p] = traits[j].encoding
    else:
        while j >= 0 and next_[b, j] != i:
            j = next_[b, j]
        if j < 0:
            return  # it stands nowhere, because nobody has placed it yet
        next_[b, j] = next_[b, i]
    if traits[i].blocking:
        j = first[b, p]
        while j >= 0 and not (traits[j].blocking and active[b, j]):
            j = next_[b, j]
        walls[b, p] = j >= 0


@rule
def available(b, kind, p, first, next_, top, traits, overlap):
    """Whether an agent of this kind may enter cell p: it is empty or all there may overlap.

    ``overlap`` is bool [kinds, kinds] and symmetric.
    """
    if top[b, p] == -1:
        return False
    j = first[b, p]
    while j >= 0:
        if not overlap[kind, traits[j].kind]:
            return False
        j = next_[b, j]
    return True


@rule
def clear_world(b, blank, first, top, walls, cell):
    """Empties the grid of world b, see ``clear_worlds``."""
    for p in range(first.shape[1]):
        first[b, p] = -1
        top[b, p] = blank[p]
    for p in range(walls.shape[1]):
        walls[b, p] = 0
    for i in range(cell.shape[1]):
        cell[b, i] = 0


@kernel
def clear_worlds(worlds, blank, first, top, walls, cell):
    """Empties the grids of the listed worlds; a number below 0 ends the list.

    ``blank`` is the ``top`` of an empty grid. Cell 0 lies outside the grid: it means nowhere.
    """
    for k in range(worlds.shape[0]):
        b = worlds[k]
        if b < 0:
            break
        clear_world(b, blank, first, top, walls, cell)


@kernel
def may_enter(i, p, first, next_, top, traits, overlap):
    """Whether agent i may enter cell p of world 0."""
    return available(0, traits[i].kind, p, first, next_, top, traits, overlap)


@kernel
def enter_cell(i, p, cell, first, next_, top, walls, traits):
    """Puts agent i of world 0 on cell p."""
    enter(0, i, p, cell, first, next_, top, walls, traits)


@kernel
def leave_cell(i, cell, first, next_, top, walls, active, traits):
    """Takes agent i of world 0 off its cell."""
    leave(0, i, cell, first, next_, top, walls, active, traits)


@kernel
def remove_agents(gone, cell, first, next_, top, walls, active, traits):
    """Agents in ``gone`` bool [B, N] become inactive and leave the grid, if they are active."""
    for b in range(gone.shape[0]):
        for i in range(gone.shape[1]):
            if gone[b, i] and active[b, i]:
                active[b, i] = False
                leave(b, i, cell, first, next_, top, walls, active, traits)
