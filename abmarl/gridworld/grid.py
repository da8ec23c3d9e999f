"""The grid: cells, and who may share one."""

import difflib
import operator
from typing import Any

import numpy as np

from abmarl.gridworld.agent import GridWorldAgent
from abmarl.gridworld.groups import Group, find_groups
from abmarl.gridworld.store import Store


class Grid:
    """Rows and columns of cells that agents stand on.

    A cell is available to an agent when it is empty, or when every agent in it may overlap with
    this one. The occupancy is kept in the store; the methods here are for single worlds.

    Args:
        rows, cols: Size, ints >= 1.
        overlapping: ``{encoding: encoding or set of encodings}`` that may share a cell; made
            symmetric. An encoding that is not named overlaps with nothing, its own kind included.
        store: The store to work on; made from the agents when there is none.

    Raises:
        TypeError, ValueError: A size or an encoding is not a suitable int.
    """

    def __init__(
        self,
        rows: int,
        cols: int,
        overlapping: dict | None = None,
        store: Store | None = None,
        **kwargs: Any,
    ) -> None:
        for name, value in (("rows", rows), ("cols", cols)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise TypeError(f"{name} must be an int, got {value!r}.")
            if value < 1:
                raise ValueError(f"A grid needs at least 1 row and 1 column, got {name}={value}.")
        self._rows, self._cols = int(rows), int(cols)
        self._overlapping = _symmetric(parse_encodings("overlapping", overlapping or {}))
        self._store = store
        self._agents: list[GridWorldAgent] = []
        self._groups: dict[str, Group] | None = None
        # The observers of the simulation by channel: what they show is a part of its state.
        self.observers: dict[Any, Any] = {}
        # On a replica the agents are those of the original: ready, and not to be changed.
        self.replica = False

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._rows

    @property
    def cols(self) -> int:
        """Number of columns."""
        return self._cols

    @property
    def overlapping(self) -> dict:
        """``{encoding: set of encodings}`` that may share a cell, symmetric."""
        return self._overlapping

    @property
    def store(self) -> Store | None:
        """The arrays behind the grid; None before the first agents came."""
        return self._store

    def bind(self, agents: dict) -> Store:
        """Put the agents into the store of this grid and return it.

        Raises:
            ValueError: An agent is in another simulation already, or the grid has other agents.
        """
        if self._store is None:
            for agent in agents.values():
                if not isinstance(agent, GridWorldAgent):
                    raise TypeError(f"Agent {agent.id!r} is no GridWorldAgent, it has no place.")
                if agent._store is not None:
                    raise ValueError(
                        f"Agent {agent.id!r} is in another simulation; make new agents, or use "
                        "build_sim, which copies them."
                    )
            for agent in agents.values():
                agent.check_ignored()
                agent.remember_given()
            self._store = Store(self.rows, self.cols, self.overlapping, agents)
            self._agents = list(agents.values())
        elif not self._store.index.keys() >= agents.keys():
            raise ValueError(
                "This grid was made for other agents; build components with the same agents."
            )
        return self._store

    @property
    def agents(self) -> list:
        """The agents of the store, in their order."""
        return self._agents

    @property
    def groups(self) -> dict:
        """The agents sorted into groups of equal ones, by name."""
        if self._groups is None:
            agents = {agent.id: agent for agent in self._agents}
            self._groups = find_groups(agents, self.bind(agents).traits)
        return self._groups

    def replicate(self, store: Store) -> "Grid":
        """Return the same grid on another store of the same agents."""
        twin = Grid(self.rows, self.cols, store=store)
        twin._overlapping = self._overlapping
        twin._agents = self._agents
        twin._groups = self.groups
        twin.replica = True
        return twin

    def reset(self) -> None:
        """Empty every cell."""
        if self._store is not None:
            self._store.empty_grid()

    def query(self, agent: Any, cell: Any) -> bool:
        """Tell whether a cell (row, column) is available to an agent."""
        return self._adopt(agent).may_enter(agent._slot, self._number(cell))

    def place(self, agent: Any, cell: Any) -> bool:
        """Put an agent on a cell; False and no change when it is not available."""
        store, p = self._adopt(agent), self._number(cell)
        here = store.on_grid(agent._slot)
        if here and store.cell[0, agent._slot] == p:
            return True
        if not store.may_enter(agent._slot, p):
            return False
        if here:
            store.leave(agent._slot)
        store.enter(agent._slot, p)
        return True

    def remove(self, agent: Any, cell: Any) -> None:
        """Take an agent off a cell.

        Raises:
            ValueError: The agent is not there.
        """
        if agent.id not in self[cell] or self._store is None:
            raise ValueError(f"Agent {agent.id!r} is not on cell {tuple(cell)}.")
        self._store.leave(agent._slot)

    def __getitem__(self, cell: Any) -> dict[str, GridWorldAgent]:
        """Return the agents on ``grid[row, col]``, by id, in the order in which they came."""
        p = self._number(cell)
        if self._store is None:
            return {}
        found = (self._agents[j] for j in self._store.occupants(p))
        return {agent.id: agent for agent in found}

    def _number(self, cell: Any) -> int:
        try:
            row, col = (operator.index(v) for v in cell)
        except (TypeError, ValueError):
            raise TypeError(
                f"A cell is two ints, row and column, like (0, 3), got {cell!r}."
            ) from None
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            raise ValueError(f"({row}, {col}) is not on the {self.rows} x {self.cols} grid.")
        return 0 if self._store is None else self._store.padding.ravel(row, col)

    def _adopt(self, agent: GridWorldAgent) -> Store:
        """Return the store; an agent of no simulation joins a grid that is used by itself."""
        if agent._store is not None:
            if agent._store is not self._store:
                raise ValueError(f"Agent {agent.id!r} is on another grid.")
            return self._store
        agents = {known.id: known for known in (*self._agents, agent)}
        if len(agents) <= len(self._agents):
            raise ValueError(f"Another agent with the id {agent.id!r} is on this grid.")
        if agent.encoding is None:
            raise ValueError(f"Agent {agent.id!r} has no encoding; give it one, an int such as 1.")
        old = self._store
        placed = [one for one in self._agents if old is not None and old.on_grid(one._slot)]
        # The newest of a cell is entered last.
        placed.sort(key=lambda known: list(self[known.position]).index(known.id))
        for known in self._agents:
            known.release()
        self._store, self._agents, self._groups = None, [], None
        store = self.bind(agents)
        for known in placed:
            store.enter(known._slot, store.cell.item(known._slot))
        return store

    def __repr__(self) -> str:
        return f"Grid({self.rows}, {self.cols}, overlapping={self.overlapping})"


def parse_encodings(name: str, mapping: dict, known: Any = None) -> dict:
    """Return ``{encoding: encoding or collection}`` as ``{encoding: set}``.

    Args:
        name: What the mapping is called in messages.
        known: The encodings that agents have, where others make no sense.

    Raises:
        TypeError: It is no such dict.
        ValueError: No agent has one of the encodings.
    """
    if not isinstance(mapping, dict):
        raise TypeError(f"{name} must be a dict of encodings, got {mapping!r}.")
    found = {}
    for encoding, others in mapping.items():
        others = others if isinstance(others, set | frozenset | list | tuple) else {others}
        for value in (encoding, *others):
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise TypeError(f"{name} must map encodings, which are ints, got {value!r}.")
        found[int(encoding)] = {int(value) for value in others}
    for encoding in set().union(found, *found.values()):
        if known is not None and encoding not in known:
            raise ValueError(
                f"{name} names encoding {encoding}, which no agent has; "
                f"the agents' encodings are {list(known)}."
            )
    return found


def parse_agent(name: str, agent: Any, agents: dict) -> str:
    """Return the id of an agent that is given by its id or as an object.

    Args:
        name: What it is called in messages.
        agents: The agents of the simulation, by id.

    Raises:
        TypeError: It is neither.
        ValueError: There is no such agent.
    """
    agent_id = agent.id if isinstance(agent, GridWorldAgent) else agent
    if not isinstance(agent_id, str):
        raise TypeError(f"{name} takes ids of agents or agents, got {agent!r}.")
    if agent_id not in agents:
        near = difflib.get_close_matches(agent_id, agents, 1)
        hint = f"did you mean {near[0]!r}?" if near else "use one of the simulation's."
        raise ValueError(f"{name} names agent {agent_id!r}, which does not exist; {hint}")
    return agent_id


def _symmetric(mapping: dict) -> dict[int, set]:
    both = {encoding: set(others) for encoding, others in mapping.items()}
    for encoding, others in mapping.items():
        for other in others:
            both.setdefault(other, set()).add(encoding)
    return both
