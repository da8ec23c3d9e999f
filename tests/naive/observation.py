"""Observation windows of one agent, as lists of lists."""

from .sight import hidden_from

MASKED = -2
OUTSIDE = -1
EMPTY = 0


def window(world, observer, contents):
    """A (W, W) window; ``contents`` says what a cell in sight shows, called in reading order."""
    me = world.agents[observer]
    hidden = hidden_from(world, me.position, me.view_range)
    side = range(-me.view_range, me.view_range + 1)
    rows = []
    for dr in side:
        row = []
        for dc in side:
            cell = (me.position[0] + dr, me.position[1] + dc)
            if (dr, dc) in hidden:
                row.append(MASKED)
            elif not world.inside(cell):
                row.append(OUTSIDE)
            else:
                row.append(contents(world.cells[cell]))
        rows.append(row)
    return rows


def one_of(values, stream):
    """The value of a random agent of a cell; nothing is drawn when all have the same one."""
    if not values:
        return EMPTY
    if len(set(values)) == 1:
        return values[0]
    return values[stream.below(len(values))]


def encoding_window(world, stream, observer, observe_self=True):
    """PositionCenteredEncodingObserver: (W, W) encodings; draws from the observation stream."""

    def contents(occupants):
        seen = [i for i in occupants if observe_self or i != observer]
        return one_of([world.agents[i].encoding for i in seen], stream)

    return window(world, observer, contents)


def team_window(world, stream, observer):
    """TeamObserver: (W, W) team numbers; draws from the observation stream."""

    def contents(occupants):
        return one_of([world.agents[i].team for i in occupants], stream)

    return window(world, observer, contents)


def stacked_window(world, observer, max_encoding):
    """StackedPositionCenteredEncodingObserver: (W, W, E) counts per encoding; nothing is drawn."""

    def contents(occupants):
        encodings = [world.agents[i].encoding for i in occupants]
        return [encodings.count(encoding) for encoding in range(1, max_encoding + 1)]

    rows = window(world, observer, contents)
    return [
        [cell if isinstance(cell, list) else [cell] * max_encoding for cell in row] for row in rows
    ]


def grid_of_encodings(world, stream, observer):
    """AbsoluteEncodingObserver: (rows, cols) encodings; draws from the observation stream."""
    me = world.agents[observer]
    hidden = hidden_from(world, me.position, me.view_range)
    found = [[MASKED] * world.cols for _ in range(world.rows)]
    for (r, c), occupants in world.cells.items():
        dr, dc = r - me.position[0], c - me.position[1]
        if max(abs(dr), abs(dc)) <= me.view_range and (dr, dc) not in hidden:
            if (dr, dc) == (0, 0):
                found[r][c] = -1
            else:
                found[r][c] = one_of([world.agents[i].encoding for i in occupants], stream)
    return found


def null_window(view_range):
    """What somebody who is gone is shown: nothing but masked cells."""
    side = 2 * view_range + 1
    return [[MASKED] * side for _ in range(side)]
