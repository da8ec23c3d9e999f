"""BinaryAttackActor for one agent."""

from .masks import hidden_from, window_offsets


def targets(world, attacker, attack_mapping):
    """The agents that the attacker can attack, by cell in reading order and then in list order."""
    me = world.agents[attacker]
    attackable = attack_mapping.get(me.encoding, set())
    if isinstance(attackable, int):
        attackable = {attackable}
    hidden = hidden_from(world, me.position, me.attack_range)
    found = []
    for dr, dc in window_offsets(me.attack_range):
        cell = (me.position[0] + dr, me.position[1] + dc)
        if not world.inside(cell) or (dr, dc) in hidden:
            continue
        for other in world.cells[cell]:
            if other != attacker and world.agents[other].encoding in attackable:
                found.append(other)
    return found


def attack(world, stream, attacker, attacks, attack_mapping, stacked_attacks=False):
    """Attack ``attacks`` random targets in range.

    Args:
        world: NaiveWorld.
        stream: the dynamics stream.
        attacker: number of an active agent.
        attacks: the action, 0 (no attack) to the agent's simultaneous attacks.
        attack_mapping: encoding -> encoding or set of those it may attack.
        stacked_attacks: one target may be hit several times.

    Returns:
        (attempted, hit, killed): bool, numbers of those hit in order (one that is hit twice is
        there twice), numbers of those that died of it in order.
    """
    me = world.agents[attacker]
    if attacks == 0 or me.attack_range is None:
        return False, [], []

    candidates = []
    for other in targets(world, attacker, attack_mapping):
        if me.attack_accuracy >= 1 or stream.uniform() <= me.attack_accuracy:
            candidates.append(other)

    if not candidates:
        hit = []
    elif stacked_attacks:
        hit = [candidates[stream.below(len(candidates))] for _ in range(attacks)]
    else:
        hit = stream.choose(candidates, attacks)

    killed = []
    for other in hit:
        victim = world.agents[other]
        if not victim.active:
            continue
        victim.health = max(0.0, victim.health - me.attack_strength)
        if victim.health == 0.0:
            victim.active = False
            world.remove(other)
            killed.append(other)
    return True, hit, killed
