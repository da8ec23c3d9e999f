"""Random actions and action masks of all worlds."""

import numpy as np

from abmarl.kernels.streams import draw_samples


class Sampler:
    """Fills the flat action arrays with uniform actions.

    In every world channel by channel, in a channel agent by agent, entry by entry.
    """

    def __init__(self, channels, actors):
        self._channels = channels
        self._actors = actors
        self._tables = None

    def sample(self, streams):
        """Draws actions for all agents from the worlds' streams, uint64 [B, 4].

        Raises:
            TypeError: A channel is not of integers.
        """
        if self._tables is None:
            self._tables = [self._table(key) for key in self._channels.actions]
        for table in self._tables:
            draw_samples(streams, *table)

    def _table(self, key):
        flat, layout = self._channels.actions[key]
        actor = self._actors[key]
        if not all(form.integer for form in actor.forms):
            raise TypeError(f"Channel {key!r} is not of integers; sample it by its space.")
        widths = np.array([form.width for form in actor.forms])
        low, high = np.zeros((2, len(widths), widths.max()), np.int64)
        for number, form in enumerate(actor.forms):
            low[number, : form.width], high[number, : form.width] = form.low, form.high
        return layout.slots, layout.rows_of, actor.form_of, low, high, widths, flat


class Masks:
    """Keeps the action masks of all channels whose actors make them."""

    def __init__(self, channels, actors):
        self._channels = channels
        self._actors = actors
        self._arrays = None

    def update(self, shards) -> dict:
        """Makes the masks of the present state, ``{group: {channel: bool array}}``."""
        if self._arrays is None:
            layouts = {
                key: self._channels.mask_layout(key)
                for key, actor in self._actors.items()
                if hasattr(actor, "masks")
            }
            self._arrays = {
                key: (np.zeros(layout.size, bool), layout) for key, layout in layouts.items()
            }
        for shard in shards:
            for key, (flat, layout) in self._arrays.items():
                shard.sim.actors[key].masks(flat, layout.slots, layout.shard(shard.low))
        views = {key: layout.views(flat) for key, (flat, layout) in self._arrays.items()}
        return self._channels.by_group(views)
