"""Targets: who can be attacked.

An agent can be attacked when it is somebody else, is active, is in range, is of a kind that may be
attacked, and no blocking agent hides its cell. What may be attacked is a table ``attackable``,
bool [rows, kinds], of which a caller names the row: that of the attacker's kind, or of one
encoding.
"""

import numpy as np

from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.sight import is_hidden, mark_hidden
from abmarl.kernels.streams import uniform


@rule
def mark_range(b, p, reach, width, first, flat_walls, sight, starts, hidden):
    """Collects in ``hidden`` what blockers hide around cell p; False when that is nothing."""
    # Within range 1 nothing lies behind a blocker.
    found = reach > 1 and hidden.shape[0] > 0
    if found:
        at = b * first.shape[1] + p
        found = mark_hidden(at, reach, width, flat_walls, sight, starts, hidden)
    return found


@rule
def list_cell(
    b, i, q, row, accuracy, every, first, next_, active, traits, attackable, rng, struck, spared,
    targets, count,
):  # fmt: skip
    """Adds whom agent i could hit in cell q to ``targets[b, count:]``; returns how many are there.

    The newest agent of the cell comes first. Less than perfect ``accuracy`` is one draw per
    candidate, and the candidate stays when the draw is not above it. ``every``: all in the cell
    are of a kind that may be attacked. Those in ``struck[b, :spared]`` are left out.
    """
    j = first[b, q]
    while j >= 0:
        if j != i and active[b, j] and (every or attackable[row, traits[j].kind]):
            targets[b, count] = j  # counts only if count grows
            fresh = True
            for h in range(spared):
                fresh &= struck[b, h] != j
            if fresh and (accuracy >= 1.0 or uniform(rng, b) <= accuracy):
                count += 1
        j = next_[b, j]
    return count


@rule
def find_targets(
    b, i, row, width, pad, cell, first, next_, top, flat_walls, active, traits, attackable,
    hostile, lowest, sight, starts, hidden, rng, struck, targets,
):  # fmt: skip
    """Lists in ``targets[b]`` whom agent i could hit, cell by cell; returns how many.

    Cells come row by row. ``hostile[row, label]`` tells by what stands in ``top``, less
    ``lowest``, whether those in a cell can be attacked; it has no columns when agents of several
    kinds can share a cell.
    """
    reach = min(traits[i].attack_range, pad)
    p = np.int64(cell[b, i])
    if p == 0:
        return 0  # it stands nowhere
    # As ``mark_range``, written out: a call would slow battles down by some percent.
    masked = reach > 1 and hidden.shape[0] > 0
    if masked:
        at = b * first.shape[1] + p
        masked = mark_hidden(at, reach, width, flat_walls, sight, starts, hidden)
    accuracy = traits[i].attack_accuracy
    alike = hostile.shape[1] > 0
    count = 0
    k = -1
    for dr in range(-reach, reach + 1):
        left = p + dr * width
        for dc in range(-reach, reach + 1):
            k += 1
            q = np.uint32(left + dc)
            # The labels are close together in memory, and most cells need no second look.
            label = np.int64(top[b, q])
            if not hostile[row, label - lowest] if alike else label == 0 or label == -1:
                continue
            if masked and is_hidden(hidden, k):
                continue
            count = list_cell(
                b, i, q, row, accuracy, alike, first, next_, active, traits, attackable, rng,
                struck, 0, targets, count,
            )  # fmt: skip
    return count


@rule
def stands_there(b, i, q, row, first, next_, active, traits, attackable):
    """Whether somebody whom agent i may attack is in cell q."""
    j = first[b, q]
    while j >= 0:
        if j != i and active[b, j] and attackable[row, traits[j].kind]:
            return True
        j = next_[b, j]
    return False


@rule
def has_target(
    b, i, row, width, pad, cell, first, next_, flat_walls, active, traits, attackable,
    sight, starts, hidden,
):  # fmt: skip
    """Whether anybody can be attacked by agent i."""
    reach = min(traits[i].attack_range, pad)
    p = np.int64(cell[b, i])
    if p == 0:
        return False  # it stands nowhere
    masked = mark_range(b, p, reach, width, first, flat_walls, sight, starts, hidden)
    side = 2 * reach + 1
    for k in range(side * side):
        if masked and is_hidden(hidden, k):
            continue
        q = np.uint32(p + (k // side - reach) * width + k % side - reach)
        if stands_there(b, i, q, row, first, next_, active, traits, attackable):
            return True
    return False


@rule
def may_hit(b, i, active, ammo, limited):
    """Whether agent i is in a state to hit anybody: active, and not out of ammo."""
    return active[b, i] and (limited.shape[0] == 0 or not limited[i] or ammo[b, i] > 0)


@kernel
def possible_targets(
    agents, rows_of, by_encoding, width, pad, cell, first, next_, flat_walls, active, ammo, traits,
    limited, allowed, attackable, sight, starts, hidden, out,
):  # fmt: skip
    """Which attacks have a target now: none always, one or more where somebody can be hit.

    ``out`` is a flat bool array with ``simultaneous_attacks + 1`` entries per agent, or, when
    ``by_encoding``, that many for every kind that ``allowed[kind]`` of the agent names; a row of
    ``attackable`` is then one such kind. Whether a hit would succeed is a matter of accuracy and
    is not drawn here.
    """
    for b in range(cell.shape[0]):
        for k in range(agents.shape[0]):
            i = agents[k]
            kind = traits[i].kind
            ready = may_hit(b, i, active, ammo, limited)
            to = rows_of[i, 0] + b * rows_of[i, 1]
            options = traits[i].simultaneous_attacks + 1
            for row in range(allowed.shape[0]):
                if (by_encoding and not allowed[kind, row]) or (not by_encoding and row != kind):
                    continue
                found = ready and has_target(
                    b, i, row, width, pad, cell, first, next_, flat_walls, active, traits,
                    attackable, sight, starts, hidden,
                )  # fmt: skip
                for option in range(options):
                    out[to + option] = option == 0 or found
                to += options


@kernel
def possible_cells(
    agents, rows_of, listed, sides, width, pad, cell, first, next_, flat_walls, active, ammo,
    traits, limited, attackable, sight, starts, hidden, out,
):  # fmt: skip
    """Which attacks on a cell have a target now.

    ``out`` is a flat bool array: per cell of the window of ``sides[i]`` a side,
    ``simultaneous_attacks + 1`` entries; or, when ``listed``, per attack an entry for none and
    one per cell.
    """
    for b in range(cell.shape[0]):
        for k in range(agents.shape[0]):
            i = agents[k]
            side = sides[i]
            far = side // 2
            attacks = traits[i].simultaneous_attacks
            to = rows_of[i, 0] + b * rows_of[i, 1]
            p = np.int64(cell[b, i])
            reach = min(traits[i].attack_range, pad, far)
            ready = p > 0 and may_hit(b, i, active, ammo, limited)
            masked = ready and mark_range(
                b, p, reach, width, first, flat_walls, sight, starts, hidden
            )
            if listed:
                for a in range(attacks):
                    out[to + a * (side * side + 1)] = True
            for n in range(side * side):
                dr, dc = n // side - far, n % side - far
                found = ready and abs(dr) <= reach and abs(dc) <= reach
                if found and masked:
                    found = not is_hidden(hidden, (dr + reach) * (2 * reach + 1) + dc + reach)
                if found:
                    q = np.uint32(p + dr * width + dc)
                    found = stands_there(
                        b, i, q, traits[i].kind, first, next_, active, traits, attackable
                    )
                if listed:
                    for a in range(attacks):
                        out[to + a * (side * side + 1) + n + 1] = found
                else:
                    for option in range(attacks + 1):
                        out[to + n * (attacks + 1) + option] = option == 0 or found
