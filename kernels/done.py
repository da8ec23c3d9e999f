"""Done conditions of agents, ``done`` bool [B, N], and of worlds, ``over`` bool [B]."""

from abmarl.kernels.compile import kernel, rule


@kernel
def not_active(world, done):
    """Set ``done`` to the agents that are not active."""
    for b in range(done.shape[0]):
        for i in range(done.shape[1]):
            done[b, i] = not world.active[b, i]


@kernel
def add_done(done, over, more, more_over, first):
    """Add the agents and worlds that ``more`` and ``more_over`` say are done.

    The ``first`` time they are the only ones.
    """
    for b in range(done.shape[0]):
        over[b] = more_over[b] | (over[b] & (not first))
        for i in range(done.shape[1]):
            done[b, i] = more[b, i] | (done[b, i] & (not first))


@kernel
def none_active(world, over):
    """Set ``over`` where no agent is active."""
    for b in range(over.shape[0]):
        over[b] = True
        for i in range(world.active.shape[1]):
            if world.active[b, i]:
                over[b] = False
                break


@kernel
def one_team_left(world, teams, counted, over):
    """Set ``over`` where the active agents that count are of one team, or there are none.

    ``teams`` is int [1 or B, N], ``counted`` bool [N].
    """
    active = world.active
    for b in range(active.shape[0]):
        row = b if teams.shape[0] > 1 else 0
        over[b] = True
        found = False
        team = 0
        for i in range(active.shape[1]):
            if active[b, i] and counted[i]:
                if found and teams[row, i] != team:
                    over[b] = False
                    break
                found = True
                team = teams[row, i]


@kernel
def targets_inactive(world, targets, mapped, one_is_enough, extinct, done, over):
    """Set ``done`` for agents when every kind of agent that they are after is extinct.

    ``targets`` is bool [kinds, kinds], row: whose targets; ``mapped`` bool [kinds] says which
    kinds have any; ``extinct`` is a bool [kinds] scratch. A world is over when one mapped kind is
    done, or all of them.
    """
    active, traits = world.active, world.traits
    kinds = mapped.shape[0]
    for b in range(active.shape[0]):
        for kind in range(kinds):
            extinct[kind] = True
        for i in range(active.shape[1]):
            if active[b, i]:
                extinct[traits[i].kind] = False
        finished, waiting = 0, 0
        for kind in range(kinds):
            if mapped[kind]:
                if _all_extinct(kind, targets, extinct):
                    finished += 1
                else:
                    waiting += 1
        over[b] = finished > 0 and (one_is_enough or waiting == 0)
        for i in range(active.shape[1]):
            kind = traits[i].kind
            done[b, i] = mapped[kind] and _all_extinct(kind, targets, extinct)


@rule
def _all_extinct(kind, targets, extinct):
    for other in range(targets.shape[1]):
        if targets[kind, other] and not extinct[other]:
            return False
    return True


@kernel
def targets_reached(world, targets, done, over):
    """Set ``done`` for agents on the cell of their target, ``targets`` int64 [N], below 0: none.

    Nobody is there while it or its target is not placed (cell 0). A world is over when all agents
    with a target are done.
    """
    cell = world.cell
    for b in range(cell.shape[0]):
        over[b] = True
        for i in range(cell.shape[1]):
            j = targets[i]
            done[b, i] = j >= 0 and cell[b, i] != 0 and cell[b, i] == cell[b, max(j, 0)]
            over[b] &= j < 0 or done[b, i]


@kernel
def targets_gone(world, targets, done, over):
    """Set ``done`` for agents whose target, ``targets`` int64 [N], is not active; below 0: none.

    A world is over when all agents with a target are done.
    """
    active = world.active
    for b in range(active.shape[0]):
        over[b] = True
        for i in range(active.shape[1]):
            j = targets[i]
            done[b, i] = j >= 0 and not active[b, max(j, 0)]
            over[b] &= j < 0 or done[b, i]
