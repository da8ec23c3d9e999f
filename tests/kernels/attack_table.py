"""The attack actors for the table of kernels: how to run them and their twins on a ``Case``."""

from dataclasses import dataclass

import numpy as np

from abmarl.gridworld import (
    BinaryAttackActor,
    EncodingBasedAttackActor,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)
from abmarl.gridworld.actions import Actions
from tests.kernels.worlds import known
from tests.naive import action_masks, attack

WEIGHTS = -0.1, 1.0, -1.0


@dataclass(frozen=True)
class Kind:
    """One attack actor.

    Attributes:
        actor: Its class.
        twin: ``attack`` of the naive twins for it, and ``mask``: the action mask.
        draw: Function of (random generator, naive agent, attackable encodings) that returns an
            action for the twin.
    """

    actor: type
    twin: object
    mask: object
    draw: object


def draw_count(rng, me, encodings):
    return int(rng.integers(me.simultaneous_attacks + 1))


def draw_by_encoding(rng, me, encodings):
    return {encoding: draw_count(rng, me, encodings) for encoding in encodings}


def draw_window(rng, me, encodings):
    side = 2 * me.attack_range + 1
    few = rng.random((side, side)) < rng.choice([0.0, 0.2, 1.0])
    return (few * rng.integers(0, me.simultaneous_attacks + 1, (side, side))).tolist()


def draw_list(rng, me, encodings):
    cells = (2 * me.attack_range + 1) ** 2
    return rng.integers(0, cells + 1, me.simultaneous_attacks).tolist()


KINDS = {
    "binary": Kind(BinaryAttackActor, attack.attack, action_masks.attack_mask, draw_count),
    "encodings": Kind(
        EncodingBasedAttackActor, attack.attack_encodings, action_masks.encoding_attack_mask,
        draw_by_encoding,
    ),
    "cells": Kind(
        SelectiveAttackActor, attack.attack_cells, action_masks.cell_attack_mask, draw_window
    ),
    "listed": Kind(
        RestrictedSelectiveAttackActor, attack.attack_listed, action_masks.listed_attack_mask,
        draw_list,
    ),
}  # fmt: skip


def attack_actor(case, name):
    return case.component(
        KINDS[name].actor,
        attack_mapping=known(case.scenario, case.scenario.attack_mapping),
        stacked_attacks=case.scenario.stacked_attacks,
    )


def wanted(case, name):
    """{number: action} of the agents that have the channel."""
    scenario = case.scenario
    mapping, found = known(scenario, scenario.attack_mapping), {}
    for i, me in enumerate(scenario.world.agents):
        encodings = attack.attackable_by(scenario.world, i, mapping)
        if me.attack_range is None or (name == "encodings" and not encodings):
            continue
        if name == "listed" and me.simultaneous_attacks == 0:
            continue
        rng = np.random.default_rng((scenario.seed, i))
        found[i] = KINDS[name].draw(rng, me, encodings)
    return found


def channel(scenario, name):
    """Whether any agent has the channel."""
    mapping = known(scenario, scenario.attack_mapping)
    return any(
        me.attack_range is not None
        and (name != "encodings" or mapping.get(me.encoding))
        and (name != "listed" or me.simultaneous_attacks > 0)
        for me in scenario.world.agents
    )


def run_attacks(name):
    def run(case):
        actor = attack_actor(case, name)
        actor.weights[:] = WEIGHTS
        actions = Actions(case.store, {"attack": actor})
        flat, rows_of = actions.buffers["attack"] = actor.buffer()
        for i, action in wanted(case, name).items():
            for b in range(case.num_worlds):
                assert actor.form(i).put(action, flat, rows_of[i, 0] + b * rows_of[i, 1])
        actions.take_turns(case.store.active)
        outcome = actor.process(actions)
        return [
            [array[b].tolist() for array in (*outcome, case.store.rewards)]
            for b in range(case.num_worlds)
        ]

    return run


def naive_attacks(name):
    def run(case, b):
        world, mapping = case.naive[b], known(case.scenario, case.scenario.attack_mapping)
        count = len(world.agents)
        attempted, hits, kills, killed = [False] * count, [0] * count, [0] * count, [False] * count
        rewards = [0.0] * count
        for i, action in wanted(case, name).items():
            if not world.agents[i].active:
                continue
            attempted[i], hit, dead = KINDS[name].twin(
                world, case.naive_streams[b][0], i, action, mapping, case.scenario.stacked_attacks
            )
            hits[i], kills[i] = len(hit), len(dead)
            if attempted[i] and not hit:
                rewards[i] += WEIGHTS[0]
            for j in dead:
                killed[j] = True
                rewards[i] += WEIGHTS[1]
                rewards[j] += WEIGHTS[2]
        return [attempted, hits, kills, killed, rewards]

    return run


def run_masks(masks, name):
    def run(case):
        actor = attack_actor(case, name)
        return masks(case, actor, {i: actor.mask_shape(i) for i in wanted(case, name)})

    return run


def naive_masks(name):
    def run(case, b):
        mapping = known(case.scenario, case.scenario.attack_mapping)
        return {i: KINDS[name].mask(case.naive[b], i, mapping) for i in wanted(case, name)}

    return run


def suits(name):
    return lambda scenario: channel(scenario, name)
