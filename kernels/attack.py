"""Attacks: who of the possible targets is chosen, and what happens to the chosen ones."""

from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.occupancy import leave
from abmarl.kernels.streams import below, choose
from abmarl.kernels.targets import find_targets


@rule
def pick(b, found, wanted, stacked, rng, targets, struck, chosen):
    """Adds ``wanted`` random ones of ``targets[b, :found]`` to ``struck[b, chosen:]``.

    With replacement when ``stacked``; otherwise nobody twice, and attacks that are left over are
    lost. Returns how many are in ``struck[b]`` then.
    """
    if found == 0:
        return chosen
    if stacked:
        count = wanted + 0
        for h in range(count):
            struck[b, chosen + h] = targets[b, below(rng, b, found)]
    else:
        count = choose(rng, b, targets, found, wanted)
        for h in range(count):
            struck[b, chosen + h] = targets[b, h]
    return chosen + count


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
def note(b, i, j, watched, notes):
    """Writes down that agent i attacked agent j (-1: nobody was hit), if world b is watched.

    ``watched`` int64 [W, 2] names the worlds that are, -1 behind the last of them, and counts the
    notes ever taken of each; ``notes`` [W, n, 2] holds the last n of them, note k in row ``k % n``.
    """
    for place in range(watched.shape[0]):
        if watched[place, 0] < 0:
            return
        if watched[place, 0] == b:
            row = watched[place, 1] % notes.shape[1]
            notes[place, row, 0] = i
            notes[place, row, 1] = j
            watched[place, 1] += 1
            return


@rule
def strike(
    b, i, chosen, cell, first, next_, top, walls, active, health, ammo, traits, limited, rng,
    struck, weights, rewards, watched, notes, hits, kills, killed,
):  # fmt: skip
    """Agent i hits those in ``struck[b, :chosen]``, in that order.

    One whose ammo is ``limited`` hits a random choice of them, as many as it has ammo, and pays
    one for each.
    """
    if limited.shape[0] > 0 and limited[i]:
        chosen = choose(rng, b, struck, chosen, max(0, ammo[b, i]))
        ammo[b, i] -= chosen
    if chosen == 0:
        rewards[b, i] += weights[0]
        note(b, i, -1, watched, notes)
        return
    hits[b, i] = chosen
    for h in range(chosen):
        j = struck[b, h]
        note(b, i, j, watched, notes)
        if hit(b, i, j, cell, first, next_, top, walls, active, health, traits):
            kills[b, i] += 1
            killed[b, j] = True
            rewards[b, i] += weights[1]
            rewards[b, j] += weights[2]


@rule
def forget(b, i, attempted, hits, kills, killed):
    """Clears what came of the last attacks of, and on, agent i."""
    attempted[b, i] = False
    hits[b, i] = 0
    kills[b, i] = 0
    killed[b, i] = False


@rule
def is_spent(b, i, ammo, limited):
    """Whether agent i has no ammo left, so that nothing needs to be drawn for its attack."""
    return limited.shape[0] > 0 and limited[i] and ammo[b, i] <= 0


@kernel
def attack_agents(
    turns, num_turns, actions, rows_of, stacked, width, pad,
    cell, first, next_, top, walls, flat_walls, active, health, ammo, traits, limited, attackable,
    hostile, lowest, sight, starts, hidden, rng, attackers, targets, struck, weights, rewards,
    watched, notes, fresh, attempted, hits, kills, killed,
):  # fmt: skip
    """Every agent whose turn it is attacks as often as its action says, in turn.

    Actions are found as in ``move_agents``. An agent that was killed earlier in the step no longer
    acts. ``weights`` are the rewards of an attack without a hit, of a kill and of being killed.
    ``ammo`` int32 [B, N] counts for the agents in ``limited``, bool [N] or empty when there are
    none. The outcome arrays [B, N] say who attempted an attack (bool), how many hits and kills it
    had (int16) and who was killed (bool); unless ``fresh``, those of agents that do not act stay
    as they are. ``struck[b]`` lists whom the last attacker of world b hit. ``attackers`` int64
    [N] and ``targets[b]`` are scratch. ``watched`` and ``notes``: see ``note``.
    """
    for b in range(turns.shape[0]):
        if fresh:
            for i in range(hits.shape[1]):
                forget(b, i, attempted, hits, kills, killed)
        count = 0
        for t in range(num_turns[b]):
            i = turns[b, t]
            if not fresh:
                forget(b, i, attempted, hits, kills, killed)
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
            chosen = 0
            if not is_spent(b, i, ammo, limited):
                found = find_targets(
                    b, i, traits[i].kind, width, pad, cell, first, next_, top, flat_walls, active,
                    traits, attackable, hostile, lowest, sight, starts, hidden, rng, struck,
                    targets,
                )  # fmt: skip
                chosen = pick(b, found, wanted, stacked, rng, targets, struck, 0)
            strike(
                b, i, chosen, cell, first, next_, top, walls, active, health, ammo, traits,
                limited, rng, struck, weights, rewards, watched, notes, hits, kills, killed,
            )  # fmt: skip
