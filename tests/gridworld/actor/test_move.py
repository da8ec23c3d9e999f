"""Orientation and ammo: agents, state components, and moves that drift."""

import numpy as np
import pytest

from abmarl.gridworld import (
    AmmoAgent,
    AmmoState,
    DriftMoveActor,
    GridObservingAgent,
    HealthState,
    MovingAgent,
    OrientationAgent,
    OrientationState,
    PositionState,
)
from tests.support.grid_worlds import FighterAgent, build, fighter, wall


class SledAgent(MovingAgent, GridObservingAgent, OrientationAgent):
    """Moves and has an orientation."""


class GunnerAgent(FighterAgent, AmmoAgent):
    """Fights with ammunition."""


def sled(name, at=None, looks=None, encoding=1):
    return SledAgent(
        id=name, encoding=encoding, initial_position=at, view_range=1, move_range=1,
        initial_orientation=looks,
    )  # fmt: skip


def drifting(*agents, **parameters):
    """Sleds on 3 x 5 cells, after a reset."""
    states = [PositionState, HealthState, OrientationState]
    sim = build(agents, states=states, actors=[DriftMoveActor], **parameters)
    sim.reset(seed=0)
    return sim


# --- ammo


def test_ammo_starts_anew():
    states = [PositionState, HealthState, AmmoState]
    agents = [fighter("a", kind=GunnerAgent, initial_ammo=3), fighter("b")]
    sim = build(agents, states=states)
    sim.reset(seed=0)
    assert sim.store.ammo.dtype == np.int32
    assert sim.store.ammo.tolist() == [[3, 0]]
    agent = sim.agents["a"]
    agent.ammo -= 1
    assert agent.ammo == 2
    agent.ammo = -4
    assert agent.ammo == 0
    agent.initial_ammo = 5
    sim.reset()
    assert agent.ammo == 5
    vec = sim.vectorize(3, seed=0)
    vec.reset()
    assert vec.store.ammo.tolist() == [[5, 0]] * 3


def test_ammo_outside_of_simulations():
    agent = AmmoAgent(id="a", encoding=1, initial_ammo=3)
    agent.ammo = 2
    agent.ammo -= 5
    assert agent.ammo == 0
    assert agent.configured
    assert not AmmoAgent(id="a", encoding=1).configured
    for value in (0.5, "x", True, None):
        with pytest.raises(TypeError, match="Agent 'a': ammo must be an int"):
            agent.ammo = value
        if value is not None:
            with pytest.raises(TypeError, match="Agent 'a': initial_ammo must be an int"):
                AmmoAgent(id="a", encoding=1, initial_ammo=value)
    with pytest.raises(ValueError, match="initial_ammo must fit 32 bits"):
        AmmoAgent(id="a", encoding=1, initial_ammo=2**31)


def test_ammo_is_needed():
    with pytest.raises(ValueError, match="initial_ammo"):
        build([fighter("a", kind=GunnerAgent)])


def test_negative_initial_ammo_is_none():
    agent = fighter("a", kind=GunnerAgent, initial_ammo=-2)
    sim = build([agent], states=[PositionState, AmmoState])
    sim.reset(seed=0)
    assert sim.agents["a"].initial_ammo == -2
    assert sim.agents["a"].ammo == 0


# --- orientation


def test_orientation_starts_anew():
    sim = drifting(sled("a", looks=2), sled("b"), wall("w"))
    found = set()
    for seed in range(30):
        sim.reset(seed=seed)
        assert sim.agents["a"].orientation == 2
        found.add(sim.agents["b"].orientation)
        sim.agents["a"].orientation = 4
    assert found == {1, 2, 3, 4}
    assert sim.store.orientation.dtype == np.int8
    assert sim.store.orientation[0, 2] == 0
    assert sim.agents["a"].initial_orientation == 2
    assert sim.agents["b"].initial_orientation is None
    sim.agents["a"].initial_orientation = None
    sim.agents["b"].initial_orientation = 3
    sim.reset(seed=0)
    assert sim.agents["b"].orientation == 3
    assert sim.agents["a"].initial_orientation is None


def test_directions():
    agent = OrientationAgent(id="a", encoding=1)
    assert agent.configured
    agent.orientation = 4
    assert agent.orientation == 4
    for value, error in ((0, ValueError), (5, ValueError), (1.0, TypeError), ("up", TypeError)):
        for name in ("orientation", "initial_orientation"):
            with pytest.raises(error, match=f"Agent 'a': {name} must be"):
                setattr(agent, name, value)
        with pytest.raises(error, match="initial_orientation must be"):
            OrientationAgent(id="a", encoding=1, initial_orientation=value)
    with pytest.raises(TypeError, match="orientation must be an int, got None"):
        agent.orientation = None
    assert agent.orientation == 4


# --- drift


def test_an_agent_turns_and_drifts():
    # . . . . .      It starts in the middle and looks to the right.
    # . . > . .
    # . . . . .
    sim = drifting(sled("a", (1, 2), looks=3))
    agent, move = sim.agents["a"], sim.actors["move"]
    story = [
        (0, (1, 3), 3, True),  # drifts
        (4, (0, 3), 4, True),  # turns up
        (0, (0, 3), 4, False),  # the edge
        (1, (0, 2), 1, True),
        (4, (0, 1), 1, True),  # cannot go up, drifts on
        (2, (1, 1), 2, True),
        (0, (2, 1), 2, True),
        (2, (2, 1), 2, False),
    ]
    for action, cell, orientation, moved in story:
        assert move.process_action(agent, {"move": action}) is moved
        assert tuple(agent.position) == cell
        assert agent.orientation == orientation


def test_others_are_in_the_way():
    # a>b w      "b" stands in the way of "a", and "w" in that of "b".
    sim = drifting(sled("a", (0, 0), 3), sled("b", (0, 1), 2), wall("w", at=(1, 1)))
    move = sim.actors["move"]
    assert move.process_action(sim.agents["a"], {"move": 0}) is False
    assert move.process_action(sim.agents["b"], {"move": 0}) is False
    assert move.process_action(sim.agents["b"], {"move": 3}) is True
    assert move.process_action(sim.agents["a"], {"move": 4}) is True
    assert sim.agents["a"].position.tolist() == [0, 1]
    assert sim.agents["a"].orientation == 3


def test_who_does_not_drift():
    sim = drifting(sled("a", (0, 0), 3), fighter("b", at=(1, 1)), rewards={"move_failed": -1})
    move = sim.actors["move"]
    assert move.process_action(sim.agents["b"], {"move": 1}) is None
    assert "move" not in sim.agents["b"].action_space.spaces
    with pytest.raises(ValueError, match=r"'a' on channel 'move' is 5, which is not in Discrete"):
        move.process_action(sim.agents["a"], {"move": 5})
    sim.step({"a": {"move": 1}})  # drifts to the right: no failure
    assert sim.get_reward("a") == 0
    sim.step({"a": {"move": 4}})
    assert sim.agents["a"].position.tolist() == [0, 2]
    for _ in range(3):
        sim.step({"a": {"move": 0}})
    assert sim.agents["a"].position.tolist() == [0, 4]
    assert sim.get_reward("a") == -1
    sim.agents["a"].health = 0
    assert move.process_action(sim.agents["a"], {"move": 1}) is False


def test_without_an_orientation_nobody_drifts():
    """No state component gives one: the first move does."""
    sim = build([sled("a", (1, 2))], actors=[DriftMoveActor])
    sim.reset(seed=0)
    move = sim.actors["move"]
    assert move.process_action(sim.agents["a"], {"move": 0}) is False
    assert move.process_action(sim.agents["a"], {"move": 3}) is True
    assert move.process_action(sim.agents["a"], {"move": 0}) is True
    assert sim.agents["a"].position.tolist() == [1, 4]


def test_array_form_is_object_form():
    def make():
        return drifting(sled("a", (0, 0), 3), sled("b", (0, 1), 2), sled("c", (2, 4), 1))

    one, other = make(), make()
    for actions in ([0, 0, 0], [4, 3, 1], [2, 2, 2]):
        outcome = one.actors["move"].process(np.array([actions]))
        for k, agent in enumerate(other.agents.values()):
            moved = other.actors["move"].process_action(agent, {"move": actions[k]})
            assert bool(outcome[0, k]) is moved
        assert np.array_equal(one.store.position, other.store.position)
        assert np.array_equal(one.store.orientation, other.store.orientation)


def test_masks_show_where_agents_can_turn():
    sim = drifting(sled("a", (0, 0)), sled("b", (0, 1)))
    vec = sim.vectorize(1, seed=0)
    vec.reset()
    masks = vec.action_masks()["sled"]["move"][0].tolist()
    assert masks == [[True, False, True, False, False], [True, False, True, True, False]]
