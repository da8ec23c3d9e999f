"""Attack resolution: who can be attacked, who is chosen, what happens to the chosen ones."""

import numpy as np

from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.occupancy import leave
from abmarl.kernels.sight import is_hidden, mark_hidden
from abmarl.kernels.streams import below, choose, uniform


@rule
def find_targets(
    b, i, width, pad, cell, first, next_, top, flat_walls, active, traits, attackable, hostile,
    lowest, sight, starts, hidden, rng, targets,
):  # fmt: skip
    """Lists in ``targets[b]`` whom agent i could hit, in the order of the scan; returns how many.

    Cells row by row, in a cell the newest agent first. Less than perfect accuracy is one draw per
    candidate, and the candidate stays when the draw is not above it. ``hostile[kind, label]``
    tells by what stands in ``top``, less ``lowest``, whether those in a cell can be attacked; it
    has no columns when agents of several kinds can share a cell.
    """
    reach = min(traits[i].attack_range, pad)
    kind = traits[i].kind
    accuracy = traits[i].attack_accuracy
    p = np.int64(cell[b, i])
    if p == 0:
        return 0  # it stands nowhere
    # Within range 1 nothing lies behind a blocker.
    masked = reach > 1 and hidden.shape[0] > 0
    if masked:
        at = b * first.shape[1] + p
        masked = mark_hidden(at, reach, width, flat_walls, sight, starts, hidden)
    alike = hostile.shape[1] > 0
    count = 0
    k = -1
    for dr in range(-reach, reach + 1):
        row = p + dr * width
        for dc in range(-reach, reach + 1):
            k += 1
            q = np.uint32(row + dc)
            # The labels are close together in memory, and most cells need no second look.
            label = np.int64(top[b, q])
            if not hostile[kind, label - lowest] if alike else label == 0 or label == -1:
                continue
            if masked and is_hidden(hidden, k):
                continue
            j = first[b, q]
            while j >= 0:
                if j != i and active[b, j] and (alike or attackable[kind, traits[j].kind]):
                    if accuracy >= 1.0 or uniform(rng, b) <= accuracy:
                        targets[b, count] = j
                        count += 1
                j = next_[b, j]
    return count


@rule
def hit(b, i, j, cell, first, next_, top, walls, active, health, traits):
    """Takes the attacker's strength off the health of agent j; returns whether that kills it.

    An agent without health is inactive and leaves the grid at once. One that an earlier hit of
    the same attack has killed stays as it is.
    """
    if not active[b, j]:
        return False
    left = health[b, j] - traits[i].attack_strength
    if left > 0.0:
        health[b, j] = left
        return False
    health[b, j] = 0.0
    active[b, j] = False
    leave(b, j, cell, first, next_, top, walls, active, traits)
    return True


@rule
def _clear(b, i, attempted, hits, kills, killed):
    attempted[b, i] = False
    hits[b, i] = 0
    kills[b, i] = 0
    killed[b, i] = False


@kernel
def attack_agents(
    turns, num_turns, actions, rows_of, stacked, width, pad,
    cell, first, next_, top, walls, flat_walls, active, health, traits, attackable, hostile, lowest,
    sight, starts, hidden, rng, attackers, targets, struck, weights, rewards, fresh,
    attempted, hits, kills, killed,
):  # fmt: skip
    """Every agent whose turn it is attacks as often as its action says, in turn.

    Actions are found as in ``move_agents``. An agent that was killed earlier in the step no longer
    acts. ``weights`` are the rewards of an attack without a hit, of a kill and of being killed.
    The outcome arrays [B, N] say who attempted an attack (bool), how many hits and kills it had
    (int16) and who was killed (bool); unless ``fresh``, those of agents that do not act stay as
    they are. ``struck[b]`` lists whom the last attacker of world b hit. ``attackers`` int64 [N]
    and ``targets[b]`` are scratch.
    """
    for b in range(turns.shape[0]):
        if fresh:
            for i in range(hits.shape[1]):
                _clear(b, i, attempted, hits, kills, killed)
        count = 0
        for t in range(num_turns[b]):
            i = turns[b, t]
            if not fresh:
                _clear(b, i, attempted, hits, kills, killed)
            attackers[count] = i
            # Without a branch: whether an agent attacks is not predictable.
            if rows_of[i, 0] >= 0:
                count += actions[rows_of[i, 0] + b * rows_of[i, 1]] > 0
        for t in range(count):
            i = attackers[t]
            if not active[b, i]:
                continue
            wanted = actions[rows_of[i, 0] + b * rows_of[i, 1]]
            attempted[b, i] = True
            found = find_targets(
                b, i, width, pad, cell, first, next_, top, flat_walls, active, traits, attackable,
                hostile, lowest, sight, starts, hidden, rng, targets,
            )  # fmt: skip
            if found == 0:
                rewards[b, i] += weights[0]
                continue
            if stacked:
                chosen = wanted + 0
                for h in range(chosen):
                    struck[b, h] = targets[b, below(rng, b, found)]
            else:
                chosen = choose(rng, b, targets, found, wanted)
                for h in range(chosen):
                    struck[b, h] = targets[b, h]
            hits[b, i] = chosen
            for h in range(chosen):
                j = struck[b, h]
                if hit(b, i, j, cell, first, next_, top, walls, active, health, traits):
                    kills[b, i] += 1
                    killed[b, j] = True
                    rewards[b, i] += weights[1]
                    rewards[b, j] += weights[2]


@kernel
def possible_targets(
    agents, rows_of, width, pad, cell, first, next_, flat_walls, active, traits, attackable,
    sight, starts, hidden, out,
):  # fmt: skip
    """Which attacks have a target now: none always, one or more where somebody can be hit.

    ``out`` is a flat bool array with ``simultaneous_attacks + 1`` entries per agent. Whether a hit
    would succeed is a matter of accuracy and is not drawn here.
    """
    for b in range(cell.shape[0]):
        for k in range(agents.shape[0]):
            i = agents[k]
            found = active[b, i] and has_target(
                b, i, width, pad, cell, first, next_, flat_walls, active, traits, attackable,
                sight, starts, hidden,
            )  # fmt: skip
            at = rows_of[i, 0] + b * rows_of[i, 1]
            for option in range(traits[i].simultaneous_attacks + 1):
                out[at + option] = option == 0 or found


@rule
def has_target(
    b,
    i,
    width,
    pad,
    cell,
    first,
    next_,
    flat_walls,
    active,
    traits,
    attackable,
    sight,
    starts,
    hidden,
):
    """Whether anybody can be attacked by agent i."""
    reach = min(traits[i].attack_range, pad)
    p = np.int64(cell[b, i])
    if p == 0:
        return False  # it stands nowhere
    masked = reach > 1 and hidden.shape[0] > 0
    if masked:
        at = b * first.shape[1] + p
        masked = mark_hidden(at, reach, width, flat_walls, sight, starts, hidden)
    side = 2 * reach + 1
    for k in range(side * side):
        if masked and is_hidden(hidden, k):
            continue
        j = first[b, np.uint32(p + (k // side - reach) * width + k % side - reach)]
        while j >= 0:
            if j != i and active[b, j] and attackable[traits[i].kind, traits[j].kind]:
                return True
            j = next_[b, j]
    return False
