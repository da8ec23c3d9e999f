"""Observers that show an agent the cells around it."""

import numpy as np
from gymnasium.spaces import Box

from abmarl.gridworld.component import on_listed
from abmarl.gridworld.observer.remembering import RememberingObserver
from abmarl.kernels.program import Call
from abmarl.kernels.windows import count_windows, label_windows


class _WindowObserver(RememberingObserver):
    """A square of cells with the agent in the middle."""

    needs_positions = True

    def null(self, agent):
        """Every cell masked."""
        return np.full(self.space(agent).shape, -2)

    def parameters(self, agent):
        """The view range decides the space."""
        return agent.view_range


class _LabelWindowObserver(_WindowObserver):
    """Windows that show one number per cell."""

    observe_self = True

    def labels(self):
        """int [1 or B, N]: the number that stands for every agent."""
        raise TypeError(f"{type(self).__name__} must define labels().")

    def copies(self) -> bool:
        """Whether the labels of the agents that came last stand in ``store.top`` already."""
        return False

    def steps(self, worlds, flat, rows_of, final):
        """See ``ObserverBase.steps``; labels that are made anew each time cannot be bound."""
        once, again = self.labels(), self.labels()
        if once.__array_interface__["data"] != again.__array_interface__["data"]:
            return [on_listed(self.write, worlds, flat, rows_of, final)]
        return super().steps(worlds, flat, rows_of, final)

    def space(self, agent):
        """Box of the window."""
        side = 2 * agent.view_range + 1
        labels = self.labels()
        return Box(min(-2, int(labels.min())), max(0, int(labels.max())), (side, side), int)

    def calls(self, worlds, flat, rows_of, final) -> list:
        """See ``ObserverBase.write``."""
        store, padding = self.store, self.store.padding
        write = Call(
            label_windows, worlds, self._viewers, rows_of, self.copies(), not store.uniform,
            self.observe_self, final, padding.width, store.cell, store.first, store.next_,
            store.top, store.top.reshape(-1), store.flat_walls, store.active, store.traits,
            self.labels(), padding.sight, padding.starts, store.hidden, store.sight_streams,
            self._shown, self._due, flat,
        )  # fmt: skip
        return [write]


class PositionCenteredEncodingObserver(_LabelWindowObserver):
    """Shows the encodings in the cells around the agent.

    Channel ``position_centered_encoding``: ``Box(-2, max_encoding, (W, W), int)`` with
    ``W = 2 * view_range + 1``: 0 empty, -1 out of bounds, -2 masked by a blocking agent; null all
    -2. Of several agents in a cell a random one is shown.

    Args:
        observe_self: Whether the agent itself is shown in the middle.
    """

    key = "position_centered_encoding"

    def __init__(self, observe_self=True, **kwargs):
        if not isinstance(observe_self, bool | np.bool_):
            raise TypeError(f"observe_self must be True or False, got {observe_self!r}.")
        super().__init__(**kwargs)
        self.observe_self = bool(observe_self)

    def labels(self):
        """int32 [1, N]: the encodings."""
        return self.store.encodings

    def copies(self):
        """So they do: ``top`` holds encodings."""
        return True


class TeamObserver(_LabelWindowObserver):
    """Shows the teams of the agents in the cells around the agent.

    Channel ``team``: as ``PositionCenteredEncodingObserver``, with team numbers.
    """

    key = "team"

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._settled = not any(hasattr(agent, "initial_team") for agent in self.agents.values())

    def labels(self):
        """int32 [1 or B, N]: the teams."""
        return self.store.teams()

    def copies(self):
        """So they do when every team stays an encoding."""
        return self._settled and not self.store.has("team")


class StackedPositionCenteredEncodingObserver(_WindowObserver):
    """Counts the agents of every encoding in the cells around the agent.

    Channel ``stacked_position_centered_encoding``: Box of shape (W, W, E), E the largest encoding:
    layer e - 1 counts the agents of encoding e. Cells out of bounds are -1 and masked ones -2 in
    every layer; null all -2.

    Raises:
        ValueError: An agent has an encoding below 0, for which there is no layer.
    """

    key = "stacked_position_centered_encoding"

    def space(self, agent):
        """Box of the window with a layer per encoding."""
        if self.store.kinds.min() < 1:
            raise ValueError(
                f"{type(self).__name__} has a layer per encoding from 1; "
                f"encodings are {self.store.kinds.tolist()}."
            )
        side = 2 * agent.view_range + 1
        layers = int(self.store.kinds.max())
        return Box(-2, self.store.num_agents, (side, side, layers), int)

    def calls(self, worlds, flat, rows_of, final) -> list:
        """See ``ObserverBase.write``."""
        store, padding = self.store, self.store.padding
        write = Call(
            count_windows, worlds, self._viewers, rows_of, int(store.kinds.max()), final,
            padding.width, store.cell, store.first, store.next_, store.top, store.flat_walls,
            store.active, store.traits, padding.sight, padding.starts, store.hidden, self._shown,
            self._due, flat,
        )  # fmt: skip
        return [write]
