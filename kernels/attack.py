"""Attacks: who can be attacked, who of them is chosen, and what happens to the chosen ones.

An agent can be attacked when it is somebody else, is active, is in range, is of a kind that may be
attacked, and no blocking agent hides its cell. What may be attacked is a table ``attackable``,
bool [rows, kinds], of which a caller names the row: that of the attacker's kind, or of one
encoding.
"""

from typing import NamedTuple

import numpy as np

from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.sight import is_hidden, mark_hidden, mark_range
from abmarl.kernels.streams import below, choose, uniform
from abmarl.kernels.turns import action_of, has_action
from abmarl.kernels.world import leave

# What an aimed action counts or names.
ENCODINGS, CELLS, LISTED = 0, 1, 2


class Attacks(NamedTuple):
    """How agents attack.

    Attributes:
        attackable: bool [rows, kinds], which kinds may be attacked; see the head of the file.
        hostile: bool [rows, labels], the same by what stands in ``world.top``, less ``lowest``; no
            columns when agents of several kinds can share a cell.
        lowest: The label of the first column of ``hostile``.
        stacked: Whether several attacks of one action may hit the same agent.
        ammo: int32 [B, N], ammunition of the agents in ``limited``.
        limited: bool [N], who hits as often only as its ammunition lasts; empty when nobody is.
        weights: float64 [3], rewards of an attack without a hit, of a kill and of being killed.
        targets: int [B, N], scratch: who can be hit.
        struck: int [B, hits], whom the last attacker of each world hit.
    """

    attackable: np.ndarray
    hostile: np.ndarray
    lowest: int
    stacked: bool
    ammo: np.ndarray
    limited: np.ndarray
    weights: np.ndarray
    targets: np.ndarray
    struck: np.ndarray


class Aim(NamedTuple):
    """What the entries of an aimed action mean.

    Attributes:
        how: ``ENCODINGS``: attacks per encoding; ``CELLS``: attacks per cell of the window;
            ``LISTED``: the cell of each attack.
        sides: int64 [N], sides of the agents' windows of cells.
        allowed: bool [kinds, kinds], which kind may attack which.
    """

    how: int
    sides: np.ndarray
    allowed: np.ndarray


class AttackOutcome(NamedTuple):
    """What came of the attacks of a step, per agent of every world.

    Attributes:
        attempted: bool [B, N], attacked at all.
        hits, kills: int16 [B, N], how many hits and kills the agent had.
        killed: bool [B, N], was killed.
    """

    attempted: np.ndarray
    hits: np.ndarray
    kills: np.ndarray
    killed: np.ndarray


class Notes(NamedTuple):
    """Who attacked whom, in worlds that somebody watches.

    Attributes:
        watched: int64 [W, 2], the worlds that are watched (-1 behind the last of them) and how many
            notes were ever taken of each.
        notes: int [W, n, 2], the last n of them, attacker and target (-1: nobody was hit), note k
            in row ``k % n``.
    """

    watched: np.ndarray
    notes: np.ndarray


# --- who can be attacked


@rule
def add_target(world, b, j, accuracy, attacks, count):
    """Put agent j at ``targets[b, count]`` and return the next count.

    An accuracy below 1 is one draw, and the agent stays when the draw is not above it.
    """
    attacks.targets[b, count] = j  # counts only if count grows
    if accuracy >= 1.0 or uniform(world.streams, b) <= accuracy:
        count += 1
    return count


@rule
def list_cell(world, b, i, q, attacks, spared):
    """List in ``targets[b]`` whom agent i could hit in cell q, newest first; return how many.

    Those in ``struck[b, :spared]`` are left out.
    """
    kind, accuracy = world.traits[i].kind, world.traits[i].attack_accuracy
    count = 0
    j = world.first[b, q]
    while j >= 0:
        if j != i and world.active[b, j] and attacks.attackable[kind, world.traits[j].kind]:
            fresh = True
            for h in range(spared):
                fresh &= attacks.struck[b, h] != j
            if fresh:
                count = add_target(world, b, j, accuracy, attacks, count)
        j = world.next_[b, j]
    return count


@rule
def find_targets(world, b, i, row, attacks):
    """List in ``targets[b]`` whom agent i could hit, cell by cell, row by row; return how many."""
    reach = min(world.traits[i].attack_range, world.pad)
    p = np.int64(world.cell[b, i])
    if p == 0:
        return 0  # not placed yet
    # As ``mark_range``, written out: a call would slow battles down by some percent.
    masked = reach > 1 and world.sight.hidden.shape[0] > 0
    if masked:
        masked = mark_hidden(world, b, p, reach)
    accuracy = world.traits[i].attack_accuracy
    alike = attacks.hostile.shape[1] > 0
    count = 0
    k = -1
    for dr in range(-reach, reach + 1):
        left = p + dr * world.width
        for dc in range(-reach, reach + 1):
            k += 1
            q = np.uint32(left + dc)
            # The labels are close together in memory, and most cells need no second look.
            label = np.int64(world.top[b, q])
            if (
                not attacks.hostile[row, label - attacks.lowest]
                if alike
                else label == 0 or label == -1
            ):
                continue
            if masked and is_hidden(world, k):
                continue
            # As in ``list_cell``; where all in a cell are alike, the label has told their kind.
            j = world.first[b, q]
            while j >= 0:
                if j != i and world.active[b, j]:
                    if alike or attacks.attackable[row, world.traits[j].kind]:
                        count = add_target(world, b, j, accuracy, attacks, count)
                j = world.next_[b, j]
    return count


@rule
def _has_target_at(world, b, i, q, row, attacks):
    """Return whether somebody whom agent i may attack is in cell q."""
    j = world.first[b, q]
    while j >= 0:
        if j != i and world.active[b, j] and attacks.attackable[row, world.traits[j].kind]:
            return True
        j = world.next_[b, j]
    return False


@rule
def has_target(world, b, i, row, attacks):
    """Return whether anybody can be attacked by agent i."""
    reach = min(world.traits[i].attack_range, world.pad)
    p = np.int64(world.cell[b, i])
    if p == 0:
        return False  # not placed yet
    masked = mark_range(world, b, p, reach)
    side = 2 * reach + 1
    for k in range(side * side):
        if masked and is_hidden(world, k):
            continue
        q = np.uint32(p + (k // side - reach) * world.width + k % side - reach)
        if _has_target_at(world, b, i, q, row, attacks):
            return True
    return False


@rule
def is_out_of_ammo(b, i, attacks):
    """Return whether agent i has no ammunition left, so that nothing is drawn for its attack."""
    return attacks.limited.shape[0] > 0 and attacks.limited[i] and attacks.ammo[b, i] <= 0


@rule
def _may_hit(world, b, i, attacks):
    return world.active[b, i] and not is_out_of_ammo(b, i, attacks)


# --- who is chosen, and what happens


@rule
def pick(world, b, found, wanted, attacks, chosen):
    """Add ``wanted`` random ones of ``targets[b, :found]`` to ``struck[b, chosen:]``.

    With replacement when ``stacked``; otherwise nobody twice, and attacks that are left over are
    lost. Return how many are in ``struck[b]`` then.
    """
    targets, struck = attacks.targets, attacks.struck
    if found == 0:
        return chosen
    if attacks.stacked:
        count = wanted + 0
        for h in range(count):
            struck[b, chosen + h] = targets[b, below(world.streams, b, found)]
    else:
        count = choose(world.streams, b, targets, found, wanted)
        for h in range(count):
            struck[b, chosen + h] = targets[b, h]
    return chosen + count


@rule
def hit(world, b, i, j):
    """Take the attacker's strength off the health of agent j; return whether that kills it.

    An agent without health is inactive and leaves the grid at once. One that an earlier hit of
    the same attack has killed stays as it is.
    """
    if not world.active[b, j]:
        return False
    left = world.health[b, j] - world.traits[i].attack_strength
    if left > 0.0:
        world.health[b, j] = left
        return False
    world.health[b, j] = 0.0
    world.active[b, j] = False
    leave(world, b, j)
    return True


@rule
def _note(b, i, j, notes):
    """Write down that agent i attacked agent j, if world b is watched."""
    watched = notes.watched
    for place in range(watched.shape[0]):
        if watched[place, 0] < 0:
            return
        if watched[place, 0] == b:
            row = watched[place, 1] % notes.notes.shape[1]
            notes.notes[place, row, 0] = i
            notes.notes[place, row, 1] = j
            watched[place, 1] += 1
            return


@rule
def strike(world, b, i, chosen, attacks, outcome, notes):
    """Let agent i hit those in ``struck[b, :chosen]``, in that order.

    One whose ammunition is limited hits a random choice of them, as many as it has, and pays one
    for each.
    """
    struck, weights = attacks.struck, attacks.weights
    if attacks.limited.shape[0] > 0 and attacks.limited[i]:
        chosen = choose(world.streams, b, struck, chosen, max(0, attacks.ammo[b, i]))
        attacks.ammo[b, i] -= chosen
    if chosen == 0:
        world.rewards[b, i] += weights[0]
        _note(b, i, -1, notes)
        return
    outcome.hits[b, i] = chosen
    for h in range(chosen):
        j = struck[b, h]
        _note(b, i, j, notes)
        if hit(world, b, i, j):
            outcome.kills[b, i] += 1
            outcome.killed[b, j] = True
            world.rewards[b, i] += weights[1]
            world.rewards[b, j] += weights[2]


@rule
def _clear(b, i, outcome):
    """Clear what came of the last attacks of, and on, agent i."""
    outcome.attempted[b, i] = False
    outcome.hits[b, i] = 0
    outcome.kills[b, i] = 0
    outcome.killed[b, i] = False


@kernel
def attack_agents(world, turns, attackers, attacks, outcome, notes):
    """Let every agent whose turn it is attack as often as its action says, in turn.

    An agent that was killed earlier in the step no longer acts. Unless ``turns.fresh``, outcomes of
    agents that do not act stay as they are. ``attackers`` int [N] is scratch.
    """
    for b in range(turns.order.shape[0]):
        if turns.fresh:
            for i in range(outcome.hits.shape[1]):
                _clear(b, i, outcome)
        count = 0
        for t in range(turns.num_turns[b]):
            i = turns.order[b, t]
            if not turns.fresh:
                _clear(b, i, outcome)
            attackers[count] = i
            # Without a branch: whether an agent attacks is not predictable.
            if has_action(turns, i):
                count += turns.actions[action_of(turns, b, i)] > 0
        for t in range(count):
            i = attackers[t]
            if not world.active[b, i]:
                continue
            wanted = turns.actions[action_of(turns, b, i)]
            outcome.attempted[b, i] = True
            chosen = 0
            if not is_out_of_ammo(b, i, attacks):
                found = find_targets(world, b, i, world.traits[i].kind, attacks)
                chosen = pick(world, b, found, wanted, attacks, 0)
            strike(world, b, i, chosen, attacks, outcome, notes)


# --- aimed attacks


@rule
def _num_entries(world, i, aim):
    """Return how many numbers an action of agent i has."""
    if aim.how == CELLS:
        return np.int64(aim.sides[i]) * aim.sides[i]
    if aim.how == LISTED:
        return np.int64(world.traits[i].simultaneous_attacks)
    count = 0
    for k in range(aim.allowed.shape[1]):
        count += aim.allowed[world.traits[i].kind, k]
    return count


@rule
def _asks_for_any(actions, at, count):
    """Return whether some entry of an action asks for an attack."""
    for k in range(count):
        if actions[at + k] > 0:
            return True
    return False


@rule
def choose_by_encoding(world, b, i, actions, at, attacks, aim):
    """Put whom agent i attacks into ``struck[b]``; the action has an entry per allowed kind.

    Each of them is a scan of the window for that kind. Return how many were chosen.
    """
    chosen = 0
    for k in range(aim.allowed.shape[1]):
        if aim.allowed[world.traits[i].kind, k]:
            wanted = actions[at]
            at += 1
            if wanted > 0:
                found = find_targets(world, b, i, k, attacks)
                chosen = pick(world, b, found, wanted, attacks, chosen)
    return chosen


@rule
def choose_by_cell(world, b, i, actions, at, attacks, aim):
    """Do as ``choose_by_encoding``; the entries count attacks per cell of the window, row by row.

    When ``LISTED``, every entry is one attack and names its cell, counted from 1; 0 is none.
    """
    listed, side = aim.how == LISTED, aim.sides[i]
    far = side // 2
    reach = min(world.traits[i].attack_range, world.pad, far)
    p = np.int64(world.cell[b, i])
    if p == 0:
        return 0  # not placed yet
    masked = mark_range(world, b, p, reach)
    chosen = 0
    for k in range(world.traits[i].simultaneous_attacks if listed else side * side):
        entry = np.int64(actions[at + k])
        if entry == 0:
            continue
        n = entry - 1 if listed else np.int64(k)
        dr, dc = n // side - far, n % side - far
        if abs(dr) > reach or abs(dc) > reach:
            continue
        if masked and is_hidden(world, (dr + reach) * (2 * reach + 1) + dc + reach):
            continue
        q = np.uint32(p + dr * world.width + dc)
        # Attacks on one cell that are listed one by one must not choose somebody twice either.
        spared = chosen if listed and not attacks.stacked else 0
        found = list_cell(world, b, i, q, attacks, spared)
        wanted = np.int64(1) if listed else entry
        chosen = pick(world, b, found, wanted, attacks, chosen)
    return chosen


@kernel
def attack_aimed(world, turns, aim, attacks, outcome, notes):
    """Let every agent whose turn it is attack whom its action aims at, in turn.

    All else is as in ``attack_agents``. For ``ENCODINGS`` row k of ``attacks.attackable`` is kind k
    alone.
    """
    for b in range(turns.order.shape[0]):
        if turns.fresh:
            for i in range(outcome.hits.shape[1]):
                _clear(b, i, outcome)
        for t in range(turns.num_turns[b]):
            i = turns.order[b, t]
            if not turns.fresh:
                _clear(b, i, outcome)
            if not has_action(turns, i) or not world.active[b, i]:
                continue
            at = action_of(turns, b, i)
            if not _asks_for_any(turns.actions, at, _num_entries(world, i, aim)):
                continue
            outcome.attempted[b, i] = True
            chosen = 0
            if not is_out_of_ammo(b, i, attacks):
                if aim.how == ENCODINGS:
                    chosen = choose_by_encoding(world, b, i, turns.actions, at, attacks, aim)
                else:
                    chosen = choose_by_cell(world, b, i, turns.actions, at, attacks, aim)
            strike(world, b, i, chosen, attacks, outcome, notes)


# --- action masks


@kernel
def possible_targets(world, agents, rows_of, out, attacks, by_encoding, allowed):
    """Tell which attacks have a target now: none always, one or more where somebody can be hit.

    ``out`` is a flat bool array with ``simultaneous_attacks + 1`` entries per agent, or, when
    ``by_encoding``, that many for every kind that ``allowed`` bool [kinds, kinds] lets the agent
    attack. Whether a hit would succeed is a matter of accuracy and is not drawn here.
    """
    for b in range(world.cell.shape[0]):
        for k in range(agents.shape[0]):
            i = agents[k]
            kind = world.traits[i].kind
            ready = _may_hit(world, b, i, attacks)
            to = rows_of[i, 0] + b * rows_of[i, 1]
            options = world.traits[i].simultaneous_attacks + 1
            for row in range(allowed.shape[0]):
                if (by_encoding and not allowed[kind, row]) or (not by_encoding and row != kind):
                    continue
                found = ready and has_target(world, b, i, row, attacks)
                for option in range(options):
                    out[to + option] = option == 0 or found
                to += options


@kernel
def possible_cells(world, agents, rows_of, out, attacks, aim):
    """Tell which attacks on a cell have a target now.

    ``out`` is a flat bool array: per cell of the agent's window ``simultaneous_attacks + 1``
    entries; or, when ``LISTED``, per attack an entry for none and one per cell.
    """
    for b in range(world.cell.shape[0]):
        for k in range(agents.shape[0]):
            i = agents[k]
            side = aim.sides[i]
            far = side // 2
            num_attacks = world.traits[i].simultaneous_attacks
            to = rows_of[i, 0] + b * rows_of[i, 1]
            p = np.int64(world.cell[b, i])
            reach = min(world.traits[i].attack_range, world.pad, far)
            ready = p > 0 and _may_hit(world, b, i, attacks)
            masked = ready and mark_range(world, b, p, reach)
            if aim.how == LISTED:
                for a in range(num_attacks):
                    out[to + a * (side * side + 1)] = True
            for n in range(side * side):
                dr, dc = n // side - far, n % side - far
                found = ready and abs(dr) <= reach and abs(dc) <= reach
                if found and masked:
                    found = not is_hidden(world, (dr + reach) * (2 * reach + 1) + dc + reach)
                if found:
                    q = np.uint32(p + dr * world.width + dc)
                    found = _has_target_at(world, b, i, q, world.traits[i].kind, attacks)
                if aim.how == LISTED:
                    for a in range(num_attacks):
                        out[to + a * (side * side + 1) + n + 1] = found
                else:
                    for option in range(num_attacks + 1):
                        out[to + n * (num_attacks + 1) + option] = option == 0 or found
