"""Action masks: which actions would do something now."""

import numpy as np

from abmarl.gridworld.groups import Layout


class Masks:
    """Keeps the action masks of all channels whose actors make them.

    Args:
        actors: ``{channel: actor}``.
        layout: Function of a channel that says where the masks of its agents lie.
    """

    def __init__(self, actors, layout):
        self._actors, self._layout = actors, layout
        self._arrays = None

    def update(self, parts) -> dict:
        """Makes the masks of the present state, ``{channel: {block: bool array}}``.

        Args:
            parts: Pairs of the actors of some worlds and the number of the first of these.
        """
        if self._arrays is None:
            made = [key for key, actor in self._actors.items() if hasattr(actor, "masks")]
            layouts = {key: self._layout(key) for key in made}
            self._arrays = {key: (np.zeros(one.size, bool), one) for key, one in layouts.items()}
        for actors, low in parts:
            for key, (flat, layout) in self._arrays.items():
                actors[key].masks(flat, layout.slots, layout.shard(low))
        return {key: layout.views(flat) for key, (flat, layout) in self._arrays.items()}


class AgentMasks:
    """The action masks of a single simulation, agent by agent.

    Args:
        store: The store of the simulation.
        actors: ``{channel: actor}``.
    """

    def __init__(self, store, actors):
        self._store, self._actors = store, actors
        self._masks = Masks(actors, self._layout)

    def read(self) -> dict:
        """``{agent id: {channel: bool array}}`` of the present state, fresh arrays."""
        found = {agent_id: {} for agent_id in self._store.ids}
        for key, blocks in self._masks.update([(self._actors, 0)]).items():
            for agent_id, block in blocks.items():
                found[agent_id][key] = block[0, 0].copy()
        return {agent_id: masks for agent_id, masks in found.items() if masks}

    def _layout(self, key):
        actor, ids = self._actors[key], self._store.ids
        blocks = {
            ids[slot]: (np.array([slot]), actor.mask_shape(slot))
            for slot in range(len(ids))
            if actor.form(slot) is not None
        }
        return Layout(blocks, 1, len(ids))
