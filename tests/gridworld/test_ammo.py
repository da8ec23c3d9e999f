"""Ammo: what attacks cost, and how it is shown."""

import numpy as np
import pytest
from gymnasium.spaces import Discrete

from abmarl.gridworld import (
    AmmoAgent,
    AmmoObserver,
    BinaryAttackActor,
    EncodingBasedAttackActor,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)
from tests.support.grid_worlds import FighterAgent, build, fighter


class ArcherAgent(FighterAgent, AmmoAgent):
    """A fighter whose attacks need ammo."""


def range_of_targets(actor, ammo=2, **parameters):
    """An archer between three targets."""
    agents = [
        fighter("a", 1, (1, 1), kind=ArcherAgent, initial_ammo=ammo, simultaneous_attacks=3),
        *(fighter(f"b{k}", 2, (0, k)) for k in range(3)),
    ]
    sim = build(
        agents, actors=[actor], observers=[AmmoObserver], attack_mapping={1: 2}, **parameters
    )
    sim.reset(seed=0)
    sim.agents["a"].ammo = ammo
    return sim


ACTIONS = {
    BinaryAttackActor: 3,
    EncodingBasedAttackActor: {2: 3},
    SelectiveAttackActor: np.ones((3, 3), int),
    RestrictedSelectiveAttackActor: [1, 2, 3],
}


@pytest.mark.parametrize("actor", ACTIONS)
def test_every_hit_takes_one(actor):
    sim = range_of_targets(actor)
    archer = sim.agents["a"]
    attempted, hit = sim.actors["attack"].process_action(archer, {"attack": ACTIONS[actor]})
    assert attempted
    assert len(hit) == 2
    assert archer.ammo == 0
    assert sum(agent.active for agent in sim.agents.values()) == 2
    assert sim.actors["attack"].process_action(archer, {"attack": ACTIONS[actor]}) == (True, [])
    assert archer.ammo == 0


@pytest.mark.parametrize("actor", ACTIONS)
def test_who_is_hit_is_random(actor):
    found = set()
    for seed in range(40):
        sim = range_of_targets(actor, ammo=1)
        sim.reset(seed=seed)
        sim.agents["a"].ammo = 1
        hit = sim.actors["attack"].process_action(sim.agents["a"], {"attack": ACTIONS[actor]})[1]
        found |= {agent.id for agent in hit}
    assert found == {"b0", "b1", "b2"}


def test_misses_are_free():
    sim = range_of_targets(BinaryAttackActor)
    for name in ("b0", "b1", "b2"):
        sim.agents[name].health = 0
        sim.grid.remove(sim.agents[name], sim.agents[name].position)
    assert sim.actors["attack"].process_action(sim.agents["a"], {"attack": 3}) == (True, [])
    assert sim.agents["a"].ammo == 2


def test_without_ammo_no_attack_has_a_target():
    vec = range_of_targets(BinaryAttackActor).vectorize(2, seed=0)
    vec.reset()
    vec.store.ammo[:, 0] = [2, 0]
    assert vec.action_masks()["archer"]["attack"][:, 0].tolist() == [[1] * 4, [1, 0, 0, 0]]


def test_the_count():
    agent = ArcherAgent(id="a", encoding=1, initial_ammo=7, view_range=1, move_range=1,
                        attack_range=1, attack_strength=1, attack_accuracy=1)  # fmt: skip
    agent.ammo = -3
    assert agent.ammo == 0
    agent.ammo = 3
    assert agent.ammo == 3
    for wrong in (1.5, "1", None, True):
        with pytest.raises(TypeError, match="ammo must be an int"):
            agent.ammo = wrong
    assert agent.ammo == 3
    sim = build([agent], observers=[AmmoObserver])
    assert sim.store.ammo.dtype == np.int32
    sim.agents["a"].ammo = -3
    assert sim.agents["a"].ammo == 0


@pytest.mark.parametrize("ammo", [1.5, "3", True])
def test_initial_ammo_is_an_int(ammo):
    with pytest.raises(TypeError, match="initial_ammo must be an int"):
        AmmoAgent(id="a", encoding=1, initial_ammo=ammo)


def test_an_agent_without_initial_ammo_is_not_configured():
    assert not AmmoAgent(id="a", encoding=1).configured
    assert AmmoAgent(id="a", encoding=1, initial_ammo=0).configured


def test_the_observer():
    sim = range_of_targets(BinaryAttackActor)
    archer = sim.agents["a"]
    assert archer.observation_space["ammo"] == Discrete(3)
    assert archer.null_observation == {"ammo": 0}
    assert sim.get_obs("a") == {"ammo": 2}
    assert sim.get_obs("b0") == {}
    archer.ammo = 9
    assert sim.get_obs("a") == {"ammo": 2}  # within its space
    archer.ammo = 1
    assert sim.get_obs("a") == {"ammo": 1}
