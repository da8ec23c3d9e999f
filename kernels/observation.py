"""What agents see: the cells around them, the whole grid, and what they know of themselves.

Rows of a flat output array belong to agents, see ``Views``. An agent that falls is shown its last
view once, and nothing after that.
"""

from typing import NamedTuple

import numpy as np

from abmarl.kernels.compile import copy_window, kernel, rule
from abmarl.kernels.sight import cover, is_hidden, mark_hidden, mark_range
from abmarl.kernels.streams import below

EMPTY, OUTSIDE, MASKED, ITSELF = 0, -1, -2, -1


class Views(NamedTuple):
    """Which observations are written, and where.

    Attributes:
        worlds: int64, the worlds; a number below 0 ends the list.
        viewers: int, the agents that have the channel.
        out: Flat array; agent i of world b writes at ``row_of(views, b, i)``, cells row by row.
        rows_of: int64 [N, 2], where the row of every agent begins in world 0, and how much farther
            on in each of the next ones.
        final: Whether this is an additional copy beside the running observations, for worlds that
            start a new episode right after.
        shown: uint8 [B, N], what the running rows hold: 2 a view of an active agent, 1 the last
            view of one that is not active any more, 0 the null observation.
        due: int [N], scratch: the agents whose rows have to be written.
    """

    worlds: np.ndarray
    viewers: np.ndarray
    out: np.ndarray
    rows_of: np.ndarray
    final: bool
    shown: np.ndarray
    due: np.ndarray


class Labels(NamedTuple):
    """The numbers that stand for agents: encodings or teams.

    Attributes:
        label: int [1 or B, N], the number of every agent.
        copied: Whether ``world.top`` holds the label of the newest agent of every cell: windows are
            then copied row by row.
        mixed: Whether agents of different labels can share a cell.
        itself: Whether an agent sees itself.
    """

    label: np.ndarray
    copied: bool
    mixed: bool
    itself: bool


@rule
def row_of(views, b, i):
    """Return where the row of agent i of world b begins."""
    return views.rows_of[i, 0] + b * views.rows_of[i, 1]


@rule
def list_due(world, b, views):
    """List in ``due`` the viewers whose rows have to be written; return how many.

    A final observation is written beside the running ones, whole.
    """
    count = 0
    for v in range(views.viewers.shape[0]):
        i = views.viewers[v]
        views.due[count] = i
        # Added up without a branch: who is alive is not predictable, and most may be dead.
        count += (world.active[b, i] | views.shown[b, i] | views.final) != 0
    return count


@rule
def has_view(world, b, i, views):
    """Return whether a due agent's row gets a view (else it becomes null), and remember that."""
    active, shown = world.active, views.shown
    view = active[b, i] or shown[b, i] == 2
    if not views.final:
        shown[b, i] = 2 * active[b, i] + (view and not active[b, i])
    return view


# --- windows and grids


@rule
def pick_label(world, b, i, p, labels):
    """Return the label of a random agent on cell p, 0 without one.

    Nothing is drawn when all of them have the same label.
    """
    row = b if labels.label.shape[0] > 1 else 0
    count = 0
    label = 0
    mixed = False
    j = world.first[b, p]
    while j >= 0:
        if labels.itself or j != i:
            if count == 0:
                label = labels.label[row, j]
            elif labels.label[row, j] != label:
                mixed = True
            count += 1
        j = world.next_[b, j]
    if not mixed:
        return label
    wanted = below(world.sight_streams, b, count)
    j = world.first[b, p]
    while j >= 0:
        if labels.itself or j != i:
            if wanted == 0:
                return labels.label[row, j]
            wanted -= 1
        j = world.next_[b, j]
    return label


@rule
def _mix_labels(world, b, i, side, corner, to, labels, out):
    """Draw who is shown in the cells of a copied window in which there are several agents."""
    for r in range(side):
        for c in range(side):
            label = out[to + r * side + c]
            if label == EMPTY or label == OUTSIDE or label == MASKED:
                continue
            q = np.uint32(corner + r * world.width + c)
            j = world.first[b, q]
            if world.next_[b, j] >= 0 or (j == i and not labels.itself):
                out[to + r * side + c] = pick_label(world, b, i, q, labels)


@kernel
def label_windows(world, views, labels):
    """Show windows of labels to the viewers."""
    out = views.out
    cells = world.top.shape[1]
    blockers = world.sight.hidden.shape[0] > 0
    for w in range(views.worlds.shape[0]):
        b = views.worlds[w]
        if b < 0:
            break
        row = b if labels.label.shape[0] > 1 else 0
        for d in range(list_due(world, b, views)):
            i = views.due[d]
            # Around cell 0, where agents are before their first placement, there are no cells.
            view = has_view(world, b, i, views) and world.cell[b, i] > 0
            reach = world.traits[i].view_range
            side = 2 * reach + 1
            to = row_of(views, b, i)
            if not view:
                for k in range(side * side):
                    out[to + k] = MASKED
                continue
            p = world.cell[b, i]
            corner = p - reach * world.width - reach
            masked = False
            if blockers:
                masked = mark_hidden(world, b, p, reach)
            if labels.copied:
                copy_window(out, to, world.flat_top, b * cells + corner, world.width, side)
                if masked:
                    cover(world.sight.hidden, side, MASKED, to, out)
                # Only where labels can differ are cells with several agents looked at once more.
                if labels.mixed:
                    _mix_labels(world, b, i, side, corner, to, labels, out)
                elif not labels.itself:
                    out[to + reach * side + reach] = pick_label(world, b, i, p, labels)
            else:
                for r in range(side):
                    for c in range(side):
                        k = r * side + c
                        q = np.uint32(corner + r * world.width + c)
                        j = world.first[b, q]
                        if masked and is_hidden(world, k):
                            out[to + k] = MASKED
                        elif j < 0:
                            out[to + k] = world.top[b, q]  # empty or outside
                        elif world.next_[b, j] < 0 and (labels.itself or j != i):
                            out[to + k] = labels.label[row, j]
                        else:
                            out[to + k] = pick_label(world, b, i, q, labels)


@kernel
def count_windows(world, views, layers):
    """Show windows of (side, side, layers): how many agents of each encoding are in each cell.

    Layer k counts those of encoding k + 1.
    """
    out = views.out
    blockers = world.sight.hidden.shape[0] > 0
    for w in range(views.worlds.shape[0]):
        b = views.worlds[w]
        if b < 0:
            break
        for d in range(list_due(world, b, views)):
            i = views.due[d]
            view = has_view(world, b, i, views) and world.cell[b, i] > 0
            reach = world.traits[i].view_range
            side = 2 * reach + 1
            to = row_of(views, b, i)
            p = world.cell[b, i]
            masked = False
            if view and blockers:
                masked = mark_hidden(world, b, p, reach)
            corner = p - reach * world.width - reach
            for r in range(side):
                for c in range(side):
                    k = r * side + c
                    q = np.uint32(corner + r * world.width + c)
                    shows = view and not (masked and is_hidden(world, k))
                    j = np.int64(world.first[b, q]) if shows else np.int64(-1)
                    if not shows:
                        fill = np.int64(MASKED)
                    elif j < 0:
                        fill = np.int64(world.top[b, q])  # empty or outside
                    else:
                        fill = np.int64(EMPTY)
                    for layer in range(layers):
                        out[to + k * layers + layer] = fill
                    while j >= 0:
                        out[to + k * layers + world.traits[j].encoding - 1] += 1
                        j = np.int64(world.next_[b, j])


@kernel
def label_grids(world, views, labels):
    """Show the whole grid to the viewers, ``rows * cols`` labels each.

    0 is an empty cell, -1 the one where the viewer is, -2 what it cannot see. Of several agents in
    a cell a random one is shown.
    """
    out, rows, cols = views.out, world.rows, world.cols
    width, pad = world.width, world.pad
    for w in range(views.worlds.shape[0]):
        b = views.worlds[w]
        if b < 0:
            break
        for d in range(list_due(world, b, views)):
            i = views.due[d]
            to = row_of(views, b, i)
            for k in range(rows * cols):
                out[to + k] = MASKED
            p = np.int64(world.cell[b, i])
            if not has_view(world, b, i, views) or p == 0:
                continue
            row, col = p // width - pad, p % width - pad
            reach = world.traits[i].view_range
            side = 2 * reach + 1
            masked = mark_range(world, b, p, reach)
            left, right = max(0, col - reach), min(cols, col + reach + 1)
            for r in range(max(0, row - reach), min(rows, row + reach + 1)):
                line, start = to + r * cols, (r + pad) * width + pad
                if labels.copied:
                    for c in range(left, right):
                        out[line + c] = world.top[b, np.uint32(start + c)]
                for c in range(left, right):
                    k = (r - row + reach) * side + c - col + reach
                    if masked and is_hidden(world, k):
                        out[line + c] = MASKED
                    elif not labels.copied:
                        q = np.uint32(start + c)
                        if world.first[b, q] < 0:
                            out[line + c] = EMPTY
                        elif q != p:
                            out[line + c] = pick_label(world, b, i, q, labels)
            out[to + row * cols + col] = ITSELF


# --- what agents know of themselves


@kernel
def show_positions(world, views):
    """Show row and column to the viewers."""
    out = views.out
    for w in range(views.worlds.shape[0]):
        b = views.worlds[w]
        if b < 0:
            break
        for d in range(list_due(world, b, views)):
            i = views.due[d]
            to = row_of(views, b, i)
            p = np.int64(world.cell[b, i])
            there = has_view(world, b, i, views) and p > 0
            out[to] = p // world.width - world.pad if there else 0
            out[to + 1] = p % world.width - world.pad if there else 0


@kernel
def show_counts(world, views, counts, most):
    """Show a count to each viewer, ``counts`` int [B, N], and ``most[N]`` where it is more."""
    for w in range(views.worlds.shape[0]):
        b = views.worlds[w]
        if b < 0:
            break
        for d in range(list_due(world, b, views)):
            i = views.due[d]
            there = has_view(world, b, i, views)
            found = max(0, min(np.int64(counts[b, i]), most[i]))
            views.out[row_of(views, b, i)] = found if there else 0
