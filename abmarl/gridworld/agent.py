"""The agents of the grid world: sums of abilities, data without behaviour."""

import copy
import difflib
import warnings
from typing import Any, ClassVar

import numpy as np

from abmarl.gridworld.fields import Field, Trait, declared, integer, number, truth
from abmarl.gridworld.former_names import former_names_in
from abmarl.sim.agents import ActingAgent, ObservingAgent, PrincipleAgent

__all__ = [
    "AmmoAgent",
    "AttackingAgent",
    "GridObservingAgent",
    "GridWorldAgent",
    "MovingAgent",
    "OrientationAgent",
    "TeamAgent",
]

__getattr__ = former_names_in(__name__)

_PLAIN = ("initial_position", "group", "render_shape", "render_color", "render_size", "seed")
_CHANNELS = ("action_space", "null_action", "observation_space", "null_observation")


def _encoding(name: str, value: Any) -> int:
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

    required_parameters: ClassVar[tuple[str, ...]] = ("encoding",)

    encoding = Trait(_encoding)
    blocking = Trait(truth, default=False)
    initial_health = Trait(number(0, 1, open_below=True, optional=True))

    def __init__(
        self,
        initial_position: Any = None,
        blocking: bool = False,
        encoding: int | None = None,
        initial_health: float | None = None,
        group: str | None = None,
        render_shape: str = "o",
        render_color: str = "gray",
        render_size: float = 200,
        **kwargs: Any,
    ) -> None:
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
    def initial_position(self) -> np.ndarray | None:
        """Row and column at the start of every episode, or None.

        The array is read-only: give the agent another one, ``agent.initial_position = (0, 3)``.
        """
        value = self.__dict__["initial_position"]
        if value is not None:
            value.flags.writeable = False  # here, as copies and pickles of arrays are writable
        return value

    @initial_position.setter
    def initial_position(self, value: Any) -> None:
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
    def position(self) -> np.ndarray | None:
        """Where the agent is or was last, an int array (row, column); None before a reset."""
        if self._store is None:
            return self.__dict__.get("position")
        return self._store.position_of(self._slot)

    @position.setter
    def position(self, value: Any) -> None:
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
    def active(self, value: Any) -> None:
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
    def health(self, value: Any) -> None:
        value = number(-np.inf, np.inf)("health", value)
        value = min(max(value, 0.0), 1.0)
        if self._store is None:
            self.__dict__["health"] = value
        else:
            self._store.health[0, self._slot] = value
        self.active = value > 0.0

    def unbound_copy(self) -> "GridWorldAgent":
        """Return a copy outside of any simulation, with nothing of a built simulation on it."""
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

    def check_ignored(self) -> None:
        """Warn of an argument that no class took and that looks like a misspelt parameter."""
        known = [*declared(type(self), Trait), *_PLAIN]
        for name in self._ignored:
            near = difflib.get_close_matches(name, known, 1, 0.8)
            if near:
                warnings.warn(
                    f"Agent {self.id!r} took no notice of {name!r}; did you mean {near[0]!r}?",
                    stacklevel=2,
                )

    def remember_given(self) -> None:
        """Keep what the user gave where a simulation is going to put something in its place.

        These are spaces, to which components add their channels, and ranges like "FULL", which
        become numbers.
        """
        given = {name: getattr(self, name, None) for name in _CHANNELS}
        given = {name: copy.copy(value) for name, value in given.items() if value}
        ranges = {name: getattr(self, name) for name in declared(type(self), Trait)}
        given.update({name: value for name, value in ranges.items() if isinstance(value, str)})
        if given:
            self._given = given

    def release(self) -> None:
        """Take the agent out of its store; it keeps its values as plain attributes."""
        values = {**self._kept(), "position": self.position}
        del self._store, self._slot
        self.__dict__.update(values)

    def _kept(self) -> dict:
        """Return what the store holds for the agent, by name."""
        names = (*declared(type(self), Trait), *declared(type(self), Field), "health", "active")
        return {name: copy.copy(getattr(self, name)) for name in names}

    def _compared(self) -> dict:
        """Return what makes two agents equal: every attribute, wherever it is kept."""
        found = super()._compared()
        for name in ("_store", "_slot", "_given"):
            found.pop(name, None)
        return {**found, **self._kept(), "position": self.position}


def _with_channels(kwargs: dict[str, Any], side: str) -> dict[str, Any]:
    """Spaces of grid agents are dicts that components add their channels to."""
    for name in (f"{side}_space", f"null_{side}"):
        if kwargs.get(name) is None:
            kwargs[name] = {}
    return kwargs


class GridObservingAgent(ObservingAgent, GridWorldAgent):
    """Sees the cells around it.

    Args:
        view_range: How many cells far, an int >= 0, or "FULL" for the whole grid.
    """

    required_parameters: ClassVar[tuple[str, ...]] = ("view_range",)

    view_range = Trait(integer(0, "FULL", bits=16))

    def __init__(self, view_range: int | str | None = None, **kwargs: Any) -> None:
        super().__init__(**_with_channels(kwargs, "observation"))
        if view_range is not None:
            self.view_range = view_range


class MovingAgent(ActingAgent, GridWorldAgent):
    """Moves over the grid.

    Args:
        move_range: How many cells far in one step, an int >= 0, or "FULL" for the whole grid.
    """

    required_parameters: ClassVar[tuple[str, ...]] = ("move_range",)

    move_range = Trait(integer(0, "FULL"))

    def __init__(self, move_range: int | str | None = None, **kwargs: Any) -> None:
        super().__init__(**_with_channels(kwargs, "action"))
        if move_range is not None:
            self.move_range = move_range


class AttackingAgent(ActingAgent, GridWorldAgent):
    """Attacks other agents.

    Args:
        attack_range: How many cells far, an int >= 0, or "FULL" for the whole grid.
        attack_strength: Health that a hit takes, in [0, 1].
        attack_accuracy: Probability that an attack hits, in [0, 1].
        simultaneous_attacks: How many attacks in one step, an int >= 0.
    """

    required_parameters: ClassVar[tuple[str, ...]] = (
        "attack_range",
        "attack_strength",
        "attack_accuracy",
    )

    attack_range = Trait(integer(0, "FULL"))
    attack_strength = Trait(number(0, 1))
    attack_accuracy = Trait(number(0, 1))
    simultaneous_attacks = Trait(integer(0), default=1)

    def __init__(
        self,
        attack_range: int | str | None = None,
        attack_strength: float | None = None,
        attack_accuracy: float | None = None,
        simultaneous_attacks: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**_with_channels(kwargs, "action"))
        if attack_range is not None:
            self.attack_range = attack_range
        if attack_strength is not None:
            self.attack_strength = attack_strength
        if attack_accuracy is not None:
            self.attack_accuracy = attack_accuracy
        self.simultaneous_attacks = simultaneous_attacks


def _no_less_than_0(name: str, value: Any) -> int:
    return max(0, integer()(name, value))


class AmmoAgent(GridWorldAgent):
    """Has ammunition, of which every hit takes one.

    Attributes:
        ammo: How much is left, an int that never falls below 0; ``store.ammo`` int32 [B, N].
            ``AmmoState`` gives every agent its initial ammo.

    Args:
        initial_ammo: Ammo at the start of an episode, an int.
    """

    required_parameters: ClassVar[tuple[str, ...]] = ("initial_ammo",)

    initial_ammo = Trait(integer())
    ammo = Field(np.int32, check=_no_less_than_0)

    def __init__(self, initial_ammo: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if initial_ammo is not None:
            self.initial_ammo = initial_ammo


def _direction(name: str, value: Any) -> int:
    value = integer()(name, value)
    if not 1 <= value <= 4:
        raise ValueError(f"{name} must be 1 (left), 2 (down), 3 (right) or 4 (up), got {value}.")
    return value


def _direction_or_none(name: str, value: Any) -> int | None:
    return None if value is None else _direction(name, value)


class OrientationAgent(GridWorldAgent):
    """Looks in one of four directions: 1 left, 2 down, 3 right, 4 up.

    Attributes:
        orientation: Where it looks now; ``store.orientation`` int8 [B, N], 0 until
            ``OrientationState`` or a move has set it.

    Args:
        initial_orientation: Orientation at the start of an episode; None: a random one.
    """

    initial_orientation = Trait(_direction_or_none)
    orientation = Field(np.int8, check=_direction)

    def __init__(self, initial_orientation: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.initial_orientation = initial_orientation


class TeamAgent(GridWorldAgent):
    """Belongs to a team.

    Args:
        team: An int >= 1; None: the team is the encoding, as for agents of other classes.
    """

    def __init__(self, team: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.initial_team = team

    @property
    def initial_team(self) -> int | None:
        """The team at the start of every episode; None: that of the encoding."""
        return self.__dict__["initial_team"]

    @initial_team.setter
    def initial_team(self, value: Any) -> None:
        value = None if value is None else integer(1)("team", value)
        if self._store is not None:
            self._store.set_initial_team(self._slot, value)
            self._store.touch()
        self.__dict__["initial_team"] = value

    @property
    def team(self) -> int:
        """The team that the agent is in."""
        if self._store is None or not self._store.has("team"):
            return self.encoding if self.initial_team is None else self.initial_team
        return self._store.array("team").item(self._slot)

    @team.setter
    def team(self, value: Any) -> None:
        value = integer(1)("team", value)
        if self._store is None or not self._store.has("team"):
            self.initial_team = value
            return
        self._store.check_team(value)
        self._store.array("team")[0, self._slot] = value
        self._store.touch()


class _EveryGridAgent(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is _HealthAgent:
            return isinstance(instance, GridWorldAgent)
        return super().__instancecheck__(instance)


class _HealthAgent(GridWorldAgent, metaclass=_EveryGridAgent):
    """``HealthAgent`` of earlier releases: any grid agent, all of which have health.

    A class of its own, because existing code derives from it beside other agent classes, in any
    order.
    """


_HealthAgent.__name__ = "HealthAgent"  # which groups and messages are named after
