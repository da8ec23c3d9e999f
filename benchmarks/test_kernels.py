"""Every kernel, called through the method of its component, on 1 to 1,024 team battles."""

from functools import partial

import numpy as np
import pytest

from abmarl.examples import comms_blocking
from abmarl.gridworld.actor import (
    EncodingBasedAttackActor,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)
from abmarl.gridworld.observer import (
    AbsoluteEncodingObserver,
    AbsolutePositionObserver,
    PositionCenteredEncodingObserver,
    StackedPositionCenteredEncodingObserver,
    TeamObserver,
)
from abmarl.gridworld.wrapper import ExclusiveChannelActionWrapper, RavelActionWrapper
from benchmarks.stage import Recorded, Stage
from benchmarks.worlds import Play, battle

pytestmark = pytest.mark.parametrize("worlds", [1, 64, 1024])

ENCODINGS = (PositionCenteredEncodingObserver,)
COUNTS = (StackedPositionCenteredEncodingObserver,)
WALLS = {"walls": 6, "blocking": True}


def shortened(warm_up, worlds):
    """Return how many steps to play first: a single world should not stand at its reset."""
    return warm_up if worlds > 1 else min(warm_up, 40)


@pytest.fixture
def timed(benchmark, per_agent, warm_up, worlds, request):
    """Measures ``call(stage)`` on a battle.

    ``rewinds``: the call changes the state; ``everybody``: it serves dead agents too.
    """

    def measure(call, rewinds=False, everybody=False, **kwargs):
        benchmark.group = f"{request.node.originalname.removeprefix('test_')}, {worlds} worlds"
        play = Play(battle(**kwargs), worlds, shortened(warm_up, worlds))
        stage = Stage(play)
        per_agent(stage.store.active.size if everybody else play.acting())
        if rewinds:
            benchmark.pedantic(call, args=(stage,), setup=stage.rewind, rounds=200, warmup_rounds=1)
        else:
            benchmark(call, stage)

    return measure


@pytest.mark.parametrize("attack_range", [1, 3])
@pytest.mark.parametrize("walls", [{}, WALLS], ids=["open", "blockers"])
def test_attack(timed, worlds, attack_range, walls):
    timed(Stage.attack, rewinds=True, attack_range=attack_range, **walls)


@pytest.mark.parametrize(
    "attacks",
    [
        EncodingBasedAttackActor,
        SelectiveAttackActor,
        RestrictedSelectiveAttackActor,
        partial(RavelActionWrapper, EncodingBasedAttackActor),
        partial(ExclusiveChannelActionWrapper, EncodingBasedAttackActor),
    ],
    ids=["encodings", "cells", "listed", "ravelled", "exclusive"],
)
def test_aimed_attack(timed, worlds, attacks):
    timed(Stage.attack, rewinds=True, attacks=attacks)


@pytest.mark.parametrize(
    "attacks",
    [EncodingBasedAttackActor, SelectiveAttackActor, RestrictedSelectiveAttackActor],
    ids=["encodings", "cells", "listed"],
)
def test_aimed_attack_masks(timed, worlds, attacks):
    timed(lambda stage: stage.play.vec.action_masks(), attacks=attacks)


def test_move(timed, worlds):
    timed(Stage.move, rewinds=True)


@pytest.mark.parametrize("walls", [{}, WALLS], ids=["open", "blockers"])
@pytest.mark.parametrize(
    "observers",
    [ENCODINGS, COUNTS, (TeamObserver,), (AbsoluteEncodingObserver,), (AbsolutePositionObserver,)],
    ids=["encodings", "stacked", "teams", "grids", "positions"],
)
def test_windows(timed, worlds, observers, walls):
    timed(Stage.observe, observers=observers, **walls)


@pytest.mark.parametrize("corners", [True, False], ids=["start_cells", "random_cells"])
def test_placement(timed, worlds, corners):
    timed(lambda stage: stage.start(0), everybody=True, corners=corners)


def test_health(timed, worlds):
    timed(lambda stage: stage.start(1), everybody=True)


def test_remove(timed, worlds):
    timed(lambda stage: stage.store.remove(np.ones_like(stage.store.active)), rewinds=True)


@pytest.mark.parametrize("what", ["deal", "share"])
def test_messages(benchmark, per_agent, worlds, what):
    benchmark.group = f"messages, {worlds} worlds"
    stage = Stage(Play(comms_blocking(), worlds, 10))
    messages = stage.sim.dones[0].messages
    per_agent(worlds * len(messages.speakers))
    benchmark(messages.dealing(stage.worlds) if what == "deal" else messages.share)


def test_done(timed, worlds):
    timed(Stage.done)


@pytest.mark.parametrize("random", [False, True], ids=["fixed", "random"])
def test_turns(timed, worlds, random):
    timed(lambda stage: stage.take_turns(random))


def test_masks(timed, worlds):
    timed(lambda stage: stage.play.vec.action_masks())


def test_sampling(timed, worlds):
    timed(lambda stage: stage.play.vec.sample_actions(), everybody=True)


def test_close_step(benchmark, per_agent, warm_up, worlds):
    benchmark.group = f"close_step, {worlds} worlds"
    play = Play(battle(), worlds, shortened(warm_up, worlds))
    recorded = Recorded(play)
    per_agent(play.acting())
    benchmark.pedantic(recorded, setup=recorded.rewind, rounds=200, warmup_rounds=1)
