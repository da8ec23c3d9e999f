"""The running episode of one world, as those who watch it need to know it.

`episode_of` gives one with the same attributes for a single simulation and for a world of a
vectorised one.
"""

from typing import Any

import numpy as np

from abmarl.render.scenes.cast import grid_of
from abmarl.render.scenes.ledger import Ledger


def episode_of(sim: Any, world: int = 0) -> "SingleEpisode | VectorEpisode":
    """The episode of a world of a grid simulation, single or vectorised."""
    grid = grid_of(sim)
    return VectorEpisode(grid, world) if hasattr(grid, "num_envs") else SingleEpisode(grid)


class _Episode:
    """What both kinds share.

    Attributes:
        sim: the simulation whose components have the outcomes of the world's last step.
        number: the number of the world in there.
    """

    sim: Any
    number: int

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    @property
    def actors(self) -> dict[str, Any]:
        """The actors by channel, those in wrappers with them."""
        found = getattr(self.sim, "actors", None)
        if found is None:
            # In the object style they are attributes; a wrapper stands before the one within.
            parts = [one for one in vars(self.sim).values() if hasattr(one, "layers")]
            inner = [layer for one in parts for layer in one.layers[1:]]
            parts = [one for one in parts if not any(one is layer for layer in inner)]
            found = {one.key: one for one in parts}
        return found

    def attacks(self) -> np.ndarray:
        """int [K, 2]: who attacked whom since it was asked last; a target of -1 is a miss."""
        found = [np.empty((0, 2), np.int64)]
        for key, actor in self.actors.items():
            inner = actor.unwrapped
            if hasattr(inner, "noted"):
                pairs, self._counts[key] = inner.noted(self.number, self._counts.get(key, 0))
                found.append(pairs.astype(np.int64))
        return np.concatenate(found)


class SingleEpisode(_Episode):
    """That of a single simulation; see `Ledger` for what is counted from when on."""

    def __init__(self, sim: Any) -> None:
        super().__init__()
        self.sim, self.number = sim, 0
        self._ledger = Ledger.of(sim)

    @property
    def starts(self) -> int:
        """A number that changes when another episode begins."""
        return self._ledger.starts

    @property
    def step(self) -> int:
        """Steps so far."""
        return self._ledger.steps

    def reward(self, slot: int) -> float:
        """An agent's rewards of the episode so far, those not yet read with them."""
        store = self.sim.store
        read = self._ledger.returns.get(store.ids[slot], 0.0)
        return read + float(store.rewards[0, slot])

    def action(self, slot: int) -> dict[str, Any]:
        """An agent's last action by channel; {} if it has not acted."""
        action = self._ledger.actions.get(self.sim.store.ids[slot], {})
        return dict(action) if isinstance(action, dict) else {"action": action}

    def observations(self, slot: int) -> dict[str, np.ndarray]:
        """What an agent observes now by channel.

        What it was shown already is shown again. Else it is made aside, so that looking changes
        neither what the agent will be shown nor its random stream; observers of one's own cannot
        do that, their channels are left out then.
        """
        found = {}
        store = self.sim.store
        for key, observer in self.sim.grid.observers.items():
            form = None if observer.by_hand else observer.form(slot)
            if form is None:
                continue
            flat, rows_of = observer.flat, observer.layout.rows_of
            if not observer.is_current:
                if not hasattr(observer, "calls"):  # who knows what it changes
                    continue
                streams, flat = store.sight_streams.copy(), np.zeros_like(flat)
                observer.write(np.zeros(1, np.int64), flat, rows_of, True)
                store.sight_streams[...] = streams
            found[key] = np.asarray(form.point(flat, rows_of[slot, 0]))
        return found


class VectorEpisode(_Episode):
    """That of one world of a vectorised simulation."""

    def __init__(self, vec: Any, world: int) -> None:
        super().__init__()
        self.vec, self.world = vec, world
        self.sim, self.number = vec.part_of(world)
        self._starts, self._last, self._loads = 0, -1, vec.loads

    @property
    def starts(self) -> int:
        """A number that changes when another episode begins; ask after every step."""
        length, loads = self.step, self.vec.loads
        if length < self._last or length == 0 or loads != self._loads:
            self._starts += 1
        self._last, self._loads = length, loads
        return self._starts

    @property
    def step(self) -> int:
        """Steps so far."""
        return int(self.vec.episodes.length[self.world])

    def reward(self, slot: int) -> float:
        """An agent's rewards of the episode so far."""
        return float(self.vec.episodes.returns[self.world, slot])

    def action(self, slot: int) -> dict[str, Any]:
        """An agent's last action by channel; {} if it has not acted in the last step.

        The arrays have entries of agents that are out too, which mean nothing.
        """
        name, k = self._place(slot)
        episodes, at = self.vec.episodes, (self.world, slot)
        acted = episodes.alive[at] or episodes.terminated[at] or episodes.truncated[at]
        if name is None or self.step == 0 or not acted:
            return {}
        views = self.vec.channels.action_views[name]
        forms = {key: self.sim.actors[key].form(slot) for key in views}
        return {
            key: forms[key].point(np.ascontiguousarray(view[self.world, k]).reshape(-1), 0)
            for key, view in views.items()
        }

    def observations(self, slot: int) -> dict[str, np.ndarray]:
        """What an agent observes now, by channel."""
        name, k = self._place(slot)
        if name is None:
            return {}
        views = self.vec.channels.observation_views()[name]
        return {key: view[self.world, k].copy() for key, view in views.items()}

    def _place(self, slot: int) -> tuple[str | None, int]:
        """Group and place within it of an agent that learns."""
        for name, group in self.vec.groups.items():
            found = np.flatnonzero(group.slots == slot)
            if len(found):
                return name, int(found[0])
        return None, 0
