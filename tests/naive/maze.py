"""Mazes: randomised Prim, cell by cell."""


def neighbours(world, cell):
    """The up to four cells beside a cell, in reading order."""
    row, col = cell
    beside = [(row - 1, col), (row, col - 1), (row, col + 1), (row + 1, col)]
    return [one for one in beside if world.inside(one)]


def grow_maze(world, stream, start):
    """The passages of a fresh maze, a set of cells; all others are walls.

    A random cell of the frontier becomes a passage if exactly one cell beside it is one. Every
    cell is in the frontier once at most; the last one takes the place of the one that leaves.
    """
    passages, seen, frontier = {start}, {start}, []

    def widen(cell):
        for one in neighbours(world, cell):
            if one not in seen:
                seen.add(one)
                frontier.append(one)

    widen(start)
    while frontier:
        k = stream.below(len(frontier))
        cell = frontier[k]
        frontier[k] = frontier[-1]
        frontier.pop()
        if sum(one in passages for one in neighbours(world, cell)) == 1:
            passages.add(cell)
            widen(cell)
    return passages
