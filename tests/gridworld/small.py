"""Small simulations on 3 x 5 cells for the tests of the grid world."""

import numpy as np

from abmarl.gridworld import (
    ActiveDone,
    AttackingAgent,
    BinaryAttackActor,
    GridObservingAgent,
    GridWorldAgent,
    HealthState,
    MoveActor,
    MovingAgent,
    PositionCenteredEncodingObserver,
    PositionState,
    SmartGridWorldSimulation,
)

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
