"""Placement around a target, orientation, drifting moves and dones by target agents."""

import pytest

from abmarl.gridworld.state import MazePlacementState, TargetBarriersFreePlacementState
from benchmarks.stage import Stage
from benchmarks.worlds import Play, chase

sizes = pytest.mark.parametrize("worlds", [1, 64, 1024])
ordered = pytest.mark.parametrize("ordered", [False, True], ids=["random", "ordered"])
placements = pytest.mark.parametrize(
    "placement", [TargetBarriersFreePlacementState, MazePlacementState], ids=["open", "maze"]
)


@pytest.fixture
def stage(benchmark, warm_up, request):
    """Make the stage of a chase, in the middle of its episodes."""

    def make(worlds, **kwargs):
        benchmark.group = f"{request.node.originalname.removeprefix('test_')}, {worlds} worlds"
        return Stage(Play(chase(**kwargs), worlds, min(warm_up, 40)))

    return make


@sizes
@ordered
@placements
def test_placement_around_target(benchmark, per_agent, stage, worlds, placement, ordered):
    made = stage(worlds, placement=placement, ordered=ordered)
    per_agent(made.store.active.size)
    benchmark(made.start, 0)


@ordered
@placements
def test_large_placement(benchmark, per_agent, stage, placement, ordered):
    """One world of 64 x 64 cells with 1,000 agents."""
    made = stage(1, side=64, runners=100, barriers=900, placement=placement, ordered=ordered)
    per_agent(made.store.active.size)
    benchmark(made.start, 0)


@sizes
def test_orientation(benchmark, per_agent, stage, worlds):
    made = stage(worlds)
    per_agent(made.store.active.size)
    benchmark(made.start, 1)


@sizes
def test_drift(benchmark, per_agent, stage, worlds):
    made = stage(worlds)
    per_agent(made.play.acting())
    benchmark.pedantic(made.move, setup=made.rewind, rounds=200, warmup_rounds=1)


@sizes
def test_target_done(benchmark, per_agent, stage, worlds):
    made = stage(worlds)
    per_agent(made.play.acting())
    benchmark(made.done)
