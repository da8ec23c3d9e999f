"""Line of sight: which cells of a window a blocking agent hides from the agent in the middle.

The rays from the middle of the observer's cell that just touch the blocker's cell, a unit square,
bound the hidden sector. A cell is hidden when its centre lies strictly between them and it is not
nearer than the blocker in any direction in which the blocker is offset. All numbers are integers:
corners are taken at twice their coordinates. The hidden cells of a window are collected as bits in
``world.sight.hidden``, cell by cell, row by row.
"""

import numpy as np

from abmarl.kernels.compile import kernel, load_word, lowest_bit, rule


@rule
def hides(blocker_row, blocker_col, row, col):
    """Return whether a blocker at this offset hides the cell at that offset from (0, 0)."""
    if row == blocker_row and col == blocker_col:
        return False
    # Mirrored so that the blocker is at (r, c) with r, c >= 0.
    r, c = abs(blocker_row), abs(blocker_col)
    y = row if blocker_row >= 0 else -row
    x = col if blocker_col >= 0 else -col
    if r == 0 and c == 0:
        return False
    if (r > 0 and y < r) or (c > 0 and x < c):
        return False
    # The outer corners: seen along an axis they are the two near ones.
    first_row, first_col = 2 * r - 1, 2 * c + 1
    last_row, last_col = 2 * r + 1, 2 * c - 1
    if c == 0:
        last_row = 2 * r - 1
    if r == 0:
        first_col = 2 * c - 1
    return first_row * x - first_col * y < 0 and last_row * x - last_col * y > 0


@kernel
def sight_table(reach, words, table, start):
    """List the hidden cells per blocker offset, as bit sets, for windows of range ``reach``.

    Bit k of the ``words`` uint64 words at ``table[start + offset * words]`` stands for cell k of
    the window, row by row; offsets are counted in the same way.
    """
    side = 2 * reach + 1
    for offset in range(side * side):
        blocker_row, blocker_col = offset // side - reach, offset % side - reach
        for k in range(side * side):
            if hides(blocker_row, blocker_col, k // side - reach, k % side - reach):
                bit = np.uint64(1) << np.uint64(k & 63)
                table[start + offset * words + (k >> 6)] |= bit


@rule
def mark_hidden(world, b, p, reach):
    """Collect the hidden cells of the window around cell p as bits in ``world.sight.hidden``.

    Return whether there is any blocking agent in the window.
    """
    side = 2 * reach + 1
    words = (side * side + 63) >> 6
    hidden, table = world.sight.hidden, world.sight.table
    start = world.sight.starts[reach]
    at = b * world.first.shape[1] + p
    found = False
    for w in range(words):
        hidden[w] = 0
    for r in range(side):
        row = at + (r - reach) * world.width - reach
        for c in range(0, side, 8):
            # Eight cells at once; those behind the end of the row do not count.
            cells = load_word(world.flat_walls, row + c)
            if side - c < 8:
                cells &= (np.uint64(1) << np.uint64(8 * (side - c))) - np.uint64(1)
            while cells != 0:
                byte = lowest_bit(cells) >> 3
                cells &= ~(np.uint64(0xFF) << np.uint64(8 * byte))
                found = True
                if start >= 0:
                    entry = start + (r * side + c + byte) * words
                    for w in range(words):
                        hidden[w] |= table[entry + w]
                else:
                    # No table, because it would be too large: the rule is asked cell by cell.
                    _mark_directly(r - reach, c + byte - reach, reach, hidden)
    return found


@rule
def _mark_directly(blocker_row, blocker_col, reach, hidden):
    side = 2 * reach + 1
    # A blocker hides cells on its own side only: the others need not be asked.
    rows = (blocker_row if blocker_row > 0 else -reach, blocker_row if blocker_row < 0 else reach)
    cols = (blocker_col if blocker_col > 0 else -reach, blocker_col if blocker_col < 0 else reach)
    for row in range(rows[0], rows[1] + 1):
        for col in range(cols[0], cols[1] + 1):
            if hides(blocker_row, blocker_col, row, col):
                k = (row + reach) * side + col + reach
                hidden[k >> 6] |= np.uint64(1) << np.uint64(k & 63)


@rule
def mark_range(world, b, p, reach):
    """Collect what blockers hide around cell p; return False when that is nothing."""
    # Within range 1 nothing lies behind a blocker.
    return reach > 1 and world.sight.hidden.shape[0] > 0 and mark_hidden(world, b, p, reach)


@rule
def is_hidden(world, k):
    """Return whether cell k of the window that was marked last is hidden."""
    return (world.sight.hidden[k >> 6] >> np.uint64(k & 63)) & np.uint64(1) != 0


@rule
def cover(hidden, side, value, to, out):
    """Write ``value`` over the hidden cells of a window that stands at ``out[to:]``."""
    for w in range((side * side + 63) >> 6):
        bits = hidden[w]
        while bits != 0:
            out[to + 64 * w + lowest_bit(bits)] = value
            bits &= bits - np.uint64(1)


@kernel
def hidden_cells(world, b, p, reach):
    """Do as ``mark_hidden`` for one window, callable from Python."""
    return mark_hidden(world, b, p, reach)
