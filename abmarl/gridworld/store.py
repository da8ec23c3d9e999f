"""The store: every variable of every agent in every world, as arrays with the world first."""

import numpy as np

from abmarl.gridworld.fields import Field, Trait, declared
from abmarl.gridworld.padding import Padding
from abmarl.gridworld.seeding import fresh_seed, world_streams
from abmarl.kernels.occupancy import clear_worlds, enter_cell, leave_cell, may_enter

# Parameters of agents, shared by all worlds; one record travels to the kernels as one argument.
TRAITS = np.dtype(
    [
        ("attack_strength", np.float64),
        ("attack_accuracy", np.float64),
        ("initial_health", np.float64),
        ("encoding", np.int32),
        ("kind", np.int32),
        ("view_range", np.int32),
        ("move_range", np.int32),
        ("attack_range", np.int32),
        ("simultaneous_attacks", np.int32),
        ("blocking", np.bool_),
    ],
    align=True,
)

# Prefix of the fields in which observers remember what the rows of their outputs hold.
SHOWN = "shown:"


class Store:
    """The arrays of B worlds of N agents.

    Attributes:
        ids: The agents' ids in their order; ``index`` maps an id to its number.
        traits: Record array [N] of the agents' parameters, the same in all worlds.
        active: bool [B, N], alive and on the grid.
        health: float64 [B, N], in [0, 1].
        rewards: float64 [B, N], added up until they are read.
        cell: int [B, N], padded index of the cell where an agent is or was last; 0: nowhere.
        first, next_: int [B, cells] and [B, N], the agents of a cell as a linked list.
        top: int [B, cells], encoding of the newest agent of a cell, 0 empty, -1 outside.
        walls: uint8 [B, cells], number of blocking agents in a cell ([B, 1] when nobody blocks).
        streams, sight_streams, sample_streams: uint64 [B, 4], the random streams of the worlds:
            for what happens, for what is seen, for sampled actions.

    ``slot_dtype`` is an unsigned dtype that holds the number of any agent.

    The arrays are changed in place and never replaced. Whoever writes to them outside of the
    components calls ``touch()`` so that cached observations are made anew.
    """

    def __init__(self, rows, cols, overlapping, agents):
        self.rows, self.cols, self.num_worlds = rows, cols, 1
        self.ids = list(agents)
        self.index = {name: slot for slot, name in enumerate(self.ids)}
        self.num_agents = len(self.ids)
        self._read_traits(agents)
        self.padding = Padding(rows, cols, self.traits)
        self._relate(overlapping)
        self._allocate()
        self.start = np.zeros(self.num_agents, self.cell.dtype)
        self.initial_teams = self.traits["encoding"].astype(np.int16)
        for slot, agent in enumerate(agents.values()):
            self.set_start(slot, agent.initial_position)
            team = getattr(agent, "initial_team", None)
            if team is not None:
                self.initial_teams[slot] = team
            for name, field in declared(type(agent), Field).items():
                self.require(name, field.dtype, field.shape, field.default, reset=True)
        self.seed()
        for slot, agent in enumerate(agents.values()):
            self._bind(slot, agent)

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

    def _read_traits(self, agents):
        full = max(self.rows, self.cols) - 1
        self.traits = np.zeros(self.num_agents, TRAITS)
        self.traits["initial_health"] = np.nan
        for name in TRAITS.names:
            if name != "kind":
                column = self.traits[name]
                for slot, agent in enumerate(agents.values()):
                    value = getattr(agent, name, None)
                    if isinstance(value, str):
                        value = full
                    if value is not None:
                        column[slot] = value
        for agent in agents.values():
            if agent.encoding is None:
                raise ValueError(
                    f"Agent {agent.id!r} has no encoding; give it one, an int such as 1."
                )

    def _relate(self, overlapping):
        """Numbers the encodings and says which of them may share a cell."""
        self.kinds, self.traits["kind"] = np.unique(self.traits["encoding"], return_inverse=True)
        self.overlap = self.relation(overlapping)
        # With all agents of a cell of one encoding, that encoding stands in ``top``.
        self.uniform = not (self.overlap & ~np.eye(len(self.kinds), dtype=bool)).any()

    def relation(self, mapping) -> np.ndarray:
        """``{encoding: encodings}`` as a bool matrix [kinds, kinds]; others are left out."""
        matrix = np.zeros((len(self.kinds), len(self.kinds)), bool)
        for k, encoding in enumerate(self.kinds):
            matrix[k] = np.isin(self.kinds, list(mapping.get(int(encoding), ())))
        return matrix

    def _allocate(self):
        self.version = 0
        self._fields = {}
        worlds, agents, cells = self.num_worlds, self.num_agents, self.padding.cells
        encodings = self.traits["encoding"]
        extremes = (-2, encodings.min(), encodings.max())
        label = np.result_type(*(np.min_scalar_type(value) for value in extremes))
        number = np.promote_types(np.min_scalar_type(-1 - agents), np.int16)
        self.slot_dtype = np.dtype(f"u{number.itemsize}")
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
        self.encodings = np.ascontiguousarray(encodings)[None]
        self.hidden = self.padding.scratch()

    _STATE = (
        "active", "health", "rewards", "cell", "first", "next_", "top", "walls",
        "streams", "sight_streams", "sample_streams",
    )  # fmt: skip

    # --- arrays ---

    def state(self) -> dict:
        """Every array that a step may change, by name: the arrays themselves, not copies."""
        return {**{name: getattr(self, name) for name in self._STATE}, **self.fields()}

    def load(self, saved: dict):
        """Copies saved arrays back.

        Raises:
            ValueError: They are of a different simulation; nothing has changed.
        """
        load_arrays(self.state(), saved)
        for name, array in self.fields().items():
            if name.startswith(SHOWN):
                # Nobody knows what the rows hold now: null ones are written once more.
                np.maximum(array, 1, out=array)
        self.touch()

    def fields(self) -> dict:
        """The arrays that agent classes and components declared, by name."""
        return {name: entry[0] for name, entry in self._fields.items()}

    def has(self, name: str) -> bool:
        """Whether a field of that name was declared."""
        return name in self._fields

    def array(self, name: str) -> np.ndarray:
        """The array [B, N, ...] of a declared field."""
        return self._fields[name][0]

    def __getattr__(self, name):
        fields = self.__dict__.get("_fields", {})
        if name in fields:
            return fields[name][0]
        raise AttributeError(f"The store has no array {name!r}; declared are {sorted(fields)}.")

    def require(self, name, dtype, shape=(), default=0, reset=False) -> np.ndarray:
        """Declares a field and returns its array [B, N, *shape]; twice gives the same array.

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
        return self._fields[name][0]

    @property
    def position(self) -> np.ndarray:
        """int32 [B, N, 2]: row and column of every agent, or where it was last. A fresh array."""
        return self.padding.positions(self.cell)

    def teams(self) -> np.ndarray:
        """int16 [B, N], or [1, N] while teams do not change: the team of every agent."""
        return self.array("team") if self.has("team") else self.initial_teams[None]

    def touch(self):
        """Says that the state has changed."""
        self.version += 1

    # --- episodes and random streams ---

    def clear(self, worlds):
        """Empties the grids of the listed worlds (int64 array) for a new episode."""
        clear_worlds(
            worlds, self.blank, self.first, self.top, self.walls, self.cell, self.active,
            self.health,
        )  # fmt: skip
        for array, default, reset in self._fields.values():
            if reset:
                array[worlds] = default
        self.touch()

    def seed(self, seed=None, worlds=None, first_world=0) -> int:
        """Starts the random streams of the listed worlds (all by default) anew.

        World k of the store gets the streams of world ``first_world + k`` of the seed. Returns the
        seed, which is drawn from the system when none is given.
        """
        seed = fresh_seed() if seed is None else seed
        for b in range(self.num_worlds) if worlds is None else worlds:
            words = world_streams(seed, first_world + int(b))
            self.streams[b], self.sight_streams[b], self.sample_streams[b] = words
        return seed

    def shard(self, low: int, high: int) -> "Store":
        """The worlds ``low`` to ``high`` as a store of their own, on the same memory."""
        part = object.__new__(Store)
        part.__dict__.update(self.__dict__)
        part.num_worlds = high - low
        part.hidden = self.padding.scratch()
        for name in self._STATE:
            setattr(part, name, getattr(self, name)[low:high])
        part.flat_walls = self.flat_walls[low * self.walls.shape[1] :]
        part._fields = _FieldSlices(self, low, high)
        return part

    # --- the views of single agents ---

    def _bind(self, slot, agent):
        """Moves what the agent holds into the arrays; from then on it reads and writes them."""
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

    def trait(self, name, slot):
        """A parameter of one agent as a Python number."""
        value = self.traits[name].item(slot)
        return None if value != value else value

    def set_trait(self, name, slot, value):
        """Changes a parameter of one agent.

        Raises:
            ValueError: The store was laid out for other values.
        """
        if name == "encoding" and value != self.traits["encoding"][slot]:
            raise ValueError("An agent's encoding cannot change once it is in a simulation.")
        if name == "blocking" and value != self.traits["blocking"][slot]:
            raise ValueError("Whether an agent blocks cannot change once it is in a simulation.")
        if isinstance(value, str):
            value = max(self.rows, self.cols) - 1
        if name == "view_range" and value > self.padding.pad:
            raise ValueError(
                f"view_range can be {self.padding.pad} at most in this simulation, got {value}; "
                "build the simulation with the largest range that is needed."
            )
        self.traits[name][slot] = np.nan if value is None else value
        self.touch()

    def set_start(self, slot, position):
        """Sets the initial cell of one agent; None: a random one."""
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

    def position_of(self, slot):
        """int array (row, column) of one agent of world 0, or None."""
        p = self.cell.item(slot)
        return np.array(self.padding.unravel(p)) if p else None

    def set_position(self, slot, position):
        """Moves one agent of world 0, on the grid if it is there.

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

    def occupants(self, p) -> list:
        """The agents (numbers) of a cell of world 0, in the order in which they came."""
        found, j = [], self.first.item(p)
        while j >= 0:
            found.append(j)
            j = self.next_.item(j)
        return found[::-1]

    def on_grid(self, slot) -> bool:
        """Whether an agent of world 0 stands on a cell."""
        return slot in self.occupants(self.cell.item(slot))

    def may_enter(self, slot, p) -> bool:
        """Whether cell p of world 0 is available to an agent."""
        return may_enter(slot, p, self.first, self.next_, self.top, self.traits, self.overlap)

    def enter(self, slot, p):
        """Puts an agent of world 0 on cell p."""
        enter_cell(slot, p, self.cell, self.first, self.next_, self.top, self.walls, self.traits)
        self.touch()

    def leave(self, slot):
        """Takes an agent of world 0 off the grid."""
        leave_cell(slot, self.cell, self.first, self.next_, self.top, self.walls, self.traits)
        self.touch()


class _FieldSlices(dict):
    """The fields of some worlds of a store; what is declared here is declared there."""

    def __init__(self, store, low, high):
        self._store, self._low, self._high = store, low, high
        super().__init__({name: self._slice(entry) for name, entry in store._fields.items()})

    def _slice(self, entry):
        array, default, reset = entry
        return array[self._low : self._high], default, reset

    def __setitem__(self, name, entry):
        array, default, reset = entry
        whole = self._store.require(name, array.dtype, array.shape[2:], default, reset)
        super().__setitem__(name, self._slice((whole, default, reset)))


def load_arrays(arrays: dict, saved: dict):
    """Copies saved arrays into arrays of the same names, shapes and dtypes.

    Raises:
        ValueError: They do not match; nothing has changed.
    """
    if not isinstance(saved, dict) or saved.keys() != arrays.keys():
        raise ValueError("The saved state is of another simulation: its arrays are different ones.")
    for name, array in arrays.items():
        if saved[name].shape != array.shape or saved[name].dtype != array.dtype:
            raise ValueError(
                f"The saved state is of another simulation: {name!r} is {saved[name].dtype} "
                f"{saved[name].shape}, here {array.dtype} {array.shape}."
            )
    for name, array in arrays.items():
        array[...] = saved[name]
