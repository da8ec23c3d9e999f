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
        for flat, low, high, where in self._tables:
            draw_samples(streams, low, high, where, flat)

    def _table(self, key):
        flat, layout = self._channels.actions[key]
        actor = self._actors[key]
        rows = []
        for slot in layout.slots:
            form = actor.form(slot)
            if not form.integer:
                raise TypeError(f"Channel {key!r} is not of integers; sample it by its space.")
            start, stride = layout.rows_of[slot]
            rows += [(start + k, stride, form.low[k], form.high[k]) for k in range(form.width)]
        table = np.array(rows, np.int64).reshape(-1, 4)
        low, high = np.ascontiguousarray(table[:, 2]), np.ascontiguousarray(table[:, 3])
        return flat, low, high, np.ascontiguousarray(table[:, :2])


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
