"""The arrays through which a vectorised simulation exchanges actions and observations."""

from typing import Any, NoReturn

import numpy as np

from abmarl.gridworld.actions import as_array, outside
from abmarl.gridworld.actor.base import ActorBase
from abmarl.gridworld.component import ChannelComponent
from abmarl.gridworld.groups import Group, Layout
from abmarl.kernels.episode import EpisodeState, copy_within
from abmarl.kernels.streams import draw_samples
from abmarl.sim.layout import SpaceLayout


class Channels:
    """One flat array per channel, laid out in blocks ``[num_envs, n, *shape]`` per group.

    Args:
        sim: The simulation that the spaces and groups are of.
        groups: The learning groups by name.
        num_worlds: How many worlds.

    Attributes:
        actions: ``{key: (flat array, layout)}``.
        observations: ``{key: (flat array, flat array of final observations, layout)}``.
    """

    def __init__(self, sim: Any, groups: dict[str, Group], num_worlds: int) -> None:
        self.groups = groups
        self._sim = sim
        self._num_worlds = num_worlds
        self.actions: dict[Any, tuple[np.ndarray, Layout]] = {}
        self.observations: dict[Any, tuple[np.ndarray, np.ndarray, Layout]] = {}
        for key, actor in sim.actors.items():
            layout = self._layout(actor, groups)
            self.actions[key] = np.zeros(layout.size, actor.dtype), layout
        for observer in sim.observers:
            # Those who only observe have rows too: observers look for everyone whom they support.
            layout = self._layout(observer, sim.groups)
            flat, final = (np.zeros(layout.size, observer.dtype) for _ in range(2))
            self.observations[observer.key] = flat, final, layout
        self.action_views = self.by_group(
            {key: layout.views(flat) for key, (flat, layout) in self.actions.items()}
        )
        self._targets = {
            name: {key: self._target(group, key) for key in self.action_views[name]}
            for name, group in groups.items()
        }

    def _target(self, group: Group, key: str) -> tuple:
        """Return where actions go, also as a flat view, their form, common bounds and name."""
        form = self._form(self._sim.actors[key], group)
        common = form.leaves[0].common if form.integer and not form.nested else None
        view = self.action_views[group.name][key]
        return view, view.reshape(-1), form, common, f"actions[{group.name!r}][{key!r}]"

    def observation_views(self, final: bool = False) -> dict:
        """``{group: {channel: array [B, n, *shape]}}``, views of the flat arrays."""
        return self.by_group(
            {
                key: layout.views(last if final else flat)
                for key, (flat, last, layout) in self.observations.items()
            }
        )

    def observed_blocks(self) -> list:
        """Return all present and final observations as arrays ``[B, n, *shape]``."""
        return [
            block
            for flat, last, layout in self.observations.values()
            for array in (flat, last)
            for block in layout.views(array).values()
        ]

    def receive(self, actions: Any) -> None:
        """Check a user's actions while copying them to where the shards find them.

        Args:
            actions: ``{group: {channel: integer array [B, n, *shape]}}``.

        Raises:
            TypeError, ValueError: A group, channel, shape, kind or range is wrong.
        """
        if not isinstance(actions, dict):
            raise TypeError(f"actions must be a dict by group, got {type(actions).__name__}.")
        if actions.keys() != self.groups.keys():
            raise ValueError(_difference("group", "actions", self.groups, actions))
        for name, views in self.action_views.items():
            given = actions[name]
            if not isinstance(given, dict):
                raise TypeError(f"actions[{name!r}] must be a dict by channel, got {given!r:.60}.")
            if given.keys() != views.keys():
                raise ValueError(_difference("channel", f"actions[{name!r}]", views, given))
            for key, (view, flat, form, common, label) in self._targets[name].items():
                array = as_array(given[key], view.shape, form.integer, label)
                if common is not None and array.flags.c_contiguous:
                    fine = copy_within(array.reshape(-1), *common, flat)
                else:
                    fine = not outside(array.reshape(*array.shape[:2], -1), form).any()
                    np.copyto(view, array, casting="unsafe")
                if not fine:
                    self._refuse(name, key, array, form)

    def _refuse(self, name: str, key: str, array: np.ndarray, form: SpaceLayout) -> NoReturn:
        wrong = outside(array.reshape(*array.shape[:2], -1), form)
        b, k = np.unravel_index(np.argmax(wrong), wrong.shape)
        raise ValueError(
            f"Action of agent {self.groups[name].agent_ids[k]!r} in world {b} on channel {key!r} "
            f"is {array[b, k].tolist()}, which is not in {form.space}."
        )

    def _layout(self, component: ChannelComponent, groups: dict[str, Group]) -> Layout:
        blocks = {}
        for name, group in groups.items():
            form = self._form(component, group)
            if form is not None:
                blocks[name] = group.slots, form.shape
        return Layout(blocks, self._num_worlds, len(self._sim.agents))

    def mask_layout(self, key: str) -> Layout:
        """Return the layout of the action masks of a channel."""
        actor = self._sim.actors[key]
        blocks = {
            name: (group.slots, actor.mask_shape(int(group.slots[0])))
            for name, group in self.groups.items()
            if self._form(actor, group) is not None
        }
        return Layout(blocks, self._num_worlds, len(self._sim.agents))

    @staticmethod
    def _form(component: ChannelComponent, group: Group) -> SpaceLayout:
        if len(np.unique(component.form_of[group.slots])) > 1:
            raise ValueError(
                f"The agents of group {group.name!r} have different spaces on channel "
                f"{component.key!r}; give them different group names."
            )
        return component.form(int(group.slots[0]))

    def by_group(self, views: dict) -> dict:
        """``{channel: {group: array}}`` turned into ``{group: {channel: array}}``."""
        return {
            name: {key: blocks[name] for key, blocks in views.items() if name in blocks}
            for name in self.groups
        }


class Outputs:
    """Views or copies of the arrays of all worlds.

    Args:
        episodes: The ``EpisodeState``.
        channels: The ``Channels``.
        groups: The groups by name.
        copy: Whether everything returned is fresh; else the next step overwrites it.
    """

    def __init__(
        self, episodes: EpisodeState, channels: Channels, groups: dict[str, Group], copy: bool
    ) -> None:
        self._episodes, self._groups, self._copy = episodes, groups, copy
        self._obs = channels.observation_views()
        self._final = channels.observation_views(final=True)
        self._views: dict[int, dict] = {}

    def observations(self) -> dict:
        """Return the present observations."""
        return self.of_channels(self._obs)

    def by_group(self, array: np.ndarray) -> dict:
        """``{group: array [B, n]}`` of an array [B, N] that is never replaced."""
        if self._copy:
            return {name: array[:, group.index].copy() for name, group in self._groups.items()}
        views = self._views.get(id(array))
        if views is None:
            views = {name: array[:, group.index] for name, group in self._groups.items()}
            if all(isinstance(group.index, slice) for group in self._groups.values()):
                self._views[id(array)] = views
        return dict(views)

    def of_channels(self, views: dict) -> dict:
        """``{group: {channel: array}}`` of such views."""
        if not self._copy:
            return {name: dict(channels) for name, channels in views.items()}
        return {
            name: {key: array.copy() for key, array in channels.items()}
            for name, channels in views.items()
        }

    def infos(self) -> dict:
        """See ``VectorSimulation.step``."""
        episodes = self._episodes
        copied = np.copy if self._copy else np.asarray
        return {
            "active": self.by_group(episodes.alive),
            "ended": copied(episodes.ended),
            "final_obs": self.of_channels(self._final),
            "final_active": copied(episodes.final_active),
            "episode": {
                "return": self.by_group(episodes.final_returns),
                "length": copied(episodes.final_length),
            },
        }


class Sampler:
    """Draws uniform actions into arrays of its own, laid out like those that are received.

    In every world channel by channel, in a channel agent by agent, entry by entry.
    """

    def __init__(self, channels: Channels, actors: dict[str, ActorBase]) -> None:
        self._channels = channels
        self._actors = actors
        self._tables: list[tuple] | None = None

    def sample(self, streams: np.ndarray) -> dict:
        """Draw actions for all agents from the worlds' streams, uint64 [B, 4].

        Returns:
            ``{group: {channel: array [B, n, *shape]}}``, the same arrays every time.

        Raises:
            TypeError: A channel is not of integers.
        """
        if self._tables is None:
            views, tables = {}, []
            for key, (received, layout) in self._channels.actions.items():
                flat = np.zeros_like(received)
                tables.append(self._table(key, flat, layout))
                views[key] = layout.views(flat)
            self._tables, self._views = tables, self._channels.by_group(views)
        for table in self._tables:
            draw_samples(streams, *table)
        return self._views

    def _table(self, key: str, flat: np.ndarray, layout: Layout) -> tuple:
        actor = self._actors[key]
        if not all(form.integer for form in actor.forms):
            raise TypeError(f"Channel {key!r} is not of integers; sample it by its space.")
        widths = np.array([form.width for form in actor.forms])
        low, high = np.zeros((2, len(widths), widths.max()), np.int64)
        for number, form in enumerate(actor.forms):
            low[number, : form.width], high[number, : form.width] = form.low, form.high
        return layout.slots, layout.rows_of, actor.form_of, low, high, widths, flat


def _difference(what: str, where: str, expected: dict, given: dict) -> str:
    missing = [name for name in expected if name not in given]
    unknown = [name for name in given if name not in expected]
    problem = f"has no {what} {missing[0]!r}" if missing else f"has unknown {what} {unknown[0]!r}"
    return f"{where} {problem}; it needs exactly the {what}s {list(expected)}."
