"""Who the agents of a simulation are: all that is the same in every world."""

import functools
import hashlib

import numpy as np

from abmarl.gridworld.padding import Padding
from abmarl.kernels.compile import JIT

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

    def __missing__(self, agent_id):
        raise ValueError(f"There is no agent {agent_id!r} in this simulation.")

    _asked = None

    def numbers(self, ids: tuple) -> np.ndarray:
        """int64, the numbers of several agents; those asked for last are remembered."""
        if ids != self._asked:
            self._numbers = np.array(list(map(self.__getitem__, ids)), np.int64)
            self._asked = ids
        return self._numbers


class Roster:
    """The agents in their order, with their parameters.

    Attributes:
        ids: The agents' ids; ``index`` maps an id to its number.
        traits: Record array [N] of the agents' parameters.
        kinds: int [K], the encodings, ascending; an agent's kind is its number in it.
        encodings: int32 [1, N], the agents' encodings.
        overlap: bool [K, K], the kinds that may share a cell; ``uniform``: only equal ones do.
        start: [N], initial cells (0: none); ``initial_teams`` int32 [N];
            ``most_team``: what spaces with teams go up to.
        padding: How cells are numbered.
        slot_dtype: Unsigned dtype that holds the number of any agent.
    """

    def __init__(self, rows, cols, overlapping, agents):
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

    @functools.cached_property
    def signature(self) -> np.ndarray:
        """uint8 [32]: tells whether arrays of two simulations mean the same."""
        parts = (self.rows, self.cols, self.padding.pad, self.ids, self.encodings.tolist())
        return np.frombuffer(hashlib.sha256(repr(parts).encode()).digest(), np.uint8)

    def _read_traits(self, agents):
        full = max(self.rows, self.cols) - 1
        self.traits = np.zeros(self.num_agents, TRAITS)
        if not JIT:
            # Uncompiled kernels ask records for attributes as compiled ones do.
            self.traits = self.traits.view(np.recarray)
        for name, value in _OPEN.items():
            self.traits[name] = value
        for name in TRAITS.names:
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

    def _check_size(self, agent, name, value):
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

    def _relate(self, overlapping):
        """Numbers the encodings and says which of them may share a cell."""
        self.kinds, self.traits["kind"] = np.unique(self.traits["encoding"], return_inverse=True)
        self.encodings = np.ascontiguousarray(self.traits["encoding"])[None]
        self.overlap = self.relation(overlapping)
        # With all agents of a cell of one encoding, that encoding stands in ``top``.
        self.uniform = not (self.overlap & ~np.eye(len(self.kinds), dtype=bool)).any()

    def relation(self, mapping) -> np.ndarray:
        """``{encoding: encodings}`` as a bool matrix [kinds, kinds]; others are left out."""
        matrix = np.zeros((len(self.kinds), len(self.kinds)), bool)
        for k, encoding in enumerate(self.kinds):
            matrix[k] = np.isin(self.kinds, list(mapping.get(int(encoding), ())))
        return matrix

    def by_label(self, matrix) -> tuple:
        """A relation of kinds as one of kinds to what stands in ``top``.

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

    def trait(self, name, slot):
        """A parameter of one agent as a Python number."""
        value = self.traits[name].item(slot)
        return None if name in _OPEN and not value > 0 else value

    def set_trait(self, name, slot, value):
        """Changes a parameter of one agent.

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

    def set_initial_team(self, slot, team):
        """Sets the team in which one agent starts; None: that of its encoding.

        Raises:
            ValueError: The simulation was laid out for smaller numbers of teams.
        """
        team = int(self.traits["encoding"][slot]) if team is None else team
        self.check_team(team)
        self.initial_teams[slot] = team

    def check_team(self, team):
        """Refuses a team that spaces and arrays have no room for."""
        if team > self.most_team:
            raise ValueError(
                f"The teams of this simulation go up to {self.most_team}, got {team}; "
                "put an agent into the new team when it is built."
            )
