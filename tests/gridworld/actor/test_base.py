"""Actors in the object form, and their array form against it."""

import numpy as np
import pytest

from abmarl.gridworld import (
    AttackOutcome,
    BinaryAttackActor,
    CrossMoveActor,
    Grid,
    MoveActor,
    PositionState,
    SmartGridWorldSimulation,
)
from tests.support.grid_worlds import act, battle, build, fighter, wall


def test_moves():
    sim = battle()
    sim.reset(seed=0)
    move = sim.actors["move"]
    red, blue = sim.agents["red0"], sim.agents["blue0"]
    assert move.process_action(red, {"move": np.array([1, 0])}) is True
    assert red.position.tolist() == [1, 0]
    assert move.process_action(red, {"move": np.array([-1, 1])}) is False  # blue0 is there
    assert move.process_action(red, {"move": np.array([0, -1])}) is False  # out of bounds
    assert move.process_action(red, {"move": [0, 0]}) is True
    assert red.position.tolist() == [1, 0]
    assert move.process_action(red, {"attack": 1}) is None
    action = {"move": np.array([0, 1], np.int8)}
    move.process_action(blue, action)
    assert action["move"].tolist() == [0, 1]


def test_the_move_of_an_inactive_agent_fails():
    """It does not repeat the result of its last move."""
    sim = battle()
    sim.reset(seed=0)
    red = sim.agents["red0"]
    assert sim.actors["move"].process_action(red, {"move": np.array([1, 0])})
    red.health = 0
    assert sim.actors["move"].process_action(red, {"move": np.array([1, 0])}) is False
    assert red.position.tolist() == [1, 0]


def test_agents_without_the_ability_are_left_alone():
    sim = build([fighter("a", at=(0, 0)), wall("w", at=(0, 1))])
    sim.reset(seed=0)
    assert sim.actors["move"].process_action(sim.agents["w"], {"move": np.zeros(2, int)}) is None
    assert sim.actors["attack"].process_action(sim.agents["w"], {"attack": 1}) == (False, [])


def test_cross_moves():
    sim = build([fighter("a", at=(1, 2))], actors=[CrossMoveActor])
    sim.reset(seed=0)
    agent, move = sim.agents["a"], sim.actors["move"]
    cells = []
    for action in (0, 1, 2, 3, 4):
        assert move.process_action(agent, {"move": action}) is True
        cells.append(tuple(agent.position))
    assert cells == [(1, 2), (1, 1), (2, 1), (2, 2), (1, 2)]
    with pytest.raises(ValueError, match=r"'a' on channel 'move' is 5, which is not in Discrete"):
        move.process_action(agent, {"move": 5})


def test_attacks():
    sim = battle()
    sim.reset(seed=0)
    attack = sim.actors["attack"]
    red, far, blue = (sim.agents[name] for name in ("red0", "red1", "blue0"))
    assert attack.process_action(red, {"attack": 0}) == (False, [])
    assert attack.process_action(far, {"attack": 1}) == (True, [])
    attempted, hit = attack.process_action(red, {"attack": 1})
    assert attempted is True
    assert hit == [blue]
    assert not blue.active
    assert sim.grid[0, 1] == {}
    assert attack.process_action(blue, {"attack": 1}) == (False, [])


@pytest.mark.parametrize(("stacked", "health"), [(False, 0.75), (True, 0.25)])
def test_stacked_attacks(stacked, health):
    agents = [
        fighter("a", 1, (0, 0), simultaneous_attacks=3, attack_strength=0.25),
        fighter("b", 2, (0, 1)),
    ]
    sim = build(agents, attack_mapping={1: 2}, stacked_attacks=stacked)
    sim.reset(seed=0)
    attempted, hit = sim.actors["attack"].process_action(sim.agents["a"], {"attack": 3})
    assert attempted
    assert len(hit) == (3 if stacked else 1)
    assert sim.agents["b"].health == health


def test_a_blocker_protects():
    # a w b      range 2; w blocks
    agents = [
        fighter("a", 1, (0, 0), attack_range=2),
        wall("w", 9, (0, 1)),
        fighter("b", 2, (0, 2)),
    ]
    sim = build(agents, attack_mapping={1: {2}})
    sim.reset(seed=0)
    attack = sim.actors["attack"]
    assert attack.process_action(sim.agents["a"], {"attack": 1}) == (True, [])
    sim.grid.remove(sim.agents["w"], (0, 1))
    assert attack.process_action(sim.agents["a"], {"attack": 1}) == (True, [sim.agents["b"]])


def test_an_inactive_blocker_protects_nobody():
    # Blocking agents hide cells only while they are active, and a user may change that.
    agents = [
        fighter("a", 1, (0, 0), attack_range=2),
        wall("w", 9, (0, 1)),
        fighter("b", 2, (0, 2)),
    ]
    sim = build(agents, attack_mapping={1: {2}})
    sim.reset(seed=0)
    sim.agents["w"].health = 0
    hit = sim.actors["attack"].process_action(sim.agents["a"], {"attack": 1})[1]
    assert hit == [sim.agents["b"]]


def test_array_form_is_object_form():
    one, other = battle(stacked_attacks=True), battle(stacked_attacks=True)
    one.reset(seed=4)
    other.reset(seed=4)
    moves = np.array([[[1, 0], [0, 1], [0, 1], [-1, -1]]])
    outcome = one.actors["attack"].process(np.array([[1, 1, 0, 1]]))
    assert isinstance(outcome, AttackOutcome)
    moved = one.actors["move"].process({"move": moves})
    for k, name in enumerate(other.agents):
        attempted, hit = other.actors["attack"].process_action(
            other.agents[name], act([1, 1, 0, 1][k])
        )
        assert outcome.attempted[0, k] == attempted
        assert outcome.hits[0, k] == len(hit)
    for k, name in enumerate(other.agents):
        if other.agents[name].active:
            found = other.actors["move"].process_action(other.agents[name], act(0, moves[0, k]))
            assert moved[0, k] == found
    assert np.array_equal(one.store.position, other.store.position)
    assert np.array_equal(one.store.health, other.store.health)


@pytest.mark.parametrize(
    ("array", "error", "message"),
    [
        (np.zeros((1, 3), int), ValueError, r"'attack' must have shape \(1, 4\), got \(1, 3\)"),
        (np.full((1, 4), 2), ValueError, "'attack' of 'red0' leave Discrete"),
        (np.zeros((1, 4)), TypeError, "'attack' must be integers, got float64"),
    ],
)
def test_arrays_of_the_wrong_kind(array, error, message):
    sim = battle()
    sim.reset(seed=0)
    with pytest.raises(error, match=message):
        sim.actors["attack"].process(array)


@pytest.mark.parametrize(
    ("kind", "parameters", "error", "message"),
    [
        (BinaryAttackActor, {"attack_mapping": {1: 7}}, ValueError, "names encoding 7, which no"),
        (BinaryAttackActor, {"attack_mapping": [1]}, TypeError, "attack_mapping must be a dict"),
        (BinaryAttackActor, {"stacked_attacks": 1}, TypeError, "stacked_attacks must be True or"),
        (MoveActor, {"grid": None}, TypeError, r"MoveActor needs grid=Grid\(rows, cols\)"),
        (MoveActor, {"agents": None}, TypeError, "MoveActor needs agents="),
    ],
)
def test_parameters(kind, parameters, error, message):
    agents = {"a": fighter("a")}
    with pytest.raises(error, match=message):
        kind(**{"agents": agents, "grid": Grid(3, 5), **parameters})


def test_too_many_attacks_to_count():
    with pytest.raises(ValueError, match="simultaneous_attacks can be 32767 at most, got 32768"):
        build([fighter("a", simultaneous_attacks=32768)])


def test_the_array_form_needs_its_channel():
    sim = battle()
    sim.reset(seed=0)
    message = r"MoveActor processes channel 'move', which is not in the actions; they have \[\]"
    with pytest.raises(ValueError, match=message):
        sim.actors["move"].process({})


class HiddenActorSim(SmartGridWorldSimulation):
    """Keeps an actor where nobody finds it."""

    def __init__(self, **kwargs):
        super().__init__(states=[PositionState], actors=[BinaryAttackActor], **kwargs)
        self.others = [MoveActor(**kwargs)]

    def step_batch(self, actions):
        self.others[0].process(actions)


def test_an_actor_that_is_in_a_list():
    sim = HiddenActorSim.build_sim(3, 5, agents={"a": fighter("a")}, attack_mapping={})
    sim.reset(seed=0)
    with pytest.raises(ValueError, match="MoveActor processes channel 'move', which is none of"):
        sim.step({"a": {"attack": 0}})


def test_labels_of_empty_cells_are_in_the_table_of_negative_encodings():
    agents = [fighter("a", -5), fighter("b", -10)]
    sim = build(agents, attack_mapping={-5: {-10}})
    table, lowest = sim.store.by_label(sim.store.relation({-5: {-10}}))
    assert lowest == -10
    assert table.shape == (2, 11)  # labels -10 to 0
    assert table.sum() == table[1, 0] == 1
