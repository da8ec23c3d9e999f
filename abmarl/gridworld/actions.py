"""The actions of one step, in the form that actors and their kernels work on."""

import numpy as np

from abmarl.kernels.turns import take_turns


class Actions:
    """Who acts in which order, and what every agent wants on every channel.

    ``actions[key]`` is the array [B, n, ...] of a channel for the agents that have it, in the
    order of the agents (all with one shape). The kernels use the flat buffers instead.

    Attributes:
        turns: int [B, N], the acting agents first, in their order; ``num_turns`` int64 [B].
        buffers: ``{key: (flat array, rows_of)}``, see ``abmarl.gridworld.groups.Layout``.
    """

    def __init__(self, store, actors):
        self.store = store
        self._actors = actors
        self.turns = np.zeros((store.num_worlds, store.num_agents), store.slot_dtype)
        self.num_turns = np.zeros(store.num_worlds, np.int64)
        self.buffers = {}
        self.programs = {}  # of the actors that have processed it

    def take_turns(self, alive, in_random_order=False):
        """Everyone in ``alive`` (bool [B, N]) who is active acts, in order or in a random one."""
        store = self.store
        take_turns(alive, store.active, in_random_order, store.streams, self.turns, self.num_turns)

    def keys(self):
        """The channels."""
        return self.buffers.keys()

    def __contains__(self, key):
        return key in self.buffers

    def __getitem__(self, key) -> np.ndarray:
        flat, rows_of = self.buffers[key]
        actor = self._actors[key]
        slots = np.flatnonzero(rows_of[:, 0] >= 0)
        shapes = {actor.form(slot).shape for slot in slots}
        if len(shapes) > 1:
            raise ValueError(f"Actions {key!r} of the agents have different shapes; no one array.")
        shape = shapes.pop()
        width = int(np.prod(shape, dtype=np.int64))
        worlds = np.arange(self.store.num_worlds)[:, None]
        at = rows_of[slots, 0] + worlds * rows_of[slots, 1]
        return flat[at[:, :, None] + np.arange(width)].reshape(*at.shape, *shape)
