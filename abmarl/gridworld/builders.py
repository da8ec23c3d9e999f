"""Building simulations: from a size, from a grid with agents on it, from maps."""

import itertools

from abmarl.gridworld.agent import GridWorldAgent
from abmarl.gridworld.grid import Grid
from abmarl.gridworld.map import Map, Placed
from abmarl.gridworld.map_text import write_map


class Builders:
    """The ways to build a grid-world simulation, as class methods."""

    # What stands for the agents that were made from a map, see `write_map`.
    _written = {}  # noqa: RUF012 - replaced as a whole, never changed

    @classmethod
    def build_sim(cls, rows, cols, agents=None, overlapping=None, **kwargs):
        """Builds a simulation on a fresh grid.

        Args:
            rows, cols: Size of the grid.
            agents: ``{id: agent}``; agents that are in another simulation are copied.
            overlapping: ``{encoding: encodings}`` that may share a cell, of agents that there are.
            kwargs: Parameters of the simulation and its components.

        Returns:
            The simulation, finalized.
        """
        grid = Grid(rows, cols, overlapping)
        if agents is not None:
            kwargs["agents"] = _own_agents(agents)
        try:
            sim = cls(grid=grid, **kwargs)
            if not sim._finalized:
                sim.finalize()
        except BaseException:
            for agent in grid.agents:
                agent.release()
            raise
        return sim

    @classmethod
    def build_sim_from_grid(cls, grid, extra_agents=None, **kwargs):
        """Builds a simulation of the agents on a grid, each with its cell as initial position.

        Grid and agents stay as they are: the simulation has copies of the agents, in the order of
        their cells, row by row.

        Args:
            grid: A ``Grid`` with agents on it; that of another simulation will do.
            extra_agents: ``{id: agent}`` of further agents; of two with one id that of the grid
                is taken.
            kwargs: As for ``build_sim``; overlapping is the grid's unless it is given.

        Returns:
            The simulation, finalized.

        Raises:
            TypeError, ValueError: A parameter is wrong, or agents in a cell may not overlap.
        """
        if not isinstance(grid, Grid):
            raise TypeError(f"build_sim_from_grid takes a Grid with agents, got {grid!r:.60}.")
        cells = {
            tuple(agent.position.tolist())
            for agent in grid.agents
            if grid.store.on_grid(agent._slot)
        }
        placed = [
            Placed(cell, [one.unbound_copy() for one in grid[cell].values()], f"cell {cell}")
            for cell in sorted(cells)
        ]
        if "overlapping" in kwargs:
            grid = Grid(grid.rows, grid.cols, kwargs["overlapping"])
        return cls._build_sim_of(placed, grid, extra_agents, kwargs)

    @classmethod
    def build_sim_from_array(cls, array, object_registry, extra_agents=None, **kwargs):
        """Builds a simulation from an array of characters.

        Args:
            array: 2-D array (or nested lists) of str, one character per cell; ``0``, ``.``, ``_``
                and the empty str are empty cells.
            object_registry: ``{character: function}``. The function gets a running number and
                returns the agent that starts in the cell, or a list of several. It is called row
                by row; the number counts the calls.
            extra_agents: ``{id: agent}`` of further agents; of two with one id that of the array
                is taken.
            kwargs: As for ``build_sim``.

        Returns:
            The simulation, finalized.

        Raises:
            TypeError, ValueError: The array, the registry or an agent is wrong.
        """
        return cls._build_sim_on(Map.of_array(array), object_registry, extra_agents, kwargs)

    @classmethod
    def build_sim_from_file(cls, path, object_registry, extra_agents=None, **kwargs):
        """Builds a simulation from a text file with one character per cell.

        Args:
            path: The file, in UTF-8: a line per row, characters separated by blanks; ``0``, ``.``
                and ``_`` are empty cells.
            object_registry, extra_agents, kwargs: As for ``build_sim_from_array``.

        Returns:
            The simulation, finalized.

        Raises:
            FileNotFoundError: There is no such file.
            TypeError, ValueError: The file, the registry or an agent is wrong.
        """
        return cls._build_sim_on(Map.read(path), object_registry, extra_agents, kwargs)

    @classmethod
    def _build_sim_on(cls, map_, registry, extra_agents, kwargs):
        placed = map_.populate(registry)
        grid = Grid(*map_.shape, kwargs.get("overlapping"))
        sim = cls._build_sim_of(placed, grid, extra_agents, kwargs)
        sim._written = {
            agent.id: (one.character, number, len(one.agents))
            for one in placed
            for number, agent in enumerate(one.agents)
        }
        return sim

    @classmethod
    def _build_sim_of(cls, placed, grid, extra_agents, kwargs):
        for name in ("agents", "rows", "cols"):
            if name in kwargs:
                hint = "name further agents as extra_agents" if name == "agents" else "leave it out"
                raise TypeError(f"{name} follows from the map or grid; {hint}.")
        extra = {} if extra_agents is None else extra_agents
        if not isinstance(extra, dict):
            raise TypeError(
                f"extra_agents must be a dict {{id: agent}}, got {type(extra).__name__}."
            )
        _check_overlapping(placed, grid.overlapping)
        agents, homes = {}, {}
        for one in placed:
            one.agents = [
                agent.unbound_copy() if agent._store is not None else agent for agent in one.agents
            ]
            for agent in one.agents:
                if agent.id in homes:
                    raise ValueError(
                        f"{homes[agent.id]} and {one.where} both hold an agent {agent.id!r}; use "
                        "the running number, like lambda n: GridWorldAgent(id=f'wall{n}', ...)."
                    )
                homes[agent.id] = one.where
                agents[agent.id] = agent
        for one in placed:
            for agent in one.agents:
                agent.initial_position = one.cell
        agents.update({name: agent for name, agent in extra.items() if name not in agents})
        kwargs.setdefault("overlapping", _among(grid.overlapping, agents.values()))
        return cls.build_sim(grid.rows, grid.cols, agents=agents, **kwargs)

    def to_map(self, characters=None) -> str:
        """The present state as the text of a map, which ``build_sim_from_file`` can read.

        Agents that were made from a map are written as the character that they came from, several
        in a cell as the one that stands for just them. Agents that are not on the grid are left
        out.

        Args:
            characters: ``{encoding: character}`` for other agents, ``{(encoding, encoding):
                character}`` for several in a cell.

        Returns:
            One line per row, characters separated by blanks, a dot for an empty cell.

        Raises:
            TypeError, ValueError: A character is wrong, none stands for those in a cell, or there
                was no reset yet.
        """
        if not self.store.cell.any():
            raise ValueError("Nobody is on the grid yet; call reset() before to_map().")
        return write_map(self.grid, self._written, {} if characters is None else characters)


def _check_overlapping(placed, overlapping):
    for one in placed:
        for first, second in itertools.combinations(one.agents, 2):
            first.check_configured()
            second.check_configured()
            if second.encoding not in overlapping.get(first.encoding, ()):
                raise ValueError(
                    f"{first.id!r} (encoding {first.encoding}) and {second.id!r} (encoding "
                    f"{second.encoding}) may not share {one.where}; "
                    f"add overlapping={{{first.encoding}: {{{second.encoding}}}}}."
                )


def _own_agents(agents):
    if not isinstance(agents, dict):
        raise TypeError(f"agents must be a dict {{id: agent}}, got {type(agents).__name__}.")
    if not agents:
        raise ValueError("A simulation needs at least one agent, got none.")
    return {
        key: agent.unbound_copy()
        if isinstance(agent, GridWorldAgent) and agent._store is not None
        else agent
        for key, agent in agents.items()
    }


def _among(overlapping, agents):
    """What a grid says of encodings that agents have; it may know of more."""
    there = {getattr(agent, "encoding", None) for agent in agents}
    return {
        encoding: others & there for encoding, others in overlapping.items() if encoding in there
    }
