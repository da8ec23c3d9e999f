"""The observers: windows around agents, the whole grid, and what agents know of themselves."""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box, Discrete

from abmarl.gridworld.agent import AmmoAgent, GridObservingAgent
from abmarl.gridworld.component import on_listed
from abmarl.gridworld.observer.base import RememberingObserver
from abmarl.gridworld.registry import register
from abmarl.kernels.observation import (
    Labels,
    count_windows,
    label_grids,
    label_windows,
    show_counts,
    show_positions,
)
from abmarl.kernels.program import Call
from abmarl.sim.agents import ObservingAgent


class _WindowObserver(RememberingObserver):
    """A square of cells with the agent in the middle."""

    needs_positions = True

    def null(self, agent: GridObservingAgent) -> Any:
        return np.full(self.space(agent).shape, -2)

    def parameters(self, agent: GridObservingAgent) -> Hashable:
        return agent.view_range


class _LabelWindowObserver(_WindowObserver):
    """Windows that show one number per cell."""

    observe_self = True

    def labels(self) -> np.ndarray:
        """Return the number that stands for every agent, int [1 or B, N]."""
        raise TypeError(f"{type(self).__name__} must define labels().")

    def copies(self) -> bool:
        """Return whether ``store.top`` holds the labels of the agents that came last."""
        return False

    def steps(
        self, worlds: np.ndarray, flat: np.ndarray, rows_of: np.ndarray, final: bool
    ) -> list[Call | Callable]:
        """Do as ``ObserverBase.steps``; labels that are a new array each time cannot be bound."""
        once, again = self.labels(), self.labels()
        if once.__array_interface__["data"] != again.__array_interface__["data"]:
            return [on_listed(self.write, worlds, flat, rows_of, final)]
        return super().steps(worlds, flat, rows_of, final)

    def space(self, agent: GridObservingAgent) -> Space:
        side = 2 * agent.view_range + 1
        labels = self.labels()
        return Box(min(-2, int(labels.min())), max(0, int(labels.max())), (side, side), np.int_)

    def calls(
        self, worlds: np.ndarray, flat: np.ndarray, rows_of: np.ndarray, final: bool
    ) -> list[Call]:
        views = self.views(worlds, flat, rows_of, final)
        mixed = not self.store.uniform
        labels = Labels(self.labels(), self.copies(), mixed, self.observe_self)
        return [Call(label_windows, self.store.world, views, labels)]


@register
class PositionCenteredEncodingObserver(_LabelWindowObserver):
    """Shows the encodings in the cells around the agent.

    Channel ``position_centered_encoding``: ``Box(-2, max_encoding, (W, W), int)`` with
    ``W = 2 * view_range + 1``: 0 empty, -1 out of bounds, -2 masked by a blocking agent; null all
    -2. Of several agents in a cell a random one is shown.

    Args:
        observe_self: Whether the agent itself is shown in the middle.
    """

    key = "position_centered_encoding"

    def __init__(self, observe_self: bool = True, **kwargs: Any) -> None:
        if not isinstance(observe_self, bool | np.bool_):
            raise TypeError(f"observe_self must be True or False, got {observe_self!r}.")
        super().__init__(**kwargs)
        self.observe_self = bool(observe_self)

    def labels(self) -> np.ndarray:
        return self.store.encodings

    def copies(self) -> bool:
        return True


@register
class TeamObserver(_LabelWindowObserver):
    """Shows the teams of the agents in the cells around the agent.

    Channel ``team``: as ``PositionCenteredEncodingObserver``, with team numbers.
    """

    key = "team"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._settled = not any(hasattr(agent, "initial_team") for agent in self.agents.values())

    def labels(self) -> np.ndarray:
        return self.store.teams()

    def copies(self) -> bool:
        return self._settled and not self.store.has("team")


@register
class StackedPositionCenteredEncodingObserver(_WindowObserver):
    """Counts the agents of every encoding in the cells around the agent.

    Channel ``stacked_position_centered_encoding``: Box of shape (W, W, E), E the largest encoding:
    layer e - 1 counts the agents of encoding e. Cells out of bounds are -1 and masked ones -2 in
    every layer; null all -2.

    Raises:
        ValueError: An agent has an encoding below 0, for which there is no layer.
    """

    key = "stacked_position_centered_encoding"

    def space(self, agent: GridObservingAgent) -> Space:
        if self.store.kinds.min() < 1:
            raise ValueError(
                f"{type(self).__name__} has a layer per encoding from 1; "
                f"encodings are {self.store.kinds.tolist()}."
            )
        side = 2 * agent.view_range + 1
        layers = int(self.store.kinds.max())
        return Box(-2, self.store.num_agents, (side, side, layers), np.int_)

    def calls(
        self, worlds: np.ndarray, flat: np.ndarray, rows_of: np.ndarray, final: bool
    ) -> list[Call]:
        views = self.views(worlds, flat, rows_of, final)
        return [Call(count_windows, self.store.world, views, int(self.store.kinds.max()))]


@register
class AbsoluteEncodingObserver(RememberingObserver):
    """Shows the encodings in all cells of the grid.

    Channel ``absolute_encoding``: ``Box(-2, max_encoding, (rows, cols), int)``: 0 empty, -1 the
    cell of the observer itself, -2 beyond its view range or masked by a blocking agent; null all
    -2. Of several agents in another cell a random one is shown.
    """

    key = "absolute_encoding"
    needs_positions = True

    def parameters(self, agent: GridObservingAgent) -> Hashable:
        return ()

    def space(self, agent: GridObservingAgent) -> Space:
        kinds = self.store.kinds
        low, high = min(-2, int(kinds.min())), max(0, int(kinds.max()))
        return Box(low, high, (self.rows, self.cols), np.int_)

    def null(self, agent: GridObservingAgent) -> Any:
        return np.full((self.rows, self.cols), -2)

    def calls(
        self, worlds: np.ndarray, flat: np.ndarray, rows_of: np.ndarray, final: bool
    ) -> list[Call]:
        views = self.views(worlds, flat, rows_of, final)
        labels = Labels(self.store.encodings, self.store.uniform, not self.store.uniform, True)
        return [Call(label_grids, self.store.world, views, labels)]


@register
class AbsolutePositionObserver(RememberingObserver):
    """Shows the agent where it is.

    Channel ``position``: ``Box([0, 0], [rows - 1, cols - 1], int)``, row and column; null zeros.
    Any observing agent has it, with a view range or without.
    """

    key = "position"
    needs_positions = True
    supported_agent_type = ObservingAgent

    def parameters(self, agent: ObservingAgent) -> Hashable:
        return ()

    def space(self, agent: ObservingAgent) -> Space:
        return Box(np.zeros(2, int), np.array([self.rows - 1, self.cols - 1]), dtype=np.int_)

    def null(self, agent: ObservingAgent) -> Any:
        return np.zeros(2, int)

    def calls(
        self, worlds: np.ndarray, flat: np.ndarray, rows_of: np.ndarray, final: bool
    ) -> list[Call]:
        return [Call(show_positions, self.store.world, self.views(worlds, flat, rows_of, final))]


@register
class AmmoObserver(RememberingObserver):
    """Shows the agent how much ammo it has.

    Channel ``ammo``, for observing agents that are an ``AmmoAgent``:
    ``Discrete(initial_ammo + 1)``; null 0. More than the initial ammo is shown as that much.
    """

    key = "ammo"
    supported_agent_type = AmmoAgent

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._most = np.zeros(self.store.num_agents, np.int64)
        for slot in self._viewers:
            self._most[slot] = self.form(slot).high[0]
        has_any = len(self._viewers) > 0
        self._ammo = self.store.ammo if has_any else np.zeros((self.store.num_worlds, 0), np.int32)

    def supports(self, agent: ObservingAgent) -> bool:
        return super().supports(agent) and isinstance(agent, ObservingAgent)

    def parameters(self, agent: AmmoAgent) -> Hashable:
        return agent.initial_ammo

    def space(self, agent: AmmoAgent) -> Space:
        return Discrete(max(0, agent.initial_ammo) + 1)

    def null(self, agent: AmmoAgent) -> Any:
        return 0

    def calls(
        self, worlds: np.ndarray, flat: np.ndarray, rows_of: np.ndarray, final: bool
    ) -> list[Call]:
        views = self.views(worlds, flat, rows_of, final)
        return [Call(show_counts, self.store.world, views, self._ammo, self._most)]
