"""Random actions of all worlds."""

import numpy as np

from abmarl.kernels.streams import draw_samples


class Sampler:
    """Draws uniform actions into arrays of its own, laid out like those that are received.

    In every world channel by channel, in a channel agent by agent, entry by entry.
    """

    def __init__(self, channels, actors):
        self._channels = channels
        self._actors = actors
        self._tables = None

    def sample(self, streams) -> dict:
        """Draws actions for all agents from the worlds' streams, uint64 [B, 4].

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

    def _table(self, key, flat, layout):
        actor = self._actors[key]
        if not all(form.integer for form in actor.forms):
            raise TypeError(f"Channel {key!r} is not of integers; sample it by its space.")
        widths = np.array([form.width for form in actor.forms])
        low, high = np.zeros((2, len(widths), widths.max()), np.int64)
        for number, form in enumerate(actor.forms):
            low[number, : form.width], high[number, : form.width] = form.low, form.high
        return layout.slots, layout.rows_of, actor.form_of, low, high, widths, flat
