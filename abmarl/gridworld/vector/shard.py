"""A shard: the worlds of a vectorised simulation that one thread steps."""

from typing import Any

import numpy as np

from abmarl.gridworld.actions import Actions
from abmarl.gridworld.store import Store
from abmarl.gridworld.vector.channels import Channels
from abmarl.kernels.episode import EpisodeState, clear_rewards, close_step, end_episodes
from abmarl.kernels.program import Call, Program
from abmarl.kernels.turns import take_turns


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
        autoreset: Whether worlds that ended are reset at once.

    Attributes:
        program: A step of the shard's worlds, with the actions that stand in the buffers.
    """

    def __init__(
        self,
        sim: Any,
        low: int,
        high: int,
        store: Store,
        episodes: EpisodeState,
        channels: Channels,
        learning: np.ndarray,
        random_order: bool,
        horizon: int | None,
        autoreset: bool,
    ) -> None:
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
        self.outputs, self._views = [], []
        for observer in self.sim.observers:
            flat, final, layout = channels.observations[observer.key]
            self.outputs.append((observer, flat, final, layout.shard(low)))
            self._views.append((layout.views(flat), layout.views(final)))
        self.everywhere = np.arange(high - low)
        self._ends = np.full(high - low, -1)
        self._going_on = self.everywhere.copy()
        self.program = Program(self.steps())

    def steps(self) -> list:
        """Return what the program runs, in order."""
        store, sim, episodes, actions = self.store, self.sim, self.episodes, self.actions
        steps = [
            Call(
                take_turns, episodes.alive, store.active, self.random_order, store.streams,
                actions.turns, actions.num_turns,
            ),
            Call(clear_rewards, store.rewards),
            *sim.play_steps(actions),
        ]  # fmt: skip
        if not self.autoreset:
            steps.append(self._stand_still)
        steps += sim.any_done.steps()
        done, over = sim.any_done.agents_done, sim.any_done.worlds_done
        steps.append(
            Call(close_step, episodes, done, over, self.horizon, store.rewards, self._ends)
        )
        if self.autoreset:
            for observer, _, final, rows_of in self.outputs:
                steps += observer.steps(self._ends, final, rows_of, True)
        ended = self._ends, store.active, self.learning, self.autoreset
        steps.append(Call(end_episodes, episodes, *ended))
        if self.autoreset:
            steps += sim.start_steps(self._ends)
        for observer, flat, _, rows_of in self.outputs:
            steps += observer.steps(self._going_on, flat, rows_of, False)
        return steps if self.autoreset else [*steps, self._keep_final]

    def _stand_still(self) -> None:
        """Worlds that ended before stay as they are: nothing is seen or earned there."""
        running = np.flatnonzero(self.episodes.running)
        self._going_on[: len(running)] = running
        self._going_on[len(running) : len(running) + 1] = -1
        self.store.rewards[~self.episodes.running] = 0.0

    def _keep_final(self) -> None:
        """Write final observations of worlds that ended and are not reset."""
        ended = self.low + np.flatnonzero(self.episodes.ended)
        for views, finals in self._views:
            for block, final in zip(views.values(), finals.values(), strict=True):
                final[ended] = block[ended]

    def begin(self, worlds: Any) -> None:
        """Start episodes in the listed worlds, which are numbered within the shard."""
        self.sim.start_episode(worlds)
        episodes = self.episodes
        episodes.running[worlds] = True
        episodes.alive[worlds] = self.learning
        episodes.length[worlds] = 0
        episodes.returns[worlds] = 0.0

    def observe(self, worlds: Any) -> None:
        """Bring the observations of the listed worlds up to date."""
        for observer, flat, _, rows_of in self.outputs:
            observer.write(worlds, flat, rows_of, False)
