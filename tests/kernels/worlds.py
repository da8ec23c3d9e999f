"""Scenarios of the naive twins, loaded into the engine: the inputs of the table of kernels."""

import copy
import itertools
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from abmarl.gridworld import (
    AmmoAgent,
    AttackingAgent,
    Grid,
    GridObservingAgent,
    MovingAgent,
    TeamAgent,
)
from tests.naive.strategies import joint_actions, scenarios
from tests.naive.streams import streams
from tests.naive.world import NaiveWorld

# A factor that turns small encodings into ones that need 8, 16 or 32 bits, or are negative.
FACTORS = [1, 1, 1, 1, 1, 40, 130, 5000, -5]
NUM_WORLDS = 2


def _class_of(views, moves, attacks, ammo):
    bases = [MovingAgent] * moves + [GridObservingAgent] * views + [AttackingAgent] * attacks
    bases += [AmmoAgent] * ammo
    return type(f"Kind{views:d}{moves:d}{attacks:d}{ammo:d}Agent", (*bases, TeamAgent), {})


CLASSES = {
    abilities: _class_of(*abilities) for abilities in itertools.product((False, True), repeat=4)
}


@st.composite
def cases(draw, feasible=False, far=True):
    """What a ``Case`` is made of: a scenario, also with abilities missing, far ranges and large
    encodings, and actions."""
    scenario = draw(scenarios(feasible=feasible))
    actions = draw(joint_actions(scenario.world))
    factor = draw(st.sampled_from(FACTORS))
    changes = []
    for agent in scenario.world.agents:
        change = {"encoding": agent.encoding * factor}
        if agent.team == agent.encoding:
            change["team"] = change["encoding"]
        lost = draw(st.sampled_from(["", "", "", "", "va", "vma", "ma", "v", "m"]))
        for letter in lost:
            change[{"v": "view", "m": "move", "a": "attack"}[letter] + "_range"] = None
        if far:
            change["ammo"] = draw(st.sampled_from([None, None, None, 0, 1, 2]))
        if far and not lost and draw(st.integers(0, 40)) == 0:
            name = draw(st.sampled_from(["view_range", "move_range", "attack_range"]))
            change[name] = draw(st.sampled_from([7, 11, 26] if name == "move_range" else [7, 11]))
        changes.append(change)
    rename = {encoding: encoding * factor for encoding in scenario.encodings}
    return relabelled(scenario, changes, rename), actions


def relabelled(scenario, changes, rename):
    """The scenario with some attributes of its agents changed and its encodings renamed."""
    old = scenario.world
    agents = [replace(agent, **change) for agent, change in zip(old.agents, changes, strict=True)]

    def renamed(mapping):
        return {rename[key]: {rename[one] for one in others} for key, others in mapping.items()}

    overlapping = renamed(scenario.overlapping)
    world = NaiveWorld(old.rows, old.cols, agents, overlapping)
    world.cells = {cell: list(occupants) for cell, occupants in old.cells.items()}
    return replace(
        scenario,
        world=world,
        overlapping=overlapping,
        attack_mapping=renamed(scenario.attack_mapping),
        encodings=list(rename.values()),
    )


def engine_agents(naive_agents, **kwargs):
    """``{id: agent}`` of the engine for naive agents; agent i is ``agent<i>``."""
    agents = {}
    for number, one in enumerate(naive_agents):
        abilities = one.view_range is not None, one.move_range is not None
        kind = CLASSES[(*abilities, one.attack_range is not None, one.ammo is not None)]
        given = dict(kwargs)
        if one.ammo is not None:
            given["initial_ammo"] = one.ammo
        if one.view_range is not None:
            given["view_range"] = one.view_range
        if one.move_range is not None:
            given["move_range"] = one.move_range
        if one.attack_range is not None:
            given.update(
                attack_range=one.attack_range,
                attack_strength=one.attack_strength,
                attack_accuracy=one.attack_accuracy,
                simultaneous_attacks=one.simultaneous_attacks,
            )
        name = f"agent{number}"
        agents[name] = kind(
            id=name,
            encoding=one.encoding,
            team=None if one.team == one.encoding else one.team,
            blocking=one.blocking,
            initial_position=one.initial_position,
            initial_health=one.initial_health,
            **given,
        )
    return agents


def copy_world(world):
    """An independent copy of a naive world."""
    twin = copy.copy(world)
    twin.agents = [copy.copy(agent) for agent in world.agents]
    twin.cells = {cell: list(occupants) for cell, occupants in world.cells.items()}
    return twin


class Case:
    """A scenario in the engine and as naive worlds, in the same state, with streams of their own.

    Attributes:
        scenario: The ``Scenario``; its world is not changed.
        actions: {number: {"attack": int, "move": (dr, dc)}} of all agents.
        naive: A naive world per world of the engine; ``naive_streams`` (dynamics, observation,
            sampling) of each.
        agents, grid, store: The engine's.
    """

    def __init__(self, scenario, actions=None, num_worlds=NUM_WORLDS):
        self.scenario = scenario
        self.actions = actions
        self.num_worlds = num_worlds
        world = scenario.world
        self.naive = [copy_world(world) for _ in range(num_worlds)]
        self.naive_streams = [streams(scenario.seed, k) for k in range(num_worlds)]
        self.agents = engine_agents(world.agents)
        grid = Grid(world.rows, world.cols, scenario.overlapping)
        self.store = grid.bind(self.agents).replicate(num_worlds)
        self.grid = grid.replicate(self.store)
        self.store.seed(scenario.seed)
        self.parts = [self.store.shard(b, b + 1) for b in range(num_worlds)]
        self._load(world)

    def _load(self, world):
        store, padding = self.store, self.store.padding
        for number, agent in enumerate(world.agents):
            store.cell[:, number] = padding.ravel(*agent.position)
            store.active[:, number] = agent.active
            store.health[:, number] = agent.health
            if agent.ammo is not None:
                store.ammo[:, number] = agent.ammo
        for part in self.parts:
            for cell, occupants in world.cells.items():
                for number in reversed(occupants):
                    part.enter(number, padding.ravel(*cell))

    def component(self, kind, **parameters):
        """A component of the engine on this case's store."""
        return kind(agents=self.agents, grid=self.grid, **parameters)

    def rows_of(self, widths):
        """Rows for agents with so many entries ({number: entries}), and the array's size."""
        rows, total = np.full((self.store.num_agents, 2), -1, np.int64), 0
        for number, width in widths.items():
            rows[number, 0] = total
            total += width
        rows[list(widths), 1] = total
        return rows, max(1, total * self.num_worlds)

    def entries(self, flat, rows, number, b, shape):
        """What stands in a flat array for one agent of one world, as nested lists."""
        at = rows[number, 0] + b * rows[number, 1]
        return flat[at : at + int(np.prod(shape))].reshape(shape).tolist()

    def engine_state(self, b):
        """Everything a world is, out of the engine's arrays."""
        store, padding = self.store, self.store.padding
        cells = {}
        for r in range(store.rows):
            for c in range(store.cols):
                p = padding.ravel(r, c)
                found = self.parts[b].occupants(p)[::-1]
                cells[r, c] = found
                top = store.traits["encoding"][found[0]] if found else 0
                assert store.top[b, p] == top
                if store.walls.shape[1] > 1:
                    assert store.walls[b, p] == store.traits["blocking"][found].any()
        return {
            "position": [tuple(cell) for cell in store.position[b].tolist()],
            "active": store.active[b].tolist(),
            "health": store.health[b].tolist(),
            "ammo": [
                None if agent.ammo is None else store.ammo[b].item(number)
                for number, agent in enumerate(self.scenario.world.agents)
            ],
            "cells": cells,
            "streams": [
                words[b].tolist()
                for words in (store.streams, store.sight_streams, store.sample_streams)
            ],
        }

    def naive_state(self, b):
        """The same out of the naive world."""
        world = self.naive[b]
        return {
            "position": [agent.position for agent in world.agents],
            "active": [agent.active for agent in world.agents],
            "health": [agent.health for agent in world.agents],
            "ammo": [agent.ammo for agent in world.agents],
            "cells": world.cells,
            "streams": [stream.words for stream in self.naive_streams[b]],
        }


def known(scenario, mapping):
    """A mapping of encodings without those that no agent has, which the engine refuses."""
    kinds = {agent.encoding for agent in scenario.world.agents}
    cut = {key: others & kinds for key, others in mapping.items() if key in kinds}
    return {key: others for key, others in cut.items() if others}
