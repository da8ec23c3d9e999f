"""Grid-world simulations: agents on a grid, put together from components."""

import functools
import itertools
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from abmarl.gridworld.agent import GridWorldAgent
from abmarl.gridworld.grid import Grid, parse_encodings
from abmarl.gridworld.map import Map, Placed, write_map
from abmarl.gridworld.rendering import Renderable
from abmarl.gridworld.saving import check_arrays, check_worlds, without_signature
from abmarl.gridworld.seeding import parse_seed
from abmarl.gridworld.store import Store
from abmarl.kernels.turns import shuffle_turns
from abmarl.sim.agent_based_simulation import AgentBasedSimulation

if TYPE_CHECKING:
    from typing_extensions import Self


class GridWorldSimulation(Renderable, AgentBasedSimulation):
    """A simulation of agents on a grid.

    In the object style a subclass makes its components in ``__init__``, calls their ``reset``,
    ``process_action``, ``get_obs`` and ``get_done``, and ends ``__init__`` with ``finalize()``.

    A ``reset`` or ``step`` that fails leaves the world as it was before: agents, grid, fields and
    random streams, but not attributes that a subclass keeps beside them.

    Args:
        agents: ``{id: agent}``.
        grid: The grid; ``build_sim`` makes it.
    """

    def __init__(self, agents: dict | None = None, grid: Grid | None = None, **kwargs: Any) -> None:
        if agents is not None:
            self.agents = agents
        if grid is not None:
            self.grid = grid

    _made_with: tuple[tuple, dict[str, Any]]
    _resetting: bool
    _stepping: bool

    def __new__(cls, *args: Any, **kwargs: Any) -> "Self":
        # What it was made with is what a vectorised simulation makes its copies with.
        self = super().__new__(cls)
        self._made_with = args, kwargs
        self._resetting = self._stepping = False
        return self

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "reset" in cls.__dict__:
            cls.reset = _seeded(cls.__dict__["reset"])  # type: ignore[method-assign]
        if "step" in cls.__dict__:
            cls.step = _undone(cls.__dict__["step"])  # type: ignore[method-assign]

    _finalized = False
    # Whether a step runs code that may fail half way, as users' own may.
    runs_foreign_code: Any = True

    # What stands for the agents that were made from a map, see `write_map`.
    _written: dict[str, tuple] = {}  # noqa: RUF012 - replaced as a whole, never changed

    @property
    def grid(self) -> Grid:
        """The grid."""
        grid = self.__dict__.get("grid", self._made_with[1].get("grid"))
        if grid is None:
            raise AttributeError(f"{type(self).__name__} has no grid; use build_sim(rows, cols).")
        return grid

    @grid.setter
    def grid(self, grid: Grid) -> None:
        if not isinstance(grid, Grid):
            raise TypeError(f"grid must be a Grid, got {grid!r}.")
        self.__dict__["grid"] = grid

    @property
    def store(self) -> Store:
        """The arrays of the simulation."""
        grid = self.grid
        return grid.store if grid.store is not None else grid.bind(self.agents)

    @property
    def groups(self) -> dict:
        """The agents sorted into groups of equal ones, by name."""
        return self.grid.groups

    def finalize(self) -> None:
        """Make agents and spaces ready for use. Agents that are alike share their spaces."""
        if self.grid.replica:
            self._finalized = True
            return
        shared = {}
        # Agents without any component are put into the store here.
        parse_encodings("overlapping", self.grid.overlapping, self.store.kinds.tolist())
        for agent in self.agents.values():
            _drop_partial_nulls(agent)
            for name in ("action_space", "observation_space"):
                space = getattr(agent, name, None)
                if isinstance(space, dict) and agent.seed is None:
                    key = (name, *((channel, id(part)) for channel, part in space.items()))
                    if key not in shared:
                        agent.finalize()
                        shared[key] = getattr(agent, name)
                    else:
                        setattr(agent, name, shared[key])
        super().finalize()
        self._finalized = True

    def random_order(self, agent_ids: Any) -> list:
        """Return the agents in a fresh random order, drawn from the stream of the world.

        Those that are not active come last: they do not act, and nothing is drawn for them.
        """
        store = self.store
        slots = sorted(store.index[agent_id] for agent_id in agent_ids)
        slots.sort(key=lambda slot: not store.active[0, slot])
        turns = np.array([slots], store.slot_dtype)
        self._before_order = store.streams[0].copy()
        shuffle_turns(store.streams, turns, int(np.count_nonzero(store.active[0, slots])))
        return [store.ids[slot] for slot in turns[0].tolist()]

    _before_order = None

    def undo_random_order(self) -> None:
        """Put the stream of the world back to where it was before the last random order."""
        if self._before_order is not None:
            self.store.streams[0] = self._before_order

    def get_info(self, agent_id: str, **kwargs: Any) -> dict:
        """Nothing more to tell about an agent."""
        return {}

    # --- building, and writing maps ---

    @classmethod
    def build_sim(
        cls,
        rows: int,
        cols: int,
        agents: dict | None = None,
        overlapping: dict | None = None,
        **kwargs: Any,
    ) -> "Self":
        """Build a simulation on a fresh grid.

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
    def build_sim_from_grid(
        cls, grid: Grid, extra_agents: dict | None = None, **kwargs: Any
    ) -> "Self":
        """Build a simulation of the agents on a grid, each with its cell as initial position.

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
            if agent._store.on_grid(agent._slot)
        }
        placed = [
            Placed(cell, [one.unbound_copy() for one in grid[cell].values()], f"cell {cell}")
            for cell in sorted(cells)
        ]
        if "overlapping" in kwargs:
            grid = Grid(grid.rows, grid.cols, kwargs["overlapping"])
        return cls._build_sim_of(placed, grid, extra_agents, kwargs)

    @classmethod
    def build_sim_from_array(
        cls, array: Any, object_registry: dict, extra_agents: dict | None = None, **kwargs: Any
    ) -> "Self":
        """Build a simulation from an array of characters.

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
    def build_sim_from_file(
        cls,
        path: str | os.PathLike,
        object_registry: dict,
        extra_agents: dict | None = None,
        **kwargs: Any,
    ) -> "Self":
        """Build a simulation from a text file with one character per cell.

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
    def _build_sim_on(
        cls, map_: Map, registry: dict, extra_agents: dict | None, kwargs: dict[str, Any]
    ) -> "Self":
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
    def _build_sim_of(
        cls, placed: list[Placed], grid: Grid, extra_agents: dict | None, kwargs: dict[str, Any]
    ) -> "Self":
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
        agents: dict[str, Any] = {}
        homes: dict[str, str] = {}
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

    def to_map(self, characters: dict | None = None) -> str:
        """Return the present state as the text of a map, which ``build_sim_from_file`` can read.

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

    # --- saving ---

    def state_dict(self) -> dict:
        """Return a copy of everything that the world is, random streams included.

        Observations that were made of the present state are part of it (``obs.<channel>``).
        """
        state = {name: array.copy() for name, array in self._state_arrays().items()}
        return {"signature": self.store.signature, **state}

    def load_state_dict(self, state: dict) -> None:
        """Go back to what ``state_dict`` returned.

        Raises:
            ValueError: It is of a different simulation, or damaged; nothing has changed.
        """
        saved = without_signature(state, self.store)
        rows = {f"obs.{key}": one.flat for key, one in self.grid.observers.items()}
        rows = {name: flat for name, flat in rows.items() if name in saved}
        check_arrays({**self.store.state(), **rows}, saved)
        check_worlds(self.store, saved)
        self._go_back(saved)

    def _state_arrays(self) -> dict:
        grid = self.grid
        arrays = (grid.store or self.store).state()
        for key, observer in grid.observers.items():
            if observer.is_current:
                arrays[f"obs.{key}"] = observer.flat
        return arrays

    def _snapshot(self) -> list[tuple]:
        """Return the present state for ``_restore``, as bytes: three times as fast as copies."""
        return [(name, array, array.tobytes()) for name, array in self._state_arrays().items()]

    def _restore(self, snapshot: list[tuple]) -> None:
        self._go_back(
            {
                name: np.frombuffer(saved, array.dtype).reshape(array.shape)
                for name, array, saved in snapshot
            }
        )

    def _go_back(self, saved: dict[str, np.ndarray]) -> None:
        """Load a state that is known to be right."""
        self.store.load(saved)
        for key, observer in self.grid.observers.items():
            observer.go_back(saved.get(f"obs.{key}"))

    def vectorize(self, num_envs: int, **kwargs: Any) -> None:
        """Many worlds at once; only for simulations that are declared or define ``step_batch``.

        Raises:
            TypeError: This one is written in the object style.
        """
        raise TypeError(
            f"{type(self).__name__} handles actions one by one in step(action_dict); vectorize "
            "needs step_batch(actions) of a SmartGridWorldSimulation, or declared actors."
        )


def _seeded(reset: Callable) -> Callable:
    """Wrap ``reset`` so that its outermost call starts the random streams of the seed.

    It also begins the episode for the store, and leaves everything as before when it fails.
    """

    @functools.wraps(reset)
    def wrapped(
        self: GridWorldSimulation, *args: Any, seed: int | tuple | None = None, **kwargs: Any
    ) -> Any:
        if seed is not None:
            kwargs["seed"] = seed
        if self._resetting:
            return reset(self, *args, **kwargs)
        entropy, world = (None, 0) if seed is None else parse_seed(seed)
        before = self._snapshot()
        self._resetting = True
        try:
            if seed is not None:
                self.store.seed(entropy, first_world=world)
            store = self.store
            resting = np.flatnonzero(store.traits["blocking"] & ~store.active[0])
            store.begin()
            found = reset(self, *args, **kwargs)
            for slot in resting.tolist():  # an agent that was not placed again hides things again
                store.update_wall(slot)
            return found
        except BaseException:
            self._restore(before)
            raise
        finally:
            self._resetting = False

    return wrapped


def _undone(step: Callable) -> Callable:
    """Wrap ``step`` so that it leaves everything as before when it fails."""

    @functools.wraps(step)
    def wrapped(self: GridWorldSimulation, *args: Any, **kwargs: Any) -> Any:
        if self._stepping or not self.runs_foreign_code:
            return step(self, *args, **kwargs)
        before = self._snapshot()
        self._stepping = True
        try:
            return step(self, *args, **kwargs)
        except BaseException:
            self._restore(before)
            raise
        finally:
            self._stepping = False

    return wrapped


def _drop_partial_nulls(agent: GridWorldAgent) -> None:
    """Drop null points that lack a channel: a null point is one of the whole space."""
    for side in ("action", "observation"):
        space = getattr(agent, f"{side}_space", None)
        null = getattr(agent, f"null_{side}", None)
        if isinstance(space, dict) and isinstance(null, dict) and null.keys() != space.keys():
            setattr(agent, f"null_{side}", {})


def _check_overlapping(placed: list[Placed], overlapping: dict) -> None:
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


def _own_agents(agents: Any) -> dict[str, Any]:
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


def _among(overlapping: dict, agents: Iterable) -> dict:
    """Return what a grid says of encodings that agents have; it may know of more."""
    there = {getattr(agent, "encoding", None) for agent in agents}
    return {
        encoding: others & there for encoding, others in overlapping.items() if encoding in there
    }
