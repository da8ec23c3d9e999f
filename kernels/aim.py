"""Aimed attacks: the action says which encodings or which cells of the window are attacked."""

import numpy as np

from abmarl.kernels.attack import forget, is_spent, pick, strike
from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.sight import is_hidden
from abmarl.kernels.targets import find_targets, list_cell, mark_range

# What an action counts or names.
ENCODINGS, CELLS, LISTED = 0, 1, 2


@rule
def num_entries(i, how, sides, traits, allowed):
    """Numbers in an action of agent i."""
    if how == CELLS:
        return np.int64(sides[i]) * sides[i]
    if how == LISTED:
        return np.int64(traits[i].simultaneous_attacks)
    count = 0
    for k in range(allowed.shape[1]):
        count += allowed[traits[i].kind, k]
    return count


@rule
def asks_for_any(actions, at, count):
    """Whether some entry of an action asks for an attack."""
    for k in range(count):
        if actions[at + k] > 0:
            return True
    return False


@rule
def choose_by_encoding(
    b, i, actions, at, stacked, width, pad, cell, first, next_, top, flat_walls, active, traits,
    allowed, single, hostile, lowest, sight, starts, hidden, rng, targets, struck,
):  # fmt: skip
    """Puts whom agent i attacks into ``struck[b]``; an entry per kind in ``allowed`` of its own.

    Each of them is a scan of the window for that kind. Returns how many were chosen.
    """
    chosen = 0
    for k in range(allowed.shape[1]):
        if allowed[traits[i].kind, k]:
            wanted = actions[at]
            at += 1
            if wanted > 0:
                found = find_targets(
                    b, i, k, width, pad, cell, first, next_, top, flat_walls, active, traits,
                    single, hostile, lowest, sight, starts, hidden, rng, struck, targets,
                )  # fmt: skip
                chosen = pick(b, found, wanted, stacked, rng, targets, struck, chosen)
    return chosen


@rule
def choose_by_cell(
    b, i, actions, at, listed, stacked, side, width, pad, cell, first, next_, flat_walls, active,
    traits, allowed, sight, starts, hidden, rng, targets, struck,
):  # fmt: skip
    """As ``choose_by_encoding``; the entries count attacks per cell of the window, row by row.

    When ``listed``, every entry is one attack and names its cell, counted from 1; 0 is none.
    """
    far = side // 2
    reach = min(traits[i].attack_range, pad, far)
    p = np.int64(cell[b, i])
    if p == 0:
        return 0  # it stands nowhere
    masked = mark_range(b, p, reach, width, first, flat_walls, sight, starts, hidden)
    chosen = 0
    for k in range(traits[i].simultaneous_attacks if listed else side * side):
        entry = np.int64(actions[at + k])
        if entry == 0:
            continue
        n = entry - 1 if listed else np.int64(k)
        dr, dc = n // side - far, n % side - far
        if abs(dr) > reach or abs(dc) > reach:
            continue
        if masked and is_hidden(hidden, (dr + reach) * (2 * reach + 1) + dc + reach):
            continue
        q = np.uint32(p + dr * width + dc)
        # Attacks on one cell that are listed one by one must not choose somebody twice either.
        spared = chosen if listed and not stacked else 0
        found = list_cell(
            b, i, q, traits[i].kind, traits[i].attack_accuracy, False, first, next_, active, traits,
            allowed, rng, struck, spared, targets, 0,
        )  # fmt: skip
        wanted = np.int64(1) if listed else entry
        chosen = pick(b, found, wanted, stacked, rng, targets, struck, chosen)
    return chosen


@kernel
def attack_aimed(
    how, turns, num_turns, actions, rows_of, sides, stacked, width, pad,
    cell, first, next_, top, walls, flat_walls, active, health, ammo, traits, limited, allowed,
    single, hostile, lowest, sight, starts, hidden, rng, targets, struck, weights, rewards,
    watched, notes, fresh, attempted, hits, kills, killed,
):  # fmt: skip
    """Every agent whose turn it is attacks whom its action aims at, in turn.

    As ``attack_agents``. ``how`` tells what the entries of an action are: attacks per encoding
    (``ENCODINGS``), attacks per cell (``CELLS``), or the cell of each attack (``LISTED``).
    ``sides`` int64 [N] are the sides of the agents' windows of cells. ``allowed`` bool [K, K]
    says which kind may attack which; in ``single`` and ``hostile`` row k is kind k alone.
    """
    for b in range(turns.shape[0]):
        if fresh:
            for i in range(hits.shape[1]):
                forget(b, i, attempted, hits, kills, killed)
        for t in range(num_turns[b]):
            i = turns[b, t]
            if not fresh:
                forget(b, i, attempted, hits, kills, killed)
            if rows_of[i, 0] < 0 or not active[b, i]:
                continue
            at = rows_of[i, 0] + b * rows_of[i, 1]
            if not asks_for_any(actions, at, num_entries(i, how, sides, traits, allowed)):
                continue
            attempted[b, i] = True
            chosen = 0
            if not is_spent(b, i, ammo, limited):
                if how == ENCODINGS:
                    chosen = choose_by_encoding(
                        b, i, actions, at, stacked, width, pad, cell, first, next_, top,
                        flat_walls, active, traits, allowed, single, hostile, lowest, sight,
                        starts, hidden, rng, targets, struck,
                    )  # fmt: skip
                else:
                    chosen = choose_by_cell(
                        b, i, actions, at, how == LISTED, stacked, sides[i], width, pad, cell,
                        first, next_, flat_walls, active, traits, allowed, sight, starts, hidden,
                        rng, targets, struck,
                    )  # fmt: skip
            strike(
                b, i, chosen, cell, first, next_, top, walls, active, health, ammo, traits,
                limited, rng, struck, weights, rewards, watched, notes, hits, kills, killed,
            )  # fmt: skip
