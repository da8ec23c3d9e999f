"""The store: every variable of every agent in every world, as arrays with the world first."""

import functools
import hashlib
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from abmarl.gridworld.fields import Field, Trait, declared
from abmarl.gridworld.seeding import fresh_seed, world_streams
from abmarl.kernels.compile import JIT
from abmarl.kernels.episode import begin_episodes, fill_worlds
from abmarl.kernels.program import Call, Program
from abmarl.kernels.sight import sight_table
from abmarl.kernels.world import (
    Sight,
    World,
    clear_worlds,
    enter_cell,
    leave_cell,
    may_enter,
    remove_agents,
    unravel_cells,
)
from abmarl.sim.layout import narrow

# Prefix of the fields in which observers remember what the rows of their outputs hold.
SHOWN = "shown:"

# Parameters of agents, shared by all worlds; one record travels to the kernels as one argument.
TRAITS = np.dtype(
    [
        ("attack_strength", np.float64),
        ("attack_accuracy", np.float64),
        ("initial_health", np.float64),
        ("encoding", np.int32),
        ("move_range", np.int32),
        ("attack_range", np.int32),
        ("initial_ammo", np.int32),
        ("simultaneous_attacks", np.int16),
        ("view_range", np.int16),
        ("kind", np.int16),
        ("initial_orientation", np.int8),
        ("blocking", np.bool_),
    ],
    align=True,
)

# What stands for None in the columns of parameters that may be left open; values are above 0.
_OPEN = {"initial_health": np.nan, "initial_orientation": 0}

# Of a table by label, which has to stay small.
_MOST_LABELS = 1024

# What the arrays and spaces of a simulation are laid out for.
_FIXED = ("encoding", "blocking", "view_range", "move_range", "simultaneous_attacks")


class _Index(dict):
    """Numbers of agents by id; asking for an unknown one says so."""

    def __missing__(self, agent_id: str) -> NoReturn:
        raise ValueError(f"There is no agent {agent_id!r} in this simulation.")


class Store:
    """The arrays of B worlds of N agents.

    Attributes:
        ids: The agents' ids; ``index`` maps an id to its number.
        traits: Record array [N] of the agents' parameters.
        kinds: int [K], the encodings, ascending; an agent's kind is its number in it.
        encodings: int32 [1, N], the agents' encodings.
        overlap: bool [K, K], the kinds that may share a cell; ``uniform``: only equal ones do.
        start: [N], initial cells (0: none); ``initial_teams`` int32 [N];
            ``most_team``: the highest team that spaces allow for.
        padding: How cells are numbered.
        slot_dtype: Unsigned dtype that holds the number of any agent.
        active: bool [B, N], alive and on the grid.
        health: float64 [B, N], in [0, 1].
        rewards: float64 [B, N], added up until they are read.
        cell: int [B, N], padded index of the cell where an agent is or was last; 0: nowhere.
        first, next_: int [B, cells] and [B, N], the agents of a cell as a linked list.
        top: int [B, cells], encoding of the newest agent of a cell, 0 empty, -1 outside.
        walls: uint8 [B, cells], 1 where an active blocking agent stands ([B, 1] when nobody
            blocks).
        streams, sight_streams, sample_streams: uint64 [B, 4], the random streams of the worlds:
            for what happens, for what is seen, for sampled actions.

    What comes before ``active`` is the same in all worlds. The arrays are changed in place and
    never replaced. Whoever writes to them outside of the components calls ``touch()``, so that
    observations kept from before are not used any more.

    Writing to ``active`` stops an agent from acting and nothing else: it stays on its cell, where
    others see it, and a blocking one still hides what is behind it; ``remove`` takes agents off
    the grid as well. In a single world ``agent.active = False`` makes an agent hide nothing, and
    ``grid.remove`` takes it off its cell.
    """

    def __init__(self, rows: int, cols: int, overlapping: dict, agents: dict) -> None:
        self.rows, self.cols = rows, cols
        self.ids = list(agents)
        self.index = _Index({name: slot for slot, name in enumerate(self.ids)})
        self.num_agents = len(self.ids)
        number = np.promote_types(np.min_scalar_type(-1 - self.num_agents), np.int16)
        self.slot_dtype = np.dtype(f"u{number.itemsize}")
        self._read_traits(agents)
        self._relate(overlapping)
        self.padding = Padding(rows, cols, self.traits)
        self.start = np.zeros(self.num_agents, self.padding.dtype)
        self.initial_teams = self.traits["encoding"].copy()
        for slot, agent in enumerate(agents.values()):
            self.set_start(slot, agent.initial_position)
            team = getattr(agent, "initial_team", None)
            if team is not None:
                self.initial_teams[slot] = team
        self.most_team = int(self.initial_teams.max())
        self.num_worlds = 1
        self.first_world = 0  # the number of the first one, where this is a part of a store
        self._allocate()
        for agent in agents.values():
            for name, field in declared(type(agent), Field).items():
                self.require(name, field.dtype, field.shape, field.default, reset=True)
        self.seed()
        for slot, agent in enumerate(agents.values()):
            self.bind(slot, agent)

    def replicate(self, num_worlds: int) -> "Store":
        """Room for many worlds of the same agents, none of them started yet."""
        twin = object.__new__(Store)
        twin.__dict__.update(self.__dict__)
        twin.num_worlds = num_worlds
        for name in ("traits", "start", "initial_teams"):
            setattr(twin, name, getattr(self, name).copy())
        twin._allocate()
        for name, (array, default, reset) in self._fields.items():
            twin.require(name, array.dtype, array.shape[2:], default, reset)
        return twin

    def _allocate(self) -> None:
        self.version = 0
        self._fields: dict[str, tuple] = {}
        # Made when they are asked for.
        self._state: dict[str, np.ndarray] | None = None
        self._world: World | None = None
        self._begin: Program | None = None
        self._bound: dict[Callable, tuple[np.ndarray, Program]] | None = None
        worlds, agents, cells = self.num_worlds, self.num_agents, self.padding.cells
        # The dtype that windows of encodings have: rows of cells are copied into them as they are.
        label = narrow(min(-2, self.kinds[0]), self.kinds[-1])
        number = np.dtype(f"i{self.slot_dtype.itemsize}")
        walls = cells if self.traits["blocking"].any() else 1
        self.active = np.ones((worlds, agents), bool)
        self.health = np.ones((worlds, agents))
        self.rewards = np.zeros((worlds, agents))
        self.cell = np.zeros((worlds, agents), self.padding.dtype)
        self.first = np.full((worlds, cells), -1, number)
        self.next_ = np.full((worlds, agents), -1, number)
        self.blank = self.padding.blank(label)
        self.top = np.empty((worlds, cells), label)
        self.top[:] = self.blank
        # Read eight cells at a time, hence some room behind the last one.
        self.flat_walls = np.zeros(worlds * walls + 8, np.uint8)
        self.walls = self.flat_walls[: worlds * walls].reshape(worlds, walls)
        self.streams = np.zeros((worlds, 4), np.uint64)
        self.sight_streams = np.zeros((worlds, 4), np.uint64)
        self.sample_streams = np.zeros((worlds, 4), np.uint64)
        self.hidden = self.padding.scratch()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "walls": None, "_state": None, "_world": None, "_bound": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # ``walls`` is a view, which copies and pickles would turn into an array of its own.
        size = self.flat_walls.size - 8
        self.walls = self.flat_walls[:size].reshape(self.num_worlds, -1)

    _STATE = (
        "active", "health", "rewards", "cell", "first", "next_", "top", "walls",
        "streams", "sight_streams", "sample_streams",
    )  # fmt: skip

    @property
    def world(self) -> World:
        """The arrays of all worlds, as kernels and rules take them."""
        if self._world is None:
            padding = self.padding
            self._world = World(
                cell=self.cell,
                first=self.first,
                next_=self.next_,
                top=self.top,
                flat_top=self.top.reshape(-1),
                walls=self.walls,
                flat_walls=self.flat_walls,
                active=self.active,
                health=self.health,
                rewards=self.rewards,
                traits=self.traits,
                overlap=self.overlap,
                blank=self.blank,
                rows=self.rows,
                cols=self.cols,
                width=padding.width,
                pad=padding.pad,
                streams=self.streams,
                sight_streams=self.sight_streams,
                sight=Sight(padding.sight, padding.starts, self.hidden),
            )
        return self._world

    def state(self) -> dict:
        """Return every array that a step may change, by name: the arrays themselves, not copies."""
        if self._state is None:  # kept, as it is asked for in every step that may fail
            self._state = {name: getattr(self, name) for name in self._STATE} | self.fields()
        return dict(self._state)

    def load(self, saved: dict) -> None:
        """Copy saved arrays back, which have been checked (see ``saving``)."""
        for name, array in self.state().items():
            if name in saved:  # a reset that failed may have declared more
                array[...] = saved[name]
        self.touch()

    def fields(self) -> dict:
        """Return the arrays that agent classes and components declared, by name."""
        return {name: entry[0] for name, entry in self._fields.items()}

    def has(self, name: str) -> bool:
        """Tell whether a field of that name was declared."""
        return name in self._fields

    def array(self, name: str) -> np.ndarray:
        """Return the array [B, N, ...] of a declared field."""
        return self._fields[name][0]

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("_fields", {})
        if name in fields:
            return fields[name][0]
        raise AttributeError(f"The store has no array {name!r}; declared are {sorted(fields)}.")

    def require(
        self, name: str, dtype: Any, shape: tuple = (), default: Any = 0, reset: bool = False
    ) -> np.ndarray:
        """Declare a field and return its array [B, N, *shape]; twice gives the same array.

        Args:
            reset: Whether it starts every episode at ``default``.

        Raises:
            ValueError: The name is taken by something else.
        """
        if name in self._fields:
            array = self._fields[name][0]
            if array.dtype != dtype or array.shape[2:] != tuple(shape):
                raise ValueError(f"Field {name!r} is declared twice, with different forms.")
            return array
        if hasattr(type(self), name) or name in self.__dict__:
            raise ValueError(f"{name!r} is a name of the store; call the field something else.")
        full_shape = (self.num_worlds, self.num_agents, *shape)
        self._fields[name] = (np.full(full_shape, default, dtype), default, reset)
        self._begin = self._state = None
        return self._fields[name][0]

    @property
    def position(self) -> np.ndarray:
        """int32 [B, N, 2]: row and column of every agent, or where it was last. A fresh array."""
        return self.padding.positions(self.cell)

    def teams(self) -> np.ndarray:
        """Return int32 [B, N], or [1, N] while teams do not change: the team of every agent."""
        return self.array("team") if self.has("team") else self.initial_teams[None]

    def touch(self) -> None:
        """Declare that the state has changed."""
        self.version += 1

    def remove(self, gone: np.ndarray) -> None:
        """Make the agents in ``gone``, bool [B, N], inactive and take them off the grid.

        Raises:
            ValueError: It has another shape or dtype.
        """
        gone = np.asarray(gone)
        if gone.shape != self.active.shape or gone.dtype != bool:
            raise ValueError(
                f"remove takes bool {self.active.shape} (worlds, agents), "
                f"got {gone.dtype} {gone.shape}."
            )
        given, remove = self._bind(remove_agents, gone.shape, bool)
        given[...] = gone
        remove()
        self.touch()

    # --- episodes and random streams ---

    def clear(self, worlds: Any) -> None:
        """Empty the grids of the listed worlds (int64 array)."""
        self.clearing(worlds)()
        self.touch()

    def clearing(self, worlds: Any) -> Call:
        """Return a call that empties the grids of the listed worlds."""
        return Call(clear_worlds, self.world, worlds)

    def begin(self) -> None:
        """Give the variables of all worlds what an episode starts from."""
        if self._begin is None:
            self._begin = Program(self.beginning(np.arange(self.num_worlds)))
        self._begin()
        self.touch()

    def beginning(self, worlds: Any) -> list:
        """Return calls that set the variables of the listed worlds for a new episode."""
        calls = [Call(begin_episodes, self.world, worlds)]
        for array, default, reset in self._fields.values():
            if reset:
                values = array.reshape(self.num_worlds, -1)
                start = np.empty(array.shape[1:], array.dtype)
                start[...] = default
                calls.append(Call(fill_worlds, worlds, values, start.reshape(-1)))
        return calls

    def seed(self, seed: int | None = None, worlds: Any = None, first_world: int = 0) -> int:
        """Start the random streams of the listed worlds (all by default).

        World k of the store gets the streams of world ``first_world + k`` of the seed. Returns the
        seed, which is drawn from the system when none is given.
        """
        seed = fresh_seed() if seed is None else seed
        for b in range(self.num_worlds) if worlds is None else worlds:
            words = world_streams(seed, first_world + int(b))
            self.streams[b], self.sight_streams[b], self.sample_streams[b] = words
        return seed

    def streams_copy(self) -> dict:
        """Return a copy of the random streams, as ``load`` takes it."""
        return {name: getattr(self, name).copy() for name in self._STATE[-3:]}

    def shard(self, low: int, high: int) -> "Store":
        """Return the worlds ``low`` to ``high`` as a store of their own, on the same memory."""
        part = object.__new__(Store)
        part.__dict__.update(self.__dict__)
        part.num_worlds = high - low
        part._begin = part._bound = part._state = part._world = None
        part.first_world = self.first_world + low
        part.hidden = self.padding.scratch()
        for name in self._STATE:
            setattr(part, name, getattr(self, name)[low:high])
        part.flat_walls = self.flat_walls[low * self.walls.shape[1] :]
        part._fields = _FieldSlices(self, low, high)
        return part

    # --- agents and their parameters, the same in all worlds ---

    @functools.cached_property
    def signature(self) -> np.ndarray:
        """uint8 [32]: tells whether arrays of two simulations mean the same."""
        parts = (self.rows, self.cols, self.padding.pad, self.ids, self.encodings.tolist())
        return np.frombuffer(hashlib.sha256(repr(parts).encode()).digest(), np.uint8)

    def _read_traits(self, agents: dict[str, Any]) -> None:
        full = max(self.rows, self.cols) - 1
        self.traits = np.zeros(self.num_agents, TRAITS)
        if not JIT:
            # Uncompiled kernels ask records for attributes as compiled ones do.
            self.traits = self.traits.view(np.recarray)
        for name, unset in _OPEN.items():
            self.traits[name] = unset
        for name in TRAITS.names or ():
            if name != "kind":
                column = self.traits[name]
                for slot, agent in enumerate(agents.values()):
                    value = getattr(agent, name, None)
                    if isinstance(value, str):
                        value = full
                    if value is not None:
                        self._check_size(agent, name, value)
                        column[slot] = value
        for agent in agents.values():
            if agent.encoding is None:
                raise ValueError(
                    f"Agent {agent.id!r} has no encoding; give it one, an int such as 1."
                )

    def _check_size(self, agent: Any, name: str, value: float) -> None:
        kind = TRAITS[name]
        if kind.kind != "i" or np.iinfo(kind).min <= value <= np.iinfo(kind).max:
            return
        if name == "view_range":
            raise ValueError(
                f"view_range of agent {agent.id!r} is {value} cells on a "
                f"{self.rows} x {self.cols} grid; {np.iinfo(kind).max} is the "
                "most, and windows of some hundred cells a side are large already."
            )
        raise ValueError(
            f"{name} can be {np.iinfo(kind).max} at most, got {value} for agent {agent.id!r}."
        )

    def _relate(self, overlapping: dict) -> None:
        """Numbers the encodings and says which of them may share a cell."""
        self.kinds, self.traits["kind"] = np.unique(self.traits["encoding"], return_inverse=True)
        self.encodings = np.ascontiguousarray(self.traits["encoding"])[None]
        self.overlap = self.relation(overlapping)
        # With all agents of a cell of one encoding, that encoding stands in ``top``.
        self.uniform = not (self.overlap & ~np.eye(len(self.kinds), dtype=bool)).any()

    def relation(self, mapping: dict) -> np.ndarray:
        """Return ``{encoding: encodings}`` as a bool matrix [kinds, kinds]; others are left out."""
        matrix = np.zeros((len(self.kinds), len(self.kinds)), bool)
        for k, encoding in enumerate(self.kinds):
            matrix[k] = np.isin(self.kinds, list(mapping.get(int(encoding), ())))
        return matrix

    def by_label(self, matrix: np.ndarray) -> tuple:
        """Return a relation of kinds as one of kinds to what stands in ``top``.

        Returns:
            bool [K, L] with a column per label from the lowest one, and that label. L is 0 when
            ``top`` does not tell who is in a cell, or encodings are far apart.
        """
        lowest = min(-1, int(self.kinds[0]))
        span = max(0, int(self.kinds[-1])) - lowest + 1  # 0 stands for an empty cell
        if not self.uniform or span > _MOST_LABELS:
            return np.zeros((len(self.kinds), 0), bool), lowest
        found = np.zeros((len(self.kinds), span), bool)
        found[:, self.kinds - lowest] = matrix
        return found, lowest

    def trait(self, name: str, slot: int) -> Any:
        """Return a parameter of one agent as a Python number."""
        value = self.traits[name].item(slot)
        return None if name in _OPEN and not value > 0 else value

    def set_trait(self, name: str, slot: int, value: Any) -> None:
        """Change a parameter of one agent.

        Raises:
            ValueError: The simulation was laid out for the present value.
        """
        if name in _FIXED and value != self.traits[name][slot]:
            raise ValueError(
                f"{name} of agent {self.ids[slot]!r} cannot change once it is in a simulation; "
                "build a new one."
            )
        farthest = max(self.rows, self.cols) - 1
        if isinstance(value, str):
            value = farthest
        if name == "attack_range" and value > self.padding.pad < farthest:
            raise ValueError(
                f"attack_range can be {self.padding.pad} at most in this simulation, got {value}; "
                "build it with the largest range that is needed."
            )
        self.traits[name][slot] = _OPEN[name] if value is None else value

    def set_start(self, slot: int, position: Any) -> None:
        """Set the initial cell of one agent; None: a random one."""
        if position is None:
            self.start[slot] = 0
        else:
            row, col = int(position[0]), int(position[1])
            if not (0 <= row < self.rows and 0 <= col < self.cols):
                raise ValueError(
                    f"Agent {self.ids[slot]!r} starts at ({row}, {col}), which is not on the "
                    f"{self.rows} x {self.cols} grid."
                )
            self.start[slot] = self.padding.ravel(row, col)

    def set_initial_team(self, slot: int, team: int | None) -> None:
        """Set the team in which one agent starts; None: that of its encoding.

        Raises:
            ValueError: The simulation was laid out for smaller numbers of teams.
        """
        team = int(self.traits["encoding"][slot]) if team is None else team
        self.check_team(team)
        self.initial_teams[slot] = team

    def check_team(self, team: int) -> None:
        """Refuse a team that spaces and arrays have no room for."""
        if team > self.most_team:
            raise ValueError(
                f"The teams of this simulation go up to {self.most_team}, got {team}; "
                "put an agent into the new team when it is built."
            )

    # --- world 0, as agent objects and the grid read and write it ---

    def bind(self, slot: int, agent: Any) -> None:
        """Move what the agent holds into the arrays; from then on it reads and writes them."""
        names = ("active", "health", *declared(type(agent), Field))
        values = {name: getattr(agent, name) for name in names}
        position = agent.position
        for name in (*declared(type(agent), Trait), *names, "position"):
            agent.__dict__.pop(name, None)
        agent._store, agent._slot = self, slot
        for name, value in values.items():
            getattr(self, name)[0, slot] = value
        if position is not None:
            self.set_position(slot, position)

    def position_of(self, slot: int) -> np.ndarray | None:
        """Return the row and column, an int array, of one agent of world 0, or None."""
        p = self.cell.item(slot)
        return np.array(self.padding.unravel(p)) if p else None

    def set_position(self, slot: int, position: Any) -> None:
        """Move one agent of world 0, on the grid if it is there.

        Raises:
            ValueError: The cell is not on the grid or not available.
        """
        row, col = (int(v) for v in position)
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            raise ValueError(f"({row}, {col}) is not on the {self.rows} x {self.cols} grid.")
        p = self.padding.ravel(row, col)
        if p == self.cell[0, slot]:
            return
        if not self.on_grid(slot):
            self.cell[0, slot] = p
        else:
            if not self.may_enter(slot, p):
                raise ValueError(f"Cell ({row}, {col}) is not available to {self.ids[slot]!r}.")
            self.leave(slot)
            self.enter(slot, p)
        self.touch()

    def empty_grid(self) -> None:
        """Take every agent of world 0 off the grid and change nothing else about it."""
        self.first[0] = -1
        self.top[0] = self.blank
        self.walls[0] = 0
        self.cell[0] = 0
        self.touch()

    def set_active(self, slot: int, value: Any) -> None:
        """Make one agent of world 0 active or not; it stays where it is."""
        self.active[0, slot] = value
        self.update_wall(slot)
        self.touch()

    def update_wall(self, slot: int) -> None:
        """Update whether the cell of a blocking agent hides what is behind it."""
        if self.traits["blocking"][slot] and self.on_grid(slot):
            p = self.cell.item(slot)
            there = self.occupants(p)
            self.walls[0, p] = (self.traits["blocking"][there] & self.active[0, there]).any()

    def occupants(self, p: int) -> list:
        """Return the agents (numbers) of a cell of world 0, in the order in which they came."""
        found, j = [], self.first.item(p)
        while j >= 0:
            found.append(j)
            j = self.next_.item(j)
        return found[::-1]

    def on_grid(self, slot: int) -> bool:
        """Tell whether an agent of world 0 stands on a cell."""
        return slot in self.occupants(self.cell.item(slot))

    def may_enter(self, slot: int, p: int) -> bool:
        """Tell whether cell p of world 0 is available to an agent."""
        return bool(self._ask(may_enter, slot, p)[2])

    def enter(self, slot: int, p: int) -> None:
        """Put an agent of world 0 on cell p."""
        self._ask(enter_cell, slot, p)
        if not self.active[0, slot]:
            self.update_wall(slot)
        self.touch()

    def leave(self, slot: int) -> None:
        """Take an agent of world 0 off the grid."""
        self._ask(leave_cell, slot, 0)
        self.touch()

    def _ask(self, kernel: Callable, slot: int, p: int) -> np.ndarray:
        asked, run = self._bind(kernel, 3, np.int64)
        asked[0], asked[1] = slot, p
        run()
        return asked

    def _bind(self, kernel: Callable, shape: int | tuple, dtype: Any) -> tuple[np.ndarray, Program]:
        """Return an array, and a program that runs a kernel on the world and this array.

        To give a kernel the whole world from Python each time takes longer than these kernels do.
        """
        if self._bound is None:
            self._bound = {}
        if kernel not in self._bound:
            array = np.zeros(shape, dtype)
            self._bound[kernel] = array, Program([Call(kernel, self.world, array)])
        return self._bound[kernel]


class _FieldSlices(dict):
    """The fields of some worlds of a store; what is declared here is declared there."""

    def __init__(self, store: Store, low: int, high: int) -> None:
        self._store, self._low, self._high = store, low, high
        super().__init__({name: self._slice(entry) for name, entry in store._fields.items()})

    def _slice(self, entry: tuple) -> tuple:
        array, default, reset = entry
        return array[self._low : self._high], default, reset

    def __setitem__(self, name: str, entry: tuple) -> None:
        array, default, reset = entry
        whole = self._store.require(name, array.dtype, array.shape[2:], default, reset)
        super().__setitem__(name, self._slice((whole, default, reset)))


# Bit sets of hidden cells are made per blocker offset up to this range; for larger windows they
# would take megabytes, and the rule is asked instead.
LARGEST_TABLE = 24


class Padding:
    """How the cells of a grid are numbered: row by row, with ``pad`` cells added on every side.

    Attributes:
        pad: At least as wide as any window, so that windows and steps stay inside the arrays.
        width: Cells in a padded row; ``cells``: all of them; ``dtype``: what holds their number.
        sight, starts: The bit sets of hidden cells and where each range's table starts (below 0:
            no table); see ``abmarl.kernels.sight``.
    """

    def __init__(self, rows: int, cols: int, traits: np.ndarray) -> None:
        farthest = max(rows, cols) - 1
        reach = min(max(traits["move_range"].max(), traits["attack_range"].max()), farthest)
        self.pad = int(max(1, traits["view_range"].max(), reach))
        self.rows, self.cols = rows, cols
        self.width = cols + 2 * self.pad
        self.cells = (rows + 2 * self.pad) * self.width
        # Unsigned: numba then needs no code for negative indices.
        self.dtype = np.dtype(np.uint16 if self.cells <= np.iinfo(np.uint16).max else np.uint32)
        if self.cells > np.iinfo(np.int32).max:
            raise ValueError(
                f"A {rows} x {cols} grid with ranges up to {self.pad} is too large; "
                "use a smaller grid or smaller ranges."
            )
        self.starts = np.full(self.pad + 1, -1, np.int64)
        self.sight = np.zeros(1, np.uint64)
        self._blocked = bool(traits["blocking"].any())
        if self._blocked:
            attack = np.minimum(traits["attack_range"], self.pad)
            self._make_tables(np.union1d(traits["view_range"], attack))

    def _make_tables(self, ranges: np.ndarray) -> None:
        reaches = [int(r) for r in ranges if r <= LARGEST_TABLE]
        sizes = [(2 * r + 1) ** 2 * _words(r) for r in reaches]
        self.sight = np.zeros(max(1, sum(sizes)), np.uint64)
        start = 0
        for reach, size in zip(reaches, sizes, strict=True):
            self.starts[reach] = start
            sight_table(reach, _words(reach), self.sight, start)
            start += size

    def scratch(self) -> np.ndarray:
        """Return room for the hidden cells of the largest window; none when nobody blocks."""
        return np.zeros(_words(self.pad) if self._blocked else 0, np.uint64)

    def blank(self, dtype: Any) -> np.ndarray:
        """[cells]: an empty grid, 0 inside and -1 outside."""
        grid = np.full((self.rows + 2 * self.pad, self.width), -1, dtype)
        grid[self.pad : self.pad + self.rows, self.pad : self.pad + self.cols] = 0
        return grid.reshape(-1)

    def ravel(self, row: int, col: int) -> int:
        """Return the number of a cell."""
        return (row + self.pad) * self.width + col + self.pad

    def unravel(self, p: int) -> tuple:
        """Row and column of a cell."""
        return p // self.width - self.pad, p % self.width - self.pad

    def positions(self, cells: np.ndarray) -> np.ndarray:
        """Cells [B, N] as rows and columns, int32 [B, N, 2]."""
        out = np.empty((*cells.shape, 2), np.int32)
        unravel_cells(cells, self.width, self.pad, out)
        return out


def _words(reach: int) -> int:
    return ((2 * reach + 1) ** 2 + 63) // 64
