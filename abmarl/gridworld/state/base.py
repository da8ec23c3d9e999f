"""State components: what an episode starts from."""

from typing import Any, ClassVar

import numpy as np

from abmarl.gridworld.agent import OrientationAgent
from abmarl.gridworld.component import Component, on_listed
from abmarl.gridworld.registry import register
from abmarl.kernels.episode import fill_worlds, reset_ammo, reset_health, reset_orientation
from abmarl.kernels.program import Call


class StateBase(Component):
    """Sets a part of the agents' state at the start of an episode.

    A subclass says what that is (see ``Component``) in ``calls(worlds)``, a list of calls of
    kernels; in ``start`` on the arrays of the listed worlds; or in ``reset`` for a single world.

    Attributes:
        rank: State components work in ascending order of rank, whatever the order in which they
            are given: placement first (0), then by rank and name.
    """

    role = "state"
    methods: ClassVar = {"kernels": ("calls",), "arrays": ("start",), "agents": ("reset",)}
    rank = 2
    calls: Any = None

    def start(self, worlds: Any) -> None:
        """Start an episode in the listed worlds (int64 array)."""
        if self.calls is not None:
            for call in self.calls(worlds):
                call()
            self.check()
        elif self.works_on != "agents":
            raise TypeError(f"{type(self).__name__} must define start(worlds).")

    def check(self) -> None:
        """Raise a ValueError if what was called could not be done."""

    @property
    def may_fail(self) -> bool:
        """Whether an episode may fail to start although others before it did not."""
        return self.works_on != "kernels"

    def steps(self, worlds: Any) -> list:
        """Return what a program runs instead of ``start``; a world below 0 ends the list."""
        if self.works_on == "kernels":
            return self.calls(worlds)
        if self.works_on == "agents":
            return [self.reset]
        return [on_listed(self.start, worlds)]

    def reset(self, worlds: Any = None, **kwargs: Any) -> None:
        """Start an episode.

        Args:
            worlds: bool mask [B] or int array of worlds; all of them by default.
        """
        self.start(world_numbers(worlds, self.store.num_worlds))
        self.store.touch()


def world_numbers(worlds: Any, num_worlds: int) -> np.ndarray:
    """Return a bool mask, a list of worlds or None (all) as an int64 array.

    Raises:
        ValueError: A world does not exist.
    """
    if worlds is None:
        return np.arange(num_worlds)
    worlds = np.asarray(worlds)
    if worlds.dtype == bool:
        if worlds.shape != (num_worlds,):
            raise ValueError(f"A mask of worlds has shape ({num_worlds},), got {worlds.shape}.")
        return np.flatnonzero(worlds)
    if worlds.ndim != 1 or (worlds.size and worlds.dtype.kind not in "iu"):
        raise ValueError("worlds must be a bool mask or a list of ints.")
    worlds = np.unique(worlds.astype(np.int64))
    if worlds.size and (worlds[0] < 0 or worlds[-1] >= num_worlds):
        raise ValueError(f"Worlds are numbered 0 to {num_worlds - 1}, got {worlds.tolist()}.")
    return worlds


@register
class HealthState(StateBase):
    """Gives every agent its initial health, or a uniform one in (0, 1) where it has none."""

    def calls(self, worlds: Any) -> list:
        """Set health, and with it ``active``."""
        return [Call(reset_health, self.store.world, worlds)]


@register
class AmmoState(StateBase):
    """Gives every agent its initial ammo."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._ammo = self.store.require("ammo", np.int32)

    def calls(self, worlds: Any) -> list:
        """Set ``store.ammo``, int32 [B, N]; 0 for agents without ammunition."""
        return [Call(reset_ammo, self.store.world, worlds, self._ammo)]


@register
class OrientationState(StateBase):
    """Gives every agent its initial orientation, or a random one where it has none."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        store = self.store
        self._orientation = store.require("orientation", np.int8)
        self._turning = np.zeros(store.num_agents, bool)
        for agent in self.agents.values():
            self._turning[store.index[agent.id]] = isinstance(agent, OrientationAgent)

    def calls(self, worlds: Any) -> list:
        """Set ``store.orientation``, int8 [B, N], of the agents that have one."""
        given = self._turning, self._orientation
        return [Call(reset_orientation, self.store.world, worlds, *given)]


@register
class TeamState(StateBase):
    """Puts every agent into its initial team; agents without one are in that of their encoding.

    With it, teams are variables: ``store.team`` int32 [B, N], which a simulation may change.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._team = self.store.require("team", np.int32)
        self._team[:] = self.store.initial_teams

    def calls(self, worlds: Any) -> list:
        """Set the teams."""
        return [Call(fill_worlds, worlds, self._team, self.store.initial_teams)]
