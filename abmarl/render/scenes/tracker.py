"""Following one world from step to step, so that its scenes show what happened in between.

`Tracker` makes the scenes. The running episode (its steps, rewards, last actions and attacks) has
the same interface for a single simulation and for a world of a vectorised one; `episode_of` gives
the right one.
"""

import dataclasses
from typing import Any

import numpy as np

from abmarl.render.scenes.appearance import DrawnAgents, grid_of
from abmarl.render.scenes.scene import Scene

# How visible a dead agent still is, scene by scene.
_FADE = (0.75, 0.45, 0.2)


class Tracker:
    """Makes the scenes of one world: its state, attacks and deaths since the scene before.

    Args:
        sim: a grid simulation, a vectorised one, or a wrapper or manager around one.
        world: which world of a vectorised simulation.
        title: text for the score line.

    Attributes:
        drawn: the agents.
        episode: the running episode, as of `episode_of`.
        scene: the last one.

    Raises:
        TypeError: `sim` has no grid.
        ValueError: there is no such world, or an agent has an unknown colour.
    """

    def __init__(self, sim: Any, world: int = 0, title: str = "") -> None:
        self.drawn = DrawnAgents(sim)
        self.world, self.title = world, title
        Scene.of(sim, world, drawn=self.drawn)  # raises what is wrong before anything is hooked
        self.episode = episode_of(self.drawn.sim, world)
        self.episode.attacks()
        self._moment: tuple[int, int] | None = None
        self._age = np.full(len(self.drawn.ids), len(_FADE))
        self.scene: Scene
        self.look()

    def look(self) -> Scene:
        """Take the next scene; call it after every step that is to be shown.

        Without a step since the last one, what is to be seen of attacks and deaths stays.
        """
        attacks, moment = self.episode.attacks(), (self.episode.starts, self.episode.step)
        now = Scene.of(
            self.drawn.sim, self.world, step=moment[1], title=self.title, drawn=self.drawn
        )
        if self._moment is None or moment[0] != self._moment[0]:
            # Another episode: nobody in it has died or attacked yet.
            attacks = attacks[:0]
            self._age[:] = len(_FADE)
        else:
            if moment == self._moment:
                attacks = np.concatenate([self.scene.attacks, attacks])
            else:
                self._age[:] = np.minimum(self._age + 1, len(_FADE))
            self._age[self.scene.alive & ~now.alive] = 0
        self._moment = moment
        self._age[now.alive] = len(_FADE)
        fading = np.array([*_FADE, 0.0])[self._age]
        self.scene = dataclasses.replace(now, attacks=attacks, fading=fading)
        return self.scene


def episode_of(sim: Any, world: int = 0) -> "SingleEpisode | VectorEpisode":
    """Return the running episode of a world of a grid simulation, single or vectorised."""
    grid = grid_of(sim)
    return VectorEpisode(grid, world) if hasattr(grid, "num_envs") else SingleEpisode(grid)


class _Episode:
    """What both kinds share.

    Args:
        sim: the simulation whose components have the outcomes of the world's last step.
        number: the number of the world in there.
    """

    def __init__(self, sim: Any, number: int) -> None:
        self.sim, self.number = sim, number
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
        """Return who attacked whom since the last call, int [K, 2]; a target of -1 is a miss."""
        found = [np.empty((0, 2), np.int64)]
        for key, actor in self.actors.items():
            inner = actor.unwrapped
            if hasattr(inner, "noted"):
                pairs, self._counts[key] = inner.noted(self.number, self._counts.get(key, 0))
                found.append(pairs.astype(np.int64))
        return np.concatenate(found)


class SingleEpisode(_Episode):
    """The episode of a single simulation, counted from the first time that it is watched."""

    def __init__(self, sim: Any) -> None:
        super().__init__(sim, 0)
        self._statistics = EpisodeStatistics.of(sim)

    @property
    def starts(self) -> int:
        """A number that changes when another episode begins."""
        return self._statistics.starts

    @property
    def step(self) -> int:
        """Steps so far."""
        return self._statistics.steps

    def reward(self, slot: int) -> float:
        """Return an agent's rewards of the episode, including those not yet read."""
        store = self.sim.store
        read = self._statistics.returns.get(store.ids[slot], 0.0)
        return read + float(store.rewards[0, slot])

    def action(self, slot: int) -> dict[str, Any]:
        """Return an agent's last action by channel; {} if it has not acted."""
        action = self._statistics.actions.get(self.sim.store.ids[slot], {})
        return dict(action) if isinstance(action, dict) else {"action": action}

    def observations(self, slot: int) -> dict[str, np.ndarray]:
        """Return what an agent observes now by channel.

        An observation that it was given already is shown again. Else it is made from a copy of the
        random stream and into another array, so that looking changes nothing. Users' own observers
        cannot do that: their channels are left out then.
        """
        found = {}
        store = self.sim.store
        for key, observer in self.sim.grid.observers.items():
            form = None if observer.works_on == "agents" else observer.form(slot)
            if form is None:
                continue
            flat, rows_of = observer.flat, observer.layout.rows_of
            if not observer.is_current:
                if observer.works_on != "kernels":  # who knows what it changes
                    continue
                streams, flat = store.sight_streams.copy(), np.zeros_like(flat)
                observer.write(np.zeros(1, np.int64), flat, rows_of, True)
                store.sight_streams[...] = streams
            found[key] = np.asarray(form.point(flat, rows_of[slot, 0]))
        return found


class VectorEpisode(_Episode):
    """The episode of one world of a vectorised simulation."""

    def __init__(self, vec: Any, world: int) -> None:
        super().__init__(*vec.part_of(world))
        self.vec, self.world = vec, world
        self._starts, self._last, self._loads = 0, -1, vec.loads

    @property
    def starts(self) -> int:
        """A number that changes when another episode begins; read it after every step."""
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
        """Return an agent's rewards of the episode so far."""
        return float(self.vec.episodes.returns[self.world, slot])

    def action(self, slot: int) -> dict[str, Any]:
        """Return an agent's last action by channel; {} if it has not acted in the last step.

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
        """Return what an agent observes now by channel."""
        name, k = self._place(slot)
        if name is None:
            return {}
        views = self.vec.channels.observation_views()[name]
        return {key: view[self.world, k].copy() for key, view in views.items()}

    def _place(self, slot: int) -> tuple[str | None, int]:
        """Return the group of an agent that learns, and its place in there."""
        for name, group in self.vec.groups.items():
            found = np.flatnonzero(group.slots == slot)
            if len(found):
                return name, int(found[0])
        return None, 0


class EpisodeStatistics:
    """What a single simulation does not keep of its episode: steps, rewards so far, last actions.

    The first tracker hooks the simulation's methods; one that nobody watches does nothing for it.

    Attributes:
        starts: episodes that have begun since, and states that were loaded.
        steps: steps of the running episode, without those before the first look.
        returns: id to the rewards that were read in the running episode.
        actions: id to the last action of the running episode.
        busy: whether a call is under way within which nothing is to be counted.
    """

    hooked = ("reset", "step", "get_reward", "get_outputs", "load_state_dict")

    def __init__(self) -> None:
        self.starts = 0
        self.busy = False
        self._clear()

    @classmethod
    def of(cls, sim: Any) -> "EpisodeStatistics":
        """Return those of a simulation; the first call hooks its methods."""
        statistics = sim.__dict__.get("_episode_statistics")
        if statistics is None:
            statistics = sim._episode_statistics = cls()
            for name in cls.hooked:
                if hasattr(sim, name):
                    setattr(sim, name, _MethodHook(sim, name, statistics))
        return statistics

    def _clear(self) -> None:
        self.steps = 0
        self.returns: dict[str, float] = {}
        self.actions: dict[str, Any] = {}

    def reset(self, result: Any, *args: Any, **kwargs: Any) -> None:
        """Begin an episode."""
        self.starts += 1
        self._clear()

    def load_state_dict(self, result: Any, *args: Any, **kwargs: Any) -> None:
        """Begin an episode: what was counted does not belong to the loaded state."""
        self.reset(result)

    def step(self, result: Any, action_dict: dict[str, Any], **kwargs: Any) -> None:
        """Note what agents did."""
        self.steps += 1
        self.actions.update(action_dict)

    def get_reward(self, result: float, agent_id: str, **kwargs: Any) -> None:
        """Add a reward, which the simulation forgets when it is read."""
        self.returns[agent_id] = self.returns.get(agent_id, 0.0) + float(result)

    def get_outputs(self, result: tuple, agent_ids: Any, **kwargs: Any) -> None:
        """Add the rewards of several agents, perhaps not read by ``get_reward``."""
        for agent_id, reward in result[1].items():
            self.get_reward(reward, agent_id)


class _MethodHook:
    """Calls a method of one simulation, then passes its result and arguments to the statistics.

    An object, not a closure: copied and pickled simulations get hooks of their own.
    """

    def __init__(self, sim: Any, name: str, statistics: EpisodeStatistics) -> None:
        self.sim, self.name, self.statistics = sim, name, statistics
        self.own = sim.__dict__.get(name)  # where somebody has replaced the method already

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        method = self.own or getattr(type(self.sim), self.name).__get__(self.sim)
        if self.statistics.busy:  # called by another hooked method, which counts for both
            return method(*args, **kwargs)
        self.statistics.busy = self.name == "get_outputs"
        try:
            result = method(*args, **kwargs)
        finally:
            self.statistics.busy = False
        getattr(self.statistics, self.name)(result, *args, **kwargs)
        return result
