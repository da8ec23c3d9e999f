"""Observation windows: what an agent sees of the cells around it.

Rows of a flat output array belong to agents: agent i of world b writes at
``rows_of[i, 0] + b * rows_of[i, 1]``, a window row by row. ``shown[B, N]`` remembers what stands
there: 2 a view of an active agent, 1 the last view of one that is not active any more, 0 the null
observation. An agent that falls is so shown its last view once, and nothing after that.
"""

import numpy as np

from abmarl.kernels.compile import copy_window, kernel, rule
from abmarl.kernels.sight import cover, is_hidden, mark_hidden
from abmarl.kernels.streams import below

EMPTY, OUTSIDE, MASKED = 0, -1, -2


@rule
def list_due(b, viewers, active, shown, final, due):
    """Lists in ``due`` the viewers whose rows have to be written; returns how many.

    A final observation is written beside the running ones, whole.
    """
    count = 0
    for v in range(viewers.shape[0]):
        i = viewers[v]
        due[count] = i
        # Added up without a branch: who is alive is not predictable, and most may be dead.
        count += (active[b, i] | shown[b, i] | final) != 0
    return count


@rule
def has_view(b, i, active, shown, final):
    """Whether a due agent's row gets a view (else it becomes null), and remembers that."""
    view = active[b, i] or shown[b, i] == 2
    if not final:
        shown[b, i] = 2 * active[b, i] + (view and not active[b, i])
    return view


@rule
def pick_label(b, i, p, itself, first, next_, labels, row, rng):
    """The label of a random agent on cell p, 0 without one; ``itself`` says if i counts.

    Nothing is drawn when all of them have the same label.
    """
    count = 0
    label = 0
    mixed = False
    j = first[b, p]
    while j >= 0:
        if itself or j != i:
            if count == 0:
                label = labels[row, j]
            elif labels[row, j] != label:
                mixed = True
            count += 1
        j = next_[b, j]
    if not mixed:
        return label
    wanted = below(rng, b, count)
    j = first[b, p]
    while j >= 0:
        if itself or j != i:
            if wanted == 0:
                return labels[row, j]
            wanted -= 1
        j = next_[b, j]
    return label


@rule
def _mix_labels(b, i, to, side, corner, width, itself, first, next_, labels, row, rng, out):
    """Draws who is shown in the cells of a copied window in which there are several agents."""
    for r in range(side):
        for c in range(side):
            label = out[to + r * side + c]
            if label == EMPTY or label == OUTSIDE or label == MASKED:
                continue
            q = np.uint32(corner + r * width + c)
            j = first[b, q]
            if next_[b, j] >= 0 or (j == i and not itself):
                out[to + r * side + c] = pick_label(b, i, q, itself, first, next_, labels, row, rng)


@kernel
def label_windows(
    worlds, viewers, rows_of, copied, mixed, itself, final, width,
    cell, first, next_, top, flat_top, flat_walls, active, traits, labels,
    sight, starts, hidden, rng, shown, due, out,
):  # fmt: skip
    """Windows of labels (encodings or teams) for the viewers of the listed worlds.

    A number below 0 ends the list.

    ``labels`` is int [1 or B, N]. ``copied`` says that ``top`` holds the label of the newest agent
    of every cell: windows are then copied row by row (``flat_top`` is ``top`` seen as a flat
    array), and only where agents of ``mixed`` labels can share a cell are those with several looked
    at once more. ``due`` int64 [N] is a scratch.
    """
    cells = top.shape[1]
    blockers = hidden.shape[0] > 0
    for w in range(worlds.shape[0]):
        b = worlds[w]
        if b < 0:
            break
        row = b if labels.shape[0] > 1 else 0
        for d in range(list_due(b, viewers, active, shown, final, due)):
            i = due[d]
            # Around cell 0, where agents are before their first placement, there are no cells.
            view = has_view(b, i, active, shown, final) and cell[b, i] > 0
            reach = traits[i].view_range
            side = 2 * reach + 1
            to = rows_of[i, 0] + b * rows_of[i, 1]
            if not view:
                for k in range(side * side):
                    out[to + k] = MASKED
                continue
            p = cell[b, i]
            corner = p - reach * width - reach
            masked = False
            if blockers:
                at = b * cells + p
                masked = mark_hidden(at, reach, width, flat_walls, sight, starts, hidden)
            if copied:
                copy_window(out, to, flat_top, b * cells + corner, width, side)
                if masked:
                    cover(hidden, side, MASKED, to, out)
                if mixed:
                    _mix_labels(
                        b, i, to, side, corner, width, itself, first, next_, labels, row, rng, out
                    )
                elif not itself:
                    centre = pick_label(b, i, p, itself, first, next_, labels, row, rng)
                    out[to + reach * side + reach] = centre
            else:
                for r in range(side):
                    for c in range(side):
                        k = r * side + c
                        q = np.uint32(corner + r * width + c)
                        j = first[b, q]
                        if masked and is_hidden(hidden, k):
                            out[to + k] = MASKED
                        elif j < 0:
                            out[to + k] = top[b, q]  # empty or outside
                        elif next_[b, j] < 0 and (itself or j != i):
                            out[to + k] = labels[row, j]
                        else:
                            out[to + k] = pick_label(
                                b, i, q, itself, first, next_, labels, row, rng
                            )


@kernel
def count_windows(
    worlds, viewers, rows_of, layers, final, width,
    cell, first, next_, top, flat_walls, active, traits, sight, starts, hidden, shown, due, out,
):  # fmt: skip
    """Windows of (side, side, layers): how many agents of encoding 1..layers are in each cell.

    A number below 0 ends the list of worlds.
    """
    blockers = hidden.shape[0] > 0
    for w in range(worlds.shape[0]):
        b = worlds[w]
        if b < 0:
            break
        for d in range(list_due(b, viewers, active, shown, final, due)):
            i = due[d]
            view = has_view(b, i, active, shown, final) and cell[b, i] > 0
            reach = traits[i].view_range
            side = 2 * reach + 1
            to = rows_of[i, 0] + b * rows_of[i, 1]
            p = cell[b, i]
            masked = False
            if view and blockers:
                at = b * top.shape[1] + p
                masked = mark_hidden(at, reach, width, flat_walls, sight, starts, hidden)
            corner = p - reach * width - reach
            for r in range(side):
                for c in range(side):
                    k = r * side + c
                    q = np.uint32(corner + r * width + c)
                    shows = view and not (masked and is_hidden(hidden, k))
                    j = np.int64(first[b, q]) if shows else np.int64(-1)
                    if not shows:
                        fill = np.int64(MASKED)
                    elif j < 0:
                        fill = np.int64(top[b, q])  # empty or outside
                    else:
                        fill = np.int64(EMPTY)
                    for layer in range(layers):
                        out[to + k * layers + layer] = fill
                    while j >= 0:
                        out[to + k * layers + traits[j].encoding - 1] += 1
                        j = np.int64(next_[b, j])
