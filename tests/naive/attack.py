"""The attack actors for one agent.

Every actor here returns ``(attempted, hit, killed)``: bool, numbers of those hit in order (one that
is hit twice is there twice), numbers of those that died of it in order.
"""

from .sight import hidden_from, window_offsets


def attackable_by(world, attacker, attack_mapping):
    """The encodings that the attacker may attack, ascending."""
    found = attack_mapping.get(world.agents[attacker].encoding, set())
    return [found] if isinstance(found, int) else sorted(found)


def hidden_cells(world, attacker):
    """The offsets of the cells of the window that blocking agents hide."""
    me = world.agents[attacker]
    return hidden_from(world, me.position, me.attack_range)


def targets_in(world, attacker, offset, encodings, hidden):
    """The agents in a cell of the window that can be attacked, in list order."""
    me = world.agents[attacker]
    cell = (me.position[0] + offset[0], me.position[1] + offset[1])
    if not world.inside(cell) or offset in hidden:
        return []
    return [
        other
        for other in world.cells[cell]
        if other != attacker and world.agents[other].encoding in encodings
    ]


def targets(world, attacker, encodings):
    """The agents that can be attacked, by cell in reading order and then in list order."""
    offsets = window_offsets(world.agents[attacker].attack_range)
    hidden = hidden_cells(world, attacker)
    return [
        one for offset in offsets for one in targets_in(world, attacker, offset, encodings, hidden)
    ]


def those_it_could_hit(world, stream, attacker, others):
    """One draw per candidate, unless the attacker never misses."""
    accuracy = world.agents[attacker].attack_accuracy
    return [one for one in others if accuracy >= 1 or stream.uniform() <= accuracy]


def pick(stream, candidates, attacks, stacked_attacks):
    """Whom so many attacks hit."""
    if not candidates:
        return []
    if stacked_attacks:
        return [candidates[stream.below(len(candidates))] for _ in range(attacks)]
    return stream.choose(candidates, attacks)


def strike(world, stream, attacker, chosen):
    """What happens to the chosen ones: ``(hit, killed)``."""
    me = world.agents[attacker]
    if me.ammo is not None:
        chosen = stream.choose(chosen, me.ammo)
        me.ammo -= len(chosen)
    killed = []
    for other in chosen:
        victim = world.agents[other]
        if not victim.active:
            continue
        victim.health = max(0.0, victim.health - me.attack_strength)
        if victim.health == 0.0:
            victim.active = False
            world.remove(other)
            killed.append(other)
    return chosen, killed


def attack(world, stream, attacker, attacks, attack_mapping, stacked_attacks=False):
    """BinaryAttackActor: attack ``attacks`` random targets in range.

    Args:
        world: NaiveWorld.
        stream: the dynamics stream.
        attacker: number of an active agent.
        attacks: the action, 0 (no attack) to the agent's simultaneous attacks.
        attack_mapping: encoding -> encoding or set of those it may attack.
        stacked_attacks: one target may be hit several times.
    """
    me = world.agents[attacker]
    if attacks == 0 or me.attack_range is None:
        return False, [], []
    chosen = []
    if me.ammo != 0:
        encodings = attackable_by(world, attacker, attack_mapping)
        found = targets(world, attacker, encodings)
        candidates = those_it_could_hit(world, stream, attacker, found)
        chosen = pick(stream, candidates, attacks, stacked_attacks)
    return True, *strike(world, stream, attacker, chosen)


def attack_encodings(world, stream, attacker, action, attack_mapping, stacked_attacks=False):
    """EncodingBasedAttackActor; ``action`` is {encoding: attacks}."""
    if not any(action.values()):
        return False, [], []
    chosen = []
    if world.agents[attacker].ammo != 0:
        for encoding in attackable_by(world, attacker, attack_mapping):
            if action[encoding]:
                found = targets(world, attacker, {encoding})
                candidates = those_it_could_hit(world, stream, attacker, found)
                chosen += pick(stream, candidates, action[encoding], stacked_attacks)
    return True, *strike(world, stream, attacker, chosen)


def attack_cells(world, stream, attacker, action, attack_mapping, stacked_attacks=False):
    """SelectiveAttackActor; ``action`` is a window of attacks per cell, as lists of lists."""
    me = world.agents[attacker]
    encodings = attackable_by(world, attacker, attack_mapping)
    if not any(map(any, action)):
        return False, [], []
    chosen, hidden = [], hidden_cells(world, attacker)
    for dr, dc in window_offsets(me.attack_range) if me.ammo != 0 else ():
        attacks = action[dr + me.attack_range][dc + me.attack_range]
        if attacks:
            found = targets_in(world, attacker, (dr, dc), encodings, hidden)
            candidates = those_it_could_hit(world, stream, attacker, found)
            chosen += pick(stream, candidates, attacks, stacked_attacks)
    return True, *strike(world, stream, attacker, chosen)


def attack_listed(world, stream, attacker, action, attack_mapping, stacked_attacks=False):
    """RestrictedSelectiveAttackActor; ``action`` lists cells, counted from 1 in reading order."""
    me = world.agents[attacker]
    encodings = attackable_by(world, attacker, attack_mapping)
    if not any(action):
        return False, [], []
    chosen, offsets = [], list(window_offsets(me.attack_range))
    hidden = hidden_cells(world, attacker)
    for number in action if me.ammo != 0 else ():
        if number == 0:
            continue
        found = targets_in(world, attacker, offsets[number - 1], encodings, hidden)
        if not stacked_attacks:
            found = [one for one in found if one not in chosen]
        candidates = those_it_could_hit(world, stream, attacker, found)
        chosen += pick(stream, candidates, 1, stacked_attacks)
    return True, *strike(world, stream, attacker, chosen)
