"""Which actions would do something now, for one agent. Of one that is inactive: the null action."""

from .attack import attackable_by, hidden_cells, targets, targets_in
from .move import CROSS
from .sight import window_offsets


def can_move(world, agent, change):
    """True when the move would succeed; nothing is changed."""
    if tuple(change) == (0, 0):
        return True
    me = world.agents[agent]
    target = (me.position[0] + change[0], me.position[1] + change[1])
    return me.active and world.available(agent, target)


def move_mask(world, agent):
    """MoveActor: (2m+1, 2m+1) bools, entry [dr + m][dc + m]."""
    m = world.agents[agent].move_range
    side = 2 * m + 1
    flat = [can_move(world, agent, change) for change in window_offsets(m)]
    return [flat[k * side : (k + 1) * side] for k in range(side)]


def cross_move_mask(world, agent):
    """CrossMoveActor: 5 bools."""
    return [can_move(world, agent, CROSS[action]) for action in range(5)]


def attack_mask(world, agent, attack_mapping):
    """BinaryAttackActor: attacks + 1 bools: no attack is always possible.

    Any number of attacks is when somebody can be attacked, whatever the accuracy.
    """
    possible = ready(world, agent) and targets(
        world, agent, attackable_by(world, agent, attack_mapping)
    )
    return [True] + [bool(possible)] * world.agents[agent].simultaneous_attacks


def ready(world, agent):
    """True when the agent is active and not out of ammo."""
    return world.agents[agent].active and world.agents[agent].ammo != 0


def encoding_attack_mask(world, agent, attack_mapping):
    """EncodingBasedAttackActor: per attackable encoding as ``attack_mask``."""
    return [
        [True]
        + [ready(world, agent) and bool(targets(world, agent, {encoding}))]
        * world.agents[agent].simultaneous_attacks
        for encoding in attackable_by(world, agent, attack_mapping)
    ]


def cells_with_targets(world, agent, attack_mapping):
    """A bool per cell of the window, in reading order."""
    encodings = attackable_by(world, agent, attack_mapping)
    hidden, able = hidden_cells(world, agent), ready(world, agent)
    return [
        able and bool(targets_in(world, agent, offset, encodings, hidden))
        for offset in window_offsets(world.agents[agent].attack_range)
    ]


def cell_attack_mask(world, agent, attack_mapping):
    """SelectiveAttackActor: (W, W, attacks + 1) bools."""
    me = world.agents[agent]
    side = 2 * me.attack_range + 1
    cells = [
        [True] + [possible] * me.simultaneous_attacks
        for possible in cells_with_targets(world, agent, attack_mapping)
    ]
    return [cells[k * side : (k + 1) * side] for k in range(side)]


def listed_attack_mask(world, agent, attack_mapping):
    """RestrictedSelectiveAttackActor: (attacks, W * W + 1) bools."""
    row = [True, *cells_with_targets(world, agent, attack_mapping)]
    return [row] * world.agents[agent].simultaneous_attacks
