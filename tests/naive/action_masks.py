"""Which actions would do something now, for one agent. Of one that is inactive: the null action."""

from .attack import targets
from .masks import window_offsets
from .movement import CROSS


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
    me = world.agents[agent]
    possible = me.active and bool(targets(world, agent, attack_mapping))
    return [True] + [possible] * me.simultaneous_attacks
