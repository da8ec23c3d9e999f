"""A shard: the worlds of a vectorised simulation that one thread steps."""

import numpy as np

from abmarl.gridworld.actions import Actions
from abmarl.kernels.episode import close_step, end_episodes


class Shard:
    """Some worlds, as a copy of the simulation of their own on slices of the common arrays.

    Shards share no variable state, so that they can be stepped by several threads at once.

    Args:
        sim: The simulation to copy.
        low, high: The worlds that belong to it.
        store, episodes, channels: The arrays of all worlds; the shard works on its slices.
        learning: bool [N], the agents that act and observe.
        random_order: Whether the agents act in a fresh random order each step.
        horizon: Steps after which an episode is cut off; 0: never.
        autoreset: Whether worlds that ended start anew at once.
    """

    def __init__(
        self,
        sim,
        low,
        high,
        store,
        episodes,
        channels,
        learning,
        random_order,
        horizon,
        autoreset,
    ):
        args, kwargs = sim._made_with
        kwargs = {**kwargs, "grid": sim.grid.replicate(store.shard(low, high))}
        if "agents" in kwargs:
            kwargs["agents"] = sim.agents
        self.sim = type(sim)(*args, **kwargs)
        if not self.sim._finalized:
            self.sim.finalize()
        self.low = low
        self.store = self.sim.store
        self.episodes = episodes.shard(low, high)
        self.learning = learning
        self.random_order, self.horizon, self.autoreset = random_order, horizon, autoreset
        self.actions = Actions(self.store, self.sim.actors)
        for key, actor in self.sim.actors.items():
            flat, layout = channels.actions[key]
            self.actions.buffers[key] = actor.buffer(flat, layout.shard(low))
        self.outputs = []
        for observer in self.sim.observers:
            flat, final, layout = channels.observations[observer.key]
            self.outputs.append((observer, flat, final, layout.shard(low)))
        self.everywhere = np.arange(high - low)

    def step(self):
        """One step of the shard's worlds, with the actions that stand in the buffers."""
        store, episodes = self.store, self.episodes
        # Without self-reset, worlds that ended before stand still: nothing is seen or earned there.
        worlds = self.everywhere if self.autoreset else np.flatnonzero(episodes.running)
        self.actions.take_turns(episodes.alive, self.random_order)
        store.rewards.fill(0.0)
        self.sim.play(self.actions)
        if len(worlds) < len(self.everywhere):
            store.rewards[~episodes.running] = 0.0
        done, over = self.sim.done_arrays()
        count = close_step(
            done, over, self.horizon, store.rewards, episodes.running, episodes.alive,
            episodes.length, episodes.returns, episodes.terminated, episodes.truncated,
            episodes.ended,
        )  # fmt: skip
        if count:
            self._end_episodes(np.flatnonzero(episodes.ended))
        self.observe(worlds)

    def _end_episodes(self, worlds):
        episodes, streams = self.episodes, self.store.sight_streams
        before = None if self.autoreset else streams[worlds]
        for observer, _, final, rows_of in self.outputs:
            observer.write(worlds, final, rows_of, True)
        end_episodes(
            worlds, self.store.active, self.learning, self.autoreset, episodes.running,
            episodes.alive, episodes.length, episodes.returns, episodes.final_length,
            episodes.final_returns, episodes.final_active,
        )  # fmt: skip
        if self.autoreset:
            self.sim.start_episode(worlds)
        else:
            streams[worlds] = before  # the running observations show the same once more

    def begin(self, worlds):
        """Starts episodes in the listed worlds, which are numbered within the shard."""
        self.sim.start_episode(worlds)
        episodes = self.episodes
        episodes.running[worlds] = True
        episodes.alive[worlds] = self.learning
        episodes.length[worlds] = 0
        episodes.returns[worlds] = 0.0

    def observe(self, worlds):
        """Brings the observations of the listed worlds up to date."""
        for observer, flat, _, rows_of in self.outputs:
            observer.write(worlds, flat, rows_of, False)
