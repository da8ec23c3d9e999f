"""The reference implementations follow the same rules as the engine, or the ratios mean nothing."""

import numpy as np
import pytest

from benchmarks import contests, reference
from benchmarks.contests import Plain
from benchmarks.stage import Stage
from benchmarks.worlds import TEAMS, Play, battle


def staged(**kwargs):
    """Return some battles after some steps."""
    stage = Stage(Play(battle(**kwargs), 32, 30))
    return stage, Plain(stage)


@pytest.mark.parametrize(
    ("function", "layers", "kwargs"),
    [
        (reference.windows, (), {}),
        (reference.masked_windows, (), {"walls": 6, "blocking": True}),
        (reference.stacked_windows, (4,), {"observers": contests.COUNTS}),
        (reference.windows, (), {"observers": contests.TEAMS}),
    ],
    ids=["encodings", "blockers", "stacked", "teams"],
)
def test_windows(function, layers, kwargs):
    contest = contests.windows(function, *layers, worlds=32, **kwargs)
    contest.once()
    vec = contest.stage.play.vec
    active = vec.store.active
    checked = 0
    for name, channels in vec.observations().items():
        (found,) = channels.values()
        slots = vec.groups[name].slots
        here = active[:, slots]
        assert (found[here] == contest.out[:, slots][here]).all()
        checked += here.sum()
    assert checked > 32


def test_move():
    stage, plain = staged()
    moved = stage.move()
    plain.move()
    assert (moved == plain.moved).all()
    assert {-1, 0, 1} == set(moved.ravel().tolist())
    active = stage.store.active
    assert (stage.store.position[active] == plain.position[active]).all()


def test_attack():
    """With one attacker in a world, what happens does not depend on who is chosen."""
    stage, plain = staged()
    flat, rows_of, *_ = stage.actions.buffers["attack"]
    flat[:] = 0
    plain.actions[:, :, 0] = 0
    for b in range(32):
        (slots,) = np.nonzero(plain.active[b])
        flat[rows_of[slots[0], 0] + b * rows_of[slots[0], 1]] = 1
        plain.actions[b, slots[0], 0] = 1
    kills = stage.attack().kills
    plain.attack()
    assert (kills == plain.kills).all()
    assert 0 < kills.sum() < 32


def test_done():
    stage, plain = staged()
    # One world with a single team.
    last = stage.store.traits["encoding"] == TEAMS[0]
    stage.store.active[3] = plain.active[3] = last
    finished, over = np.zeros(plain.active.shape, bool), np.zeros(32, bool)
    reference.done(plain.active, plain.encoding, finished, over)
    done, all_done = stage.done()
    assert (done == finished).all()
    assert (all_done == over).all()
    assert over[3]


def test_masks():
    stage, plain = staged()
    moves = np.zeros((*plain.active.shape, 3, 3), bool)
    attacks = np.zeros((*plain.active.shape, 2), bool)
    known = plain.position, plain.active, plain.encoding
    reference.move_masks(*known, plain.rows, plain.cols, moves)
    reference.attack_masks(*known, plain.attack_range, attacks)
    vec = stage.play.vec
    for name, masks in vec.action_masks().items():
        slots = vec.groups[name].slots
        assert (masks["move"] == moves[:, slots]).all()
        assert (masks["attack"] == attacks[:, slots]).all()
