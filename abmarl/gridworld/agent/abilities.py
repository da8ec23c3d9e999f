"""What agents of the grid world can do: classes to be combined."""

import numpy as np

from abmarl.gridworld.agent.base import GridWorldAgent
from abmarl.gridworld.fields import Field, Trait, integer, number
from abmarl.sim.agents import ActingAgent, ObservingAgent


def _with_channels(kwargs, side):
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

    required_parameters = ("view_range",)

    view_range = Trait(integer(0, "FULL", bits=16))

    def __init__(self, view_range=None, **kwargs):
        super().__init__(**_with_channels(kwargs, "observation"))
        if view_range is not None:
            self.view_range = view_range


class MovingAgent(ActingAgent, GridWorldAgent):
    """Moves over the grid.

    Args:
        move_range: How many cells far in one step, an int >= 0, or "FULL" for the whole grid.
    """

    required_parameters = ("move_range",)

    move_range = Trait(integer(0, "FULL"))

    def __init__(self, move_range=None, **kwargs):
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

    required_parameters = ("attack_range", "attack_strength", "attack_accuracy")

    attack_range = Trait(integer(0, "FULL"))
    attack_strength = Trait(number(0, 1))
    attack_accuracy = Trait(number(0, 1))
    simultaneous_attacks = Trait(integer(0), default=1)

    def __init__(
        self,
        attack_range=None,
        attack_strength=None,
        attack_accuracy=None,
        simultaneous_attacks=1,
        **kwargs,
    ):
        super().__init__(**_with_channels(kwargs, "action"))
        if attack_range is not None:
            self.attack_range = attack_range
        if attack_strength is not None:
            self.attack_strength = attack_strength
        if attack_accuracy is not None:
            self.attack_accuracy = attack_accuracy
        self.simultaneous_attacks = simultaneous_attacks


def _no_less_than_0(name, value):
    return max(0, integer()(name, value))


class AmmoAgent(GridWorldAgent):
    """Has ammunition, of which every hit takes one.

    Attributes:
        ammo: How much is left, an int that never falls below 0; ``store.ammo`` int32 [B, N].
            ``AmmoState`` gives every agent its initial ammo.

    Args:
        initial_ammo: Ammo at the start of an episode, an int.
    """

    required_parameters = ("initial_ammo",)

    initial_ammo = Trait(integer())
    ammo = Field(np.int32, check=_no_less_than_0)

    def __init__(self, initial_ammo=None, **kwargs):
        super().__init__(**kwargs)
        if initial_ammo is not None:
            self.initial_ammo = initial_ammo


def _direction(name, value):
    value = integer()(name, value)
    if not 1 <= value <= 4:
        raise ValueError(f"{name} must be 1 (left), 2 (down), 3 (right) or 4 (up), got {value}.")
    return value


def _direction_or_none(name, value):
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

    def __init__(self, initial_orientation=None, **kwargs):
        super().__init__(**kwargs)
        self.initial_orientation = initial_orientation


class TeamAgent(GridWorldAgent):
    """Belongs to a team.

    Args:
        team: An int >= 1; None: the team is the encoding, as for agents of other classes.
    """

    def __init__(self, team=None, **kwargs):
        super().__init__(**kwargs)
        self.initial_team = team

    @property
    def initial_team(self):
        """The team at the start of every episode; None: that of the encoding."""
        return self.__dict__["initial_team"]

    @initial_team.setter
    def initial_team(self, value):
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
    def team(self, value):
        value = integer(1)("team", value)
        if self._store is None or not self._store.has("team"):
            self.initial_team = value
            return
        self._store.check_team(value)
        self._store.array("team")[0, self._slot] = value
        self._store.touch()
