"""The store: every variable of every agent in every world, as arrays with the world first."""

import numpy as np

from abmarl.gridworld.fields import Field, FieldSlices, declared
from abmarl.gridworld.form import narrow
from abmarl.gridworld.roster import Roster
from abmarl.gridworld.seeding import fresh_seed, world_streams
from abmarl.gridworld.single import SingleWorld
from abmarl.kernels.episode import begin_episodes, fill_worlds
from abmarl.kernels.occupancy import clear_worlds, remove_agents
from abmarl.kernels.program import Call, Program

# Prefix of the fields in which observers remember what the rows of their outputs hold.
SHOWN = "shown:"


class Store(SingleWorld, Roster):
    """The arrays of B worlds of N agents.

    What is the same in all worlds is that of ``Roster``.

    Attributes:
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

    The arrays are changed in place and never replaced. Whoever writes to them outside of the
    components calls ``touch()`` so that cached observations are made anew.

    Writing to ``active`` stops an agent from acting and nothing else: it stays on its cell, where
    others see it, and a blocking one goes on hiding what is behind it; ``remove`` takes agents off
    the grid as well. In a single world ``agent.active = False`` makes an agent hide nothing, and
    ``grid.remove`` takes it off its cell.
    """

    def __init__(self, rows, cols, overlapping, agents):
        super().__init__(rows, cols, overlapping, agents)
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

    def _allocate(self):
        self.version = 0
        self._begin = None
        self._fields = {}
        self._state = None
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

    def __getstate__(self):
        return {**self.__dict__, "walls": None, "_state": None}

    def __setstate__(self, state):
        self.__dict__.update(state)
        # ``walls`` is a view, which copies and pickles would turn into an array of its own.
        size = self.flat_walls.size - 8
        self.walls = self.flat_walls[:size].reshape(self.num_worlds, -1)

    _STATE = (
        "active", "health", "rewards", "cell", "first", "next_", "top", "walls",
        "streams", "sight_streams", "sample_streams",
    )  # fmt: skip

    def state(self) -> dict:
        """Every array that a step may change, by name: the arrays themselves, not copies."""
        if self._state is None:  # kept, as it is asked for in every step that may fail
            self._state = {name: getattr(self, name) for name in self._STATE} | self.fields()
        return dict(self._state)

    def load(self, saved: dict):
        """Copies saved arrays back, which have been checked (see ``saved_state``)."""
        for name, array in self.state().items():
            if name in saved:  # a reset that failed may have declared more
                array[...] = saved[name]
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
        self._begin = self._state = None
        return self._fields[name][0]

    @property
    def position(self) -> np.ndarray:
        """int32 [B, N, 2]: row and column of every agent, or where it was last. A fresh array."""
        return self.padding.positions(self.cell)

    def teams(self) -> np.ndarray:
        """int32 [B, N], or [1, N] while teams do not change: the team of every agent."""
        return self.array("team") if self.has("team") else self.initial_teams[None]

    def touch(self):
        """Says that the state has changed."""
        self.version += 1

    def remove(self, gone):
        """Makes the agents in ``gone``, bool [B, N], inactive and takes them off the grid.

        Raises:
            ValueError: It has another shape or dtype.
        """
        gone = np.asarray(gone)
        if gone.shape != self.active.shape or gone.dtype != bool:
            raise ValueError(
                f"remove takes bool {self.active.shape} (worlds, agents), "
                f"got {gone.dtype} {gone.shape}."
            )
        remove_agents(
            np.ascontiguousarray(gone), self.cell, self.first, self.next_, self.top, self.walls,
            self.active, self.traits,
        )  # fmt: skip
        self.touch()

    # --- episodes and random streams ---

    def clear(self, worlds):
        """Empties the grids of the listed worlds (int64 array)."""
        self.clearing(worlds)()
        self.touch()

    def clearing(self, worlds) -> Call:
        """Empties the grids of the listed worlds, as a call."""
        return Call(clear_worlds, worlds, self.blank, self.first, self.top, self.walls, self.cell)

    def begin(self):
        """Gives the variables of all worlds what an episode starts from."""
        if self._begin is None:
            self._begin = Program(self.beginning(np.arange(self.num_worlds)))
        self._begin()
        self.touch()

    def beginning(self, worlds) -> list:
        """Calls that give the variables of the listed worlds what an episode starts from."""
        calls = [Call(begin_episodes, worlds, self.active, self.health)]
        for array, default, reset in self._fields.values():
            if reset:
                values = array.reshape(self.num_worlds, -1)
                start = np.empty(array.shape[1:], array.dtype)
                start[...] = default
                calls.append(Call(fill_worlds, worlds, values, start.reshape(-1)))
        return calls

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

    def streams_copy(self) -> dict:
        """A copy of the random streams, as ``load`` takes it."""
        return {name: getattr(self, name).copy() for name in self._STATE[-3:]}

    def shard(self, low: int, high: int) -> "Store":
        """The worlds ``low`` to ``high`` as a store of their own, on the same memory."""
        part = object.__new__(Store)
        part.__dict__.update(self.__dict__)
        part.num_worlds = high - low
        part._begin = part._state = None
        part.first_world = self.first_world + low
        part.hidden = self.padding.scratch()
        for name in self._STATE:
            setattr(part, name, getattr(self, name)[low:high])
        part.flat_walls = self.flat_walls[low * self.walls.shape[1] :]
        part._fields = FieldSlices(self, low, high)
        return part
