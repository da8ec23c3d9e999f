"""Worlds with targets, mazes and drifting agents: vectorised as single, bit for bit."""

import numpy as np
import pytest

from abmarl.gridworld import (
    ActiveDone,
    AmmoAgent,
    AmmoState,
    BinaryAttackActor,
    DriftMoveActor,
    GridWorldAgent,
    HealthState,
    MazePlacementState,
    OrientationAgent,
    OrientationState,
    SmartGridWorldSimulation,
    TargetAgentInactiveDone,
    TargetAgentOverlapDone,
    TargetBarriersFreePlacementState,
)
from tests.support.equivalence import replay
from tests.support.grid_worlds import FighterAgent, same


class RunnerAgent(FighterAgent, OrientationAgent, AmmoAgent):
    """Drifts, sees and shoots."""


def runner(name, encoding, looks):
    return RunnerAgent(
        id=name, encoding=encoding, move_range=1, view_range=2, attack_range=1,
        attack_strength=0.5, attack_accuracy=0.7, initial_ammo=4, initial_orientation=looks,
    )  # fmt: skip


def chase(placement, done, start=None, barriers=12, **parameters):
    """Runners of two kinds, a target that all of them may enter, and barriers, on 7 x 10 cells."""
    agents = {"target": GridWorldAgent(id="target", encoding=1, initial_position=start)}
    for k in range(barriers):
        agents[f"b{k}"] = GridWorldAgent(id=f"b{k}", encoding=2, blocking=k % 3 == 0)
    for k in range(6):
        agents[f"r{k}"] = runner(f"r{k}", 3 + k % 2, None if k < 3 else k - 2)
    return SmartGridWorldSimulation.build_sim(
        7, 10, agents=agents,
        overlapping={1: {3, 4}},
        states=[OrientationState, AmmoState, HealthState, placement],
        actors=[DriftMoveActor, BinaryAttackActor],
        observers=["PositionCenteredEncodingObserver"],
        dones=[ActiveDone, done],
        rewards={"move_failed": -0.1, "kill": 1.0, "step": -0.01},
        attack_mapping={3: {4}, 4: {1, 3}},
        target_agent="target", barrier_encodings={2}, free_encodings={1, 3, 4},
        target_mapping={"r0": "target", "r1": "r2"},
        **parameters,
    )  # fmt: skip


@pytest.mark.parametrize("placement", [TargetBarriersFreePlacementState, MazePlacementState])
@pytest.mark.parametrize("done", [TargetAgentOverlapDone, TargetAgentInactiveDone])
@pytest.mark.parametrize(
    ("start", "parameters"),
    [
        ((3, 4), {}),
        (None, {"cluster_barriers": True, "scatter_free_agents": True}),
        (None, {"cluster_barriers": True, "randomize_placement_order": True}),
        ((0, 9), {"scatter_free_agents": True, "no_overlap_at_reset": True}),
    ],
)
def test_vectorised_as_single(placement, done, start, parameters):
    ended = replay(
        lambda: chase(placement, done, start, **parameters), 80, 4, seed=3, horizon=20,
        order="random" if start else "fixed", num_threads=2, save_at=33,
    )  # fmt: skip
    assert ended >= 16


def test_variables_of_every_world():
    """Ammo and orientation, which ``replay`` does not look at."""
    vec = chase(MazePlacementState, TargetAgentOverlapDone).vectorize(5, seed=2)
    vec.reset()
    for b in range(5):
        single = chase(MazePlacementState, TargetAgentOverlapDone)
        single.reset(seed=(2, b))
        for name in ("ammo", "orientation"):
            assert np.array_equal(vec.store.array(name)[b], single.store.array(name)[0])
    runners = vec.store.orientation[:, 13:]
    assert np.isin(runners, (1, 2, 3, 4)).all()
    assert (runners[:, 3:] == (1, 2, 3)).all()
    assert not vec.store.orientation[:, :13].any()


@pytest.mark.parametrize("num_threads", [1, 2])
def test_mazes_without_room_name_the_world(num_threads):
    # In some worlds one of the mazes that are tried has room for so many barriers, in others none.
    sim = chase(MazePlacementState, TargetAgentOverlapDone, barriers=29)
    failures = {}
    for b in range(8):
        try:
            sim.reset(seed=(2, b))
        except ValueError as error:
            failures[b] = str(error)
    world = min(failures)
    assert 0 < world < 8
    vec = sim.vectorize(8, seed=2, num_threads=num_threads, horizon=1)
    with pytest.raises(ValueError, match=f"maze of world {world} is left for agent") as caught:
        vec.reset()
    assert str(caught.value) == failures[world].replace("maze", f"maze of world {world}")
    vec.reset(seed=2, worlds=[b for b in range(8) if b not in failures])
    before = vec.state_dict()
    with pytest.raises(ValueError, match=r"No wall of the 7 x 10 maze of world \d is left"):
        for _ in range(50):
            before = vec.state_dict()
            vec.step(vec.sample_actions())
    before["sample_streams"] = vec.state_dict()["sample_streams"]  # drawn before the step
    assert same(before, vec.state_dict())
