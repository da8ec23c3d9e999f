"""What a vectorised simulation returns: its arrays, group by group."""

import numpy as np


class Outputs:
    """Views or copies of the arrays of all worlds.

    Args:
        episodes: The ``Episodes``.
        channels: The ``Channels``.
        groups: The groups by name.
        copy: Whether everything returned is fresh; else the next step overwrites it.
    """

    def __init__(self, episodes, channels, groups, copy):
        self._episodes, self._groups, self._copy = episodes, groups, copy
        self._obs = channels.observation_views()
        self._final = channels.observation_views(final=True)
        self._views = {}

    def observations(self) -> dict:
        """The present observations."""
        return self.of_channels(self._obs)

    def by_group(self, array) -> dict:
        """``{group: array [B, n]}`` of an array [B, N] that is never replaced."""
        if self._copy:
            return {name: array[:, group.index].copy() for name, group in self._groups.items()}
        views = self._views.get(id(array))
        if views is None:
            views = {name: array[:, group.index] for name, group in self._groups.items()}
            if all(isinstance(group.index, slice) for group in self._groups.values()):
                self._views[id(array)] = views
        return dict(views)

    def of_channels(self, views) -> dict:
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
