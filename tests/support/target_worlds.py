"""Small simulations with a target, barriers and free agents."""

import pytest

from abmarl.gridworld import GridWorldAgent, SmartGridWorldSimulation
from tests.support.grid_worlds import same

TARGET, BARRIER, FREE = 1, 2, 3


def build(kind, barriers, free, rows=5, cols=7, starts=None, states=(), **parameters):
    """A target, so many barriers and so many free agents; ``starts``: initial positions by id."""
    starts = {} if starts is None else starts
    ids = ["target", *(f"b{k}" for k in range(barriers)), *(f"f{k}" for k in range(free))]
    encodings = {"t": TARGET, "b": BARRIER, "f": FREE}
    agents = {
        name: GridWorldAgent(
            id=name, encoding=encodings[name[0]], initial_position=starts.get(name)
        )
        for name in ids
    }
    given = {
        "target_agent": "target",
        "barrier_encodings": BARRIER if barriers else None,
        "free_encodings": {FREE} if free else None,
        **parameters,
    }
    return SmartGridWorldSimulation.build_sim(
        rows, cols, agents=agents, states=[kind, *states], **given
    )


def cells(sim, letter):
    """The cells of the agents whose ids start with a letter, in the order of the agents."""
    return [tuple(agent.position) for name, agent in sim.agents.items() if name[0] == letter]


def distances(sim, letter):
    row, col = sim.agents["target"].position
    return [(r - row) ** 2 + (c - col) ** 2 for r, c in cells(sim, letter)]


def refuses_to_start(sim, message):
    before = sim.state_dict()
    with pytest.raises(ValueError, match=message) as caught:
        sim.reset(seed=0)
    assert len(str(caught.value)) < 300
    assert same(before, sim.state_dict())
