"""Observations that are not windows: the whole grid, and what agents know of themselves.

Rows, ``shown`` and ``due`` are as in ``abmarl.kernels.windows``.
"""

import numpy as np

from abmarl.kernels.compile import kernel
from abmarl.kernels.sight import is_hidden
from abmarl.kernels.targets import mark_range
from abmarl.kernels.windows import EMPTY, MASKED, has_view, list_due, pick_label

ITSELF = -1


@kernel
def label_grids(
    worlds, viewers, rows_of, copied, final, rows, cols, width, pad,
    cell, first, next_, top, flat_walls, active, traits, labels,
    sight, starts, hidden, rng, shown, due, out,
):  # fmt: skip
    """The whole grid for the viewers of the listed worlds; a number below 0 ends the list.

    A row is ``rows * cols`` entries: the label of a random agent of each cell, 0 empty, -1 where
    the viewer is, -2 what it cannot see. ``labels`` is int [1, N]; ``copied`` says
    that they stand in ``top``.
    """
    for w in range(worlds.shape[0]):
        b = worlds[w]
        if b < 0:
            break
        for d in range(list_due(b, viewers, active, shown, final, due)):
            i = due[d]
            to = rows_of[i, 0] + b * rows_of[i, 1]
            for k in range(rows * cols):
                out[to + k] = MASKED
            p = np.int64(cell[b, i])
            if not has_view(b, i, active, shown, final) or p == 0:
                continue
            row, col = p // width - pad, p % width - pad
            reach = traits[i].view_range
            side = 2 * reach + 1
            masked = mark_range(b, p, reach, width, first, flat_walls, sight, starts, hidden)
            left, right = max(0, col - reach), min(cols, col + reach + 1)
            for r in range(max(0, row - reach), min(rows, row + reach + 1)):
                line, start = to + r * cols, (r + pad) * width + pad
                if copied:
                    for c in range(left, right):
                        out[line + c] = top[b, np.uint32(start + c)]
                for c in range(left, right):
                    k = (r - row + reach) * side + c - col + reach
                    if masked and is_hidden(hidden, k):
                        out[line + c] = MASKED
                    elif not copied:
                        q = np.uint32(start + c)
                        j = first[b, q]
                        if j < 0:
                            out[line + c] = EMPTY
                        elif q != p:
                            out[line + c] = pick_label(b, i, q, True, first, next_, labels, 0, rng)
            out[to + row * cols + col] = ITSELF


@kernel
def show_positions(worlds, viewers, rows_of, final, width, pad, cell, active, shown, due, out):
    """Row and column of the viewers of the listed worlds; a number below 0 ends the list."""
    for w in range(worlds.shape[0]):
        b = worlds[w]
        if b < 0:
            break
        for d in range(list_due(b, viewers, active, shown, final, due)):
            i = due[d]
            to = rows_of[i, 0] + b * rows_of[i, 1]
            p = np.int64(cell[b, i])
            there = has_view(b, i, active, shown, final) and p > 0
            out[to] = p // width - pad if there else 0
            out[to + 1] = p % width - pad if there else 0


@kernel
def show_counts(worlds, viewers, rows_of, final, counts, most, active, shown, due, out):
    """A count of each viewer, ``counts`` int [B, N], of the listed worlds; below 0 the list ends.

    More than ``most[N]`` is shown as that many.
    """
    for w in range(worlds.shape[0]):
        b = worlds[w]
        if b < 0:
            break
        for d in range(list_due(b, viewers, active, shown, final, due)):
            i = due[d]
            there = has_view(b, i, active, shown, final)
            found = max(0, min(np.int64(counts[b, i]), most[i]))
            out[rows_of[i, 0] + b * rows_of[i, 1]] = found if there else 0
