"""What people want, as actions of every kind of actor."""

from functools import partial

import numpy as np
import pytest

from abmarl.gridworld.actor import (
    ActorBase,
    BinaryAttackActor,
    CrossMoveActor,
    DriftMoveActor,
    EncodingBasedAttackActor,
    MoveActor,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)
from abmarl.gridworld.wrapper import ExclusiveChannelActionWrapper, RavelActionWrapper
from abmarl.rollout.pilot import WAIT, Order, Pilot
from tests.support.grid_worlds import one_world

WAYS = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1)]
NUMBERS = {(0, 0): 0, (0, -1): 1, (1, 0): 2, (0, 1): 3, (-1, 0): 4}


def started(*actors, **kwargs):
    vec = one_world(actors, **kwargs)
    vec.reset()
    return vec, Pilot(vec, "red0")


def played(vec, pilot, order):
    """Does a step in which only that agent acts, and says where it is and who lives."""
    actions = {
        name: {key: np.zeros_like(value) for key, value in channels.items()}
        for name, channels in vec.sample_actions().items()
    }
    for key, entry in pilot.action(order).items():
        actions[pilot.group][key][0, pilot.place] = entry
    vec.step(actions)
    alive = [name for name, lives in zip(vec.store.ids, vec.store.active[0], strict=True) if lives]
    return tuple(vec.store.position[0, pilot.slot].tolist()), alive


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("actor", [MoveActor, partial(RavelActionWrapper, MoveActor)])
def test_moves_in_eight_ways(actor, way):
    vec, pilot = started(actor)
    assert pilot.moves
    assert pilot.diagonal
    there = (1 + way[0], 1 + way[1])
    expected = (1, 1) if there == (2, 2) else there  # blue1 is there
    assert played(vec, pilot, Order(way))[0] == expected


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("actor", [CrossMoveActor, partial(RavelActionWrapper, CrossMoveActor)])
def test_moves_in_four_ways(actor, way):
    vec, pilot = started(actor)
    assert not pilot.diagonal
    assert pilot.action(Order(way))["move"] == NUMBERS.get(way, 0)
    straight = way if way in NUMBERS else (0, 0)
    assert played(vec, pilot, Order(way))[0] == (1 + straight[0], 1 + straight[1])


def test_drifts():
    vec, pilot = started(DriftMoveActor)
    assert played(vec, pilot, Order((-1, 0)))[0] == (0, 1)
    assert played(vec, pilot, WAIT)[0] == (0, 1)  # it looks up, at the edge


def test_moves_not_farther_than_it_can():
    _, pilot = started(MoveActor, move_range=0)
    assert pilot.action(Order((1, 1)))["move"].tolist() == [0, 0]


@pytest.mark.parametrize(
    "actor",
    [
        BinaryAttackActor,
        EncodingBasedAttackActor,
        partial(RavelActionWrapper, BinaryAttackActor),
        partial(RavelActionWrapper, EncodingBasedAttackActor),
        partial(ExclusiveChannelActionWrapper, EncodingBasedAttackActor),
    ],
)
def test_attacks_whoever_is_there(actor):
    vec, pilot = started(actor)
    assert pilot.uses
    assert not pilot.aims
    assert not pilot.reaches((1, 3))
    assert played(vec, pilot, WAIT)[1] == ["red0", "blue0", "wall", "blue1"]
    assert len(played(vec, pilot, Order(use=True))[1]) == 3


@pytest.mark.parametrize(
    "actor",
    [
        SelectiveAttackActor,
        RestrictedSelectiveAttackActor,
        partial(RavelActionWrapper, RestrictedSelectiveAttackActor),
    ],
)
def test_attacks_a_cell(actor):
    for cell, left in (
        ((1, 3), ["red0", "wall", "blue1"]),
        ((2, 2), ["red0", "blue0", "wall"]),
        ((0, 0), ["red0", "blue0", "wall", "blue1"]),
        ((1, 4), ["red0", "blue0", "wall", "blue1"]),  # out of reach
        (None, ["red0", "blue0", "wall"]),  # the nearest one
    ):
        vec, pilot = started(actor)
        assert pilot.aims
        assert cell is None or pilot.reaches(cell) == (cell != (1, 4))
        assert played(vec, pilot, Order(use=True, cell=cell))[1] == left


def test_attacks_as_often_as_it_can():
    for actor in (BinaryAttackActor, SelectiveAttackActor, RestrictedSelectiveAttackActor):
        _, pilot = started(actor, simultaneous_attacks=3)
        entry = pilot.action(Order(use=True, cell=(2, 2)))["attack"]
        expected = {
            BinaryAttackActor: 3,
            RestrictedSelectiveAttackActor: [3 * 5 + 3 + 1] * 3,
        }.get(actor)
        if expected is None:
            assert entry[3, 3] == 3
            assert entry.sum() == 3
        else:
            assert entry.tolist() == expected


def test_waiting_is_the_null_action():
    vec, pilot = started(SelectiveAttackActor, MoveActor)
    assert all(not entry.any() for entry in pilot.action(WAIT).values())
    assert played(vec, pilot, WAIT)[0] == (1, 1)


class Shout(ActorBase):
    """A channel that is one number."""

    key = "shout"

    def space(self, agent):
        from gymnasium.spaces import Discrete

        return Discrete(3)

    def null(self, agent):
        return 1

    def supports(self, agent):
        return agent.encoding == 1

    def run(self, turns, num_turns, flat, rows_of, fresh):
        return None


def test_any_channel_of_one_number_can_be_used():
    _, pilot = started(Shout, MoveActor)
    assert pilot.uses
    assert pilot.action(WAIT)["shout"] == 1
    assert pilot.action(Order(use=True))["shout"] == 2


class Paint(Shout):
    """A channel of several numbers that nobody knows."""

    def space(self, agent):
        from gymnasium.spaces import MultiDiscrete

        return MultiDiscrete([2, 2])

    def null(self, agent):
        return np.array([0, 1])


def test_agents_that_no_key_can_steer():
    with pytest.raises(ValueError, match=r"agent 'red0' cannot be played with keys.*'shout'"):
        started(Paint)


def test_agents_that_are_not_there():
    vec = one_world()
    with pytest.raises(ValueError, match=r"'green0' does not exist; .* 'red0', 'blue0', 'blue1'"):
        Pilot(vec, "green0")
    with pytest.raises(ValueError, match=r"'wall' does not act"):
        Pilot(vec, "wall")
