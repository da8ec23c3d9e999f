"""What all agents of the grid world have in common."""

import copy
import difflib
import warnings

import numpy as np

from abmarl.gridworld.fields import Field, Trait, declared, integer, number, truth
from abmarl.sim.agents import PrincipleAgent

_PLAIN = ("initial_position", "group", "render_shape", "render_color", "render_size", "seed")
_CHANNELS = ("action_space", "null_action", "observation_space", "null_observation")


def _encoding(name, value):
    value = integer()(name, value)
    if value in (0, -1, -2):
        raise ValueError(
            f"encoding must not be 0 (empty), -1 (out of bounds) or -2 (masked), got {value}."
        )
    return value


class GridWorldAgent(PrincipleAgent):
    """Something that has a place on the grid: an agent, a wall, a resource.

    Args:
        encoding: How observers show it: an int other than 0 (empty), -1 (out of bounds) and
            -2 (masked).
        initial_position: Row and column where it starts every episode; None: a random cell.
        blocking: Whether it hides what is behind it.
        initial_health: Health at the start of an episode, in (0, 1]; None: a random one.
        group: Name of the group that it belongs to in a vectorised simulation; by default
            agents of equal class, parameters and spaces form one.
        render_shape, render_color, render_size: How it is drawn, in matplotlib's terms.

    Raises:
        TypeError, ValueError: A parameter is of the wrong kind or out of its range.
    """

    # The store that holds the agent's traits and fields, and its place there; None while the
    # agent is in no simulation.
    _store = None
    _slot = -1

    required_parameters = ("encoding",)

    encoding = Trait(_encoding)
    blocking = Trait(truth, default=False)
    initial_health = Trait(number(0, 1, open_below=True, optional=True))

    def __init__(
        self,
        initial_position=None,
        blocking=False,
        encoding=None,
        initial_health=None,
        group=None,
        render_shape="o",
        render_color="gray",
        render_size=200,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if encoding is not None:
            self.encoding = encoding
        self.initial_position = initial_position
        self.blocking = blocking
        self.initial_health = initial_health
        if group is not None and not (isinstance(group, str) and group):
            raise TypeError(f"group must be a name, got {group!r}.")
        self.group = group
        self.render_shape = render_shape
        self.render_color = render_color
        self.render_size = render_size

    @property
    def initial_position(self):
        """Row and column at the start of every episode, or None.

        The array is read-only: give the agent another one, ``agent.initial_position = (0, 3)``.
        """
        value = self.__dict__["initial_position"]
        if value is not None:
            value.flags.writeable = False  # here, as copies and pickles of arrays are writable
        return value

    @initial_position.setter
    def initial_position(self, value):
        if value is not None:
            given, value = value, np.asarray(value)
            if value.shape != (2,) or value.dtype.kind not in "iuf" or (value % 1 != 0).any():
                raise ValueError(
                    f"initial_position must be a row and a column, like (0, 3), got {given!r}."
                )
            value = value.astype(int)
        if self._store is not None:
            self._store.set_start(self._slot, value)
        self.__dict__["initial_position"] = value

    @property
    def position(self):
        """int array (row, column): where the agent is, or was last; None before the first reset."""
        if self._store is None:
            return self.__dict__.get("position")
        return self._store.position_of(self._slot)

    @position.setter
    def position(self, value):
        if value is not None:
            value = np.asarray(value)
            if value.shape != (2,) or value.dtype.kind not in "iu":
                raise ValueError(f"position must be a row and a column, got {value!r}.")
        if self._store is None:
            self.__dict__["position"] = value
        elif value is None:
            raise ValueError(f"Agent {self.id!r} is in a simulation, its position cannot be None.")
        else:
            self._store.set_position(self._slot, value)

    @property
    def active(self) -> bool:
        """Whether the agent is alive and takes part."""
        if self._store is None:
            return self.__dict__.get("active", True)
        return self._store.active.item(self._slot)

    @active.setter
    def active(self, value):
        value = truth("active", value)
        if self._store is None:
            self.__dict__["active"] = value
        else:
            self._store.set_active(self._slot, value)

    @property
    def health(self) -> float:
        """Clamped to [0, 1]; setting it sets ``active`` to ``health > 0``."""
        if self._store is None:
            return self.__dict__.get("health", 1.0)
        return self._store.health.item(self._slot)

    @health.setter
    def health(self, value):
        value = number(-np.inf, np.inf)("health", value)
        value = min(max(value, 0.0), 1.0)
        if self._store is None:
            self.__dict__["health"] = value
        else:
            self._store.health[0, self._slot] = value
        self.active = value > 0.0

    def unbound_copy(self):
        """The same agent outside of any simulation, with nothing of a built simulation on it."""
        twin = copy.copy(self)
        twin.__dict__.update(self._kept())
        for name in ("_store", "_slot", "position"):
            twin.__dict__.pop(name, None)
        given = twin.__dict__.pop("_given", {})
        twin.__dict__.update({name: given[name] for name in given if name not in _CHANNELS})
        for name in _CHANNELS:
            if hasattr(twin, name):
                setattr(twin, name, dict(given.get(name, {})))
        return twin

    def check_ignored(self):
        """Warns of an argument that no class took and that looks like a misspelt parameter."""
        known = [*declared(type(self), Trait), *_PLAIN]
        for name in self._ignored:
            near = difflib.get_close_matches(name, known, 1, 0.8)
            if near:
                warnings.warn(
                    f"Agent {self.id!r} took no notice of {name!r}; did you mean {near[0]!r}?",
                    stacklevel=2,
                )

    def remember_given(self):
        """Keeps what the user gave where a simulation is going to put something in its place.

        These are spaces, to which components add their channels, and ranges like "FULL", which
        become numbers.
        """
        given = {name: getattr(self, name, None) for name in _CHANNELS}
        given = {name: copy.copy(value) for name, value in given.items() if value}
        ranges = {name: getattr(self, name) for name in declared(type(self), Trait)}
        given.update({name: value for name, value in ranges.items() if isinstance(value, str)})
        if given:
            self._given = given

    def release(self):
        """Takes the agent out of its store; it keeps its values as plain attributes."""
        values = {**self._kept(), "position": self.position}
        del self._store, self._slot
        self.__dict__.update(values)

    def _kept(self) -> dict:
        """What the store holds for the agent, by name."""
        names = (*declared(type(self), Trait), *declared(type(self), Field), "health", "active")
        return {name: copy.copy(getattr(self, name)) for name in names}

    def _compared(self) -> dict:
        """What makes two agents equal: every attribute, wherever it is kept."""
        found = super()._compared()
        for name in ("_store", "_slot", "_given"):
            found.pop(name, None)
        return {**found, **self._kept(), "position": self.position}
