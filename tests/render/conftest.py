"""A stand-in for a grid simulation: the few names of it that drawing reads."""

from types import SimpleNamespace

import numpy as np
import pytest

TRAITS = np.dtype([("encoding", np.int64), ("blocking", np.bool_)])


class Store:
    def __init__(self, rows, cols, agents, num_worlds):
        self.rows, self.cols, self.num_worlds = rows, cols, num_worlds
        self.ids = [agent.id for agent in agents]
        self.num_agents = len(agents)
        shape = (num_worlds, len(agents))
        self.position = np.zeros((*shape, 2), dtype=np.int32)
        if agents:
            self.position[:] = [agent.cell for agent in agents]
        self.active = np.ones(shape, dtype=bool)
        self.health = np.ones(shape)
        self.traits = np.zeros(len(agents), dtype=TRAITS)
        self.traits["encoding"] = [agent.encoding for agent in agents]
        self.traits["blocking"] = [agent.blocking for agent in agents]

    def has(self, name):
        return False

    def teams(self):
        return self.traits["encoding"][None]


def make_agent(cell, color="red", shape="o", size=200, encoding=1, blocking=False, group=None):
    acting = {} if blocking else {"action_space": None}
    return SimpleNamespace(
        **acting,
        cell=cell,
        render_color=color,
        render_shape=shape,
        render_size=size,
        encoding=encoding,
        blocking=blocking,
        group=group,
    )


def make_sim(rows, cols, agents, num_worlds=1):
    for number, agent in enumerate(agents):
        agent.id = f"agent{number}"
    by_id = {agent.id: agent for agent in agents}
    groups = {}
    for agent in agents:
        if agent.group:
            groups.setdefault(agent.group, []).append(agent.id)
    return SimpleNamespace(
        store=Store(rows, cols, agents, num_worlds),
        agents=by_id,
        groups={
            name: SimpleNamespace(name=name, agent_ids=tuple(ids)) for name, ids in groups.items()
        },
    )


@pytest.fixture
def agent():
    return make_agent


@pytest.fixture
def sim():
    return make_sim
