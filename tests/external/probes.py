"""Tiny worlds for tests of adapters: one that is quickly learned, two that end on demand."""

from abmarl.gridworld import (
    AbsolutePositionObserver,
    ActiveDone,
    GridObservingAgent,
    MovingAgent,
    PositionState,
    SmartGridWorldSimulation,
    TargetAgentOverlapDone,
)
from abmarl.gridworld.done import TargetEncodingInactiveDone
from tests.gridworld.small import build, fighter, wall

REWARDS = {"kill": 1.0, "killed": -1.0, "step": -0.125}


class Walker(MovingAgent, GridObservingAgent):
    """Moves by 1 and knows where it is."""


def corridor(length=6):
    """One walker that is to reach the right end of a corridor, as soon as it can.

    It starts anywhere and pays 0.1 a step. With episodes of at most 20 steps the best return is
    -0.28 on average, that of random moves about -1.35.
    """
    agents = {
        "walker": Walker(id="walker", encoding=1, view_range=1, move_range=1),
        "door": wall("door", 2, (0, length - 1), blocking=False),
    }
    return SmartGridWorldSimulation.build_sim(
        1,
        length,
        agents=agents,
        overlapping={1: {2}, 2: {1}},
        states=[PositionState],
        actors=["MoveActor"],
        observers=[AbsolutePositionObserver],
        dones=[TargetAgentOverlapDone],
        target_mapping={"walker": "door"},
        rewards={"step": -0.1},
    )


def strike():
    """One learner, and a victim beside it: an attack kills it and ends the world, at any step."""
    agents = [fighter("knight", 1, (1, 1)), wall("victim", 2, (1, 2), blocking=False)]
    return build(
        agents,
        attack_mapping={1: {2}},
        dones=[ActiveDone, TargetEncodingInactiveDone],
        target_mapping={1: {2}},
        rewards=REWARDS,
    )


def skirmish():
    """Three learners that start alive: red may kill blue0, then blue1, which ends the world.

    ``red`` is at (1, 1) between ``blue0`` at (1, 0) and ``blue1`` at (1, 4): an attack at the start
    kills blue0; blue1 has to come nearer first. Blue cannot attack.
    """
    agents = [
        fighter("red", 1, (1, 1)),
        fighter("blue0", 2, (1, 0)),
        fighter("blue1", 2, (1, 4)),
    ]
    return build(
        agents,
        attack_mapping={1: {2}},
        dones=[ActiveDone, "OneTeamRemainingDone"],
        rewards=REWARDS,
    )
