"""Small grid worlds to test with: most of 3 x 5 cells, and some that are quickly learned."""

import numpy as np

from abmarl.gridworld import (
    AbsolutePositionObserver,
    ActiveDone,
    AttackingAgent,
    BinaryAttackActor,
    GridObservingAgent,
    GridWorldAgent,
    HealthState,
    MoveActor,
    MovingAgent,
    OneTeamRemainingDone,
    OrientationAgent,
    OrientationState,
    PositionCenteredEncodingObserver,
    PositionState,
    SmartGridWorldSimulation,
    TargetAgentOverlapDone,
)
from abmarl.gridworld.done import TargetEncodingInactiveDone

WINDOW = "position_centered_encoding"


class FighterAgent(MovingAgent, GridObservingAgent, AttackingAgent):
    """Does everything."""


def fighter(name, encoding=1, at=None, **parameters):
    """An agent that sees, moves and attacks by 1, with full health; ``at``: where it starts."""
    given = {
        "view_range": 1,
        "move_range": 1,
        "attack_range": 1,
        "attack_strength": 1.0,
        "attack_accuracy": 1.0,
        "initial_health": 1.0,
    }
    kind = parameters.pop("kind", FighterAgent)
    given.update(parameters)
    return kind(id=name, encoding=encoding, initial_position=at, **given)


def wall(name, encoding=9, at=None, **parameters):
    """Something that stands there and blocks the view."""
    given = {"blocking": True, "initial_health": 1.0, **parameters}
    return GridWorldAgent(id=name, encoding=encoding, initial_position=at, **given)


def build(agents, rows=3, cols=5, kind=SmartGridWorldSimulation, **parameters):
    """A simulation of these agents with the usual components."""
    given = {
        "states": [PositionState, HealthState],
        "actors": [BinaryAttackActor, MoveActor],
        "observers": [PositionCenteredEncodingObserver],
        "dones": [ActiveDone],
    }
    given.update(parameters)
    if BinaryAttackActor in given["actors"]:
        given.setdefault("attack_mapping", {})
    return kind.build_sim(rows, cols, agents={agent.id: agent for agent in agents}, **given)


def battle(**parameters):
    """Two against two that meet at once: red in the left column, blue in the middle one."""
    agents = [
        fighter("red0", 1, (0, 0)),
        fighter("red1", 1, (2, 0)),
        fighter("blue0", 2, (0, 1)),
        fighter("blue1", 2, (1, 2)),
    ]
    return build(agents, attack_mapping={1: {2}, 2: {1}}, **parameters)


class OrientedFighter(FighterAgent, OrientationAgent):
    """A fighter that also has an orientation."""


def small_battle(actors=(BinaryAttackActor, MoveActor), **parameters):
    """A red one against two blue ones and a wall, with any actors; all ranges are 2.

    Args:
        actors: the actors; without an attack among them there are no hostilities.
        parameters: of the red one.
    """
    #     . . . . .
    #     . r . b #
    #     . . b . .
    far = {"move_range": 2, "view_range": 2, "attack_range": 2, "initial_orientation": 1}

    def team(color, number, encoding, at, **more):
        return fighter(
            f"{color}{number}", encoding, at, kind=OrientedFighter, group=color,
            render_color=color, **(far | more),
        )  # fmt: skip

    agents = [
        team("red", 0, 1, (1, 1), **parameters),
        team("blue", 0, 2, (1, 3)),
        wall("wall", 3, (1, 4), render_shape="s"),
        team("blue", 1, 2, (2, 2)),
    ]
    fight = any("Attack" in repr(actor) for actor in actors)
    hostile = {"attack_mapping": {1: {2}, 2: {1}}, "ignore_encodings": {3}} if fight else {}
    rewards = {"kill": 1.0, "killed": -1.0, "attack_missed": -0.1} if fight else {}
    return build(
        agents,
        states=[PositionState, HealthState, OrientationState],
        actors=list(actors),
        dones=[OneTeamRemainingDone if fight else ActiveDone],
        rewards={"step": -0.01, **rewards},
        **hostile,
    )


def one_world(actors=(BinaryAttackActor, MoveActor), seed=0, horizon=None, **parameters):
    """One world of ``small_battle`` that people can play."""
    sim = small_battle(actors, **parameters)
    return sim.vectorize(num_envs=1, seed=seed, horizon=horizon, autoreset=False, copy=True)


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
        dones=[ActiveDone, OneTeamRemainingDone],
        rewards=REWARDS,
    )


def act(attack=0, move=(0, 0)):
    """The action of one agent."""
    return {"attack": attack, "move": np.array(move)}


def same(one, other):
    """Whether two states (dicts of arrays) are equal to the last bit, NaNs included.

    What observers remember of their rows does not count: after a state was loaded they write null
    rows once more.
    """
    assert one.keys() == other.keys()
    return all(
        one[name].dtype == other[name].dtype and one[name].tobytes() == other[name].tobytes()
        for name in one
        if not name.startswith("shown:")
    )
