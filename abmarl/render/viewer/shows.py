"""What a viewer can show.

A `Show` is a number of worlds. A `Viewer` asks it for the scene of one and for facts about the
agent that is chosen. A show may be able to step and to reset; the viewer calls `Show.step` at the
pace that its user sets, and leaves out controls that a show has no use for.

- `SimulationShow` shows a simulation that somebody else steps. Derive from it what steps a
  simulation in another way (by a player's keys, from a rollout): set ``can_step = True``, do the
  step in `step`, and call `look` at its end.
- `PolicyShow` steps a vectorised simulation with policies.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from abmarl.render.scenes.appearance import DrawnAgents, Look
from abmarl.render.scenes.describe import describe_action, describe_value
from abmarl.render.scenes.scene import Scene
from abmarl.render.scenes.sight import WINDOWS, VisibleCells, layers_of, sight_of
from abmarl.render.scenes.tracker import Tracker
from abmarl.rollout.policies import bind_policies, choose_actions


class Pane(NamedTuple):
    """A window of cells that an agent observes.

    Attributes:
        channel: the channel that it is from.
        part: which part of the channel it is, or "".
        cells: int [h, w]: 0 empty, -1 out of bounds, -2 masked, else keys of `looks`; or, without
            `looks`, any numbers.
        looks: how a label is drawn, and whether it blocks the view; None: numbers are shades.
        counts: int [h, w], how many are in a cell, if that is observed.
    """

    channel: str
    part: str
    cells: np.ndarray
    looks: dict[int, tuple[Look, bool]] | None
    counts: np.ndarray | None = None


class Observed(NamedTuple):
    """All that an agent observes.

    Attributes:
        panes: the windows.
        lines: the other channels: pairs of a name and some words.
    """

    panes: tuple[Pane, ...]
    lines: tuple[tuple[str, str], ...]


class Show(ABC):
    """Something that a viewer shows; see the module.

    Attributes:
        num_worlds: how many worlds there are.
        can_step: whether `step` goes on.
        can_reset: whether `reset` starts over.
        waits: whether it goes on when somebody acts, not at a pace: the viewer does not step it.
    """

    num_worlds = 1
    waits = False
    can_step = False
    can_reset = False

    @abstractmethod
    def scene(self, world: int) -> Scene:
        """Return what there is to see; the same object as long as nothing has happened."""

    def facts(self, world: int, slot: int) -> list[tuple[str, str]]:
        """Return facts about an agent: pairs of a label and some words."""
        return []

    def sight(self, world: int, slot: int) -> VisibleCells | None:
        """Return the cells that an agent sees, if that is known."""
        return None

    def observed(self, world: int, slot: int) -> Observed | None:
        """Return what an agent observes, if that is known."""
        return None

    def step(self) -> bool:
        """Go on by one step.

        Returns:
            Whether anything has changed. After False it is called again later: a show that waits
            for a person returns False until there is an action, and one that is over may be reset.
        """
        return False

    def look(self) -> None:  # noqa: B027 - for shows of what somebody else steps
        """Take in that somebody else has stepped or reset what is shown."""

    def reset(self) -> None:  # noqa: B027 - most shows cannot
        """Start again from the beginning."""


class SimulationShow(Show):
    """Shows a simulation that somebody else steps.

    Args:
        sim: a grid simulation, a vectorised one, or a wrapper or manager around one.
        title: text for the score line.

    Attributes:
        sim: the simulation with the grid.

    Raises:
        TypeError: `sim` has no grid.
    """

    def __init__(self, sim: Any, title: str = "") -> None:
        self.drawn = DrawnAgents(sim)
        self.sim = self.drawn.sim
        self.title = title
        self.num_worlds = int(self.sim.store.num_worlds)
        self._tracker: Tracker | None = None

    def look(self) -> None:
        if self._tracker is not None:
            self._tracker.look()

    def tracker(self, world: int) -> Tracker:
        """Return the tracker of a world; only the one shown last is followed."""
        if self._tracker is None or self._tracker.world != world:
            self._tracker = Tracker(self.sim, world, self.title)
        return self._tracker

    def scene(self, world: int) -> Scene:
        return self.tracker(world).scene

    def facts(self, world: int, slot: int) -> list[tuple[str, str]]:
        """Return group, position, health, ammo, reward so far and last action of an agent."""
        tracker = self.tracker(world)
        scene, episode, store = tracker.scene, tracker.episode, self.sim.store
        lines = []
        if group := self.drawn.group(slot):
            lines.append(("group", group))
        if scene.outlined:
            lines.append(("team", str(int(scene.team[slot]))))
        lines.append(("position", f"row {int(scene.row[slot])}, column {int(scene.col[slot])}"))
        health = f"{float(scene.health[slot]):.2g}"
        lines.append(("health", health if scene.alive[slot] else f"{health}, not active"))
        if scene.orientation[slot]:
            ways = ("left", "down", "right", "up")
            lines.append(("looks", ways[int(scene.orientation[slot]) - 1]))
        if store.has("ammo") and hasattr(self.drawn.agents[slot], "initial_ammo"):
            lines.append(("ammo", str(int(store.ammo[world, slot]))))
        if hasattr(self.drawn.agents[slot], "action_space"):
            lines.append(("reward", f"{episode.reward(slot):.4g} so far"))
            words = describe_action(episode.actors, slot, episode.action(slot))
            if words or scene.alive[slot]:
                lines.append(("last action", ", ".join(words) or "none yet"))
        return lines

    def sight(self, world: int, slot: int) -> VisibleCells | None:
        if not self.scene(world).alive[slot]:
            return None
        return sight_of(self.sim.store, self.drawn.agents[slot], slot, world)

    def observed(self, world: int, slot: int) -> Observed | None:
        tracker = self.tracker(world)
        panes, lines = [], []
        for channel, value in tracker.episode.observations(slot).items():
            name = channel.replace("_", " ")
            layers, absent = layers_of(channel, value)
            for part, cells, counts in layers:
                looks = self._looks(tracker.scene, channel, cells, slot)
                panes.append(Pane(name, part, cells, looks, counts))
            if absent:
                lines.append((name, f"nobody of {', '.join(map(str, absent))}"))
            elif not layers:
                lines.append((name, describe_value(value)))
        # The window around the agent is what people look for.
        panes.sort(key=lambda pane: pane.counts is not None or pane.looks is None)
        return Observed(tuple(panes), tuple(lines)) if panes or lines else None

    def _looks(
        self, scene: Scene, channel: str, labels: np.ndarray, slot: int
    ) -> dict[int, tuple[Look, bool]] | None:
        """Return how labels are drawn: as the first agent that they may mean."""
        if channel not in WINDOWS:
            return None
        kinds = scene.team if channel == "team" else self.sim.store.traits["encoding"]
        looks = {}
        for label in np.unique(labels).tolist():
            slots = np.flatnonzero(kinds == label)
            if label not in (0, -1, -2) and len(slots):
                looks[label] = scene.looks[scene.look[slots[0]]], bool(scene.blocking[slots[0]])
        if channel == "absolute_encoding":
            looks[-1] = scene.looks[scene.look[slot]], bool(scene.blocking[slot])
        return looks


class PolicyShow(SimulationShow):
    """Steps a vectorised simulation with policies.

    Args:
        vec: a vectorised simulation.
        policies: as `abmarl.rollout.collect` takes them; None: everybody acts at random.
        seed: for every reset; None goes on with the worlds' random streams.
        title: text for the score line.
    """

    can_step = can_reset = True

    def __init__(self, vec: Any, policies: Any = None, seed: Any = None, title: str = "") -> None:
        super().__init__(vec, title)
        if not hasattr(vec, "num_envs"):
            raise TypeError(
                f"PolicyShow plays a vectorised simulation, not {type(vec).__name__}: "
                "give it sim.vectorize(num_envs)"
            )
        self._vec = vec
        self._policies = bind_policies(vec, policies)
        self._seed = seed
        self._observations: Any = None
        self._infos: Any = None
        self.reset()

    def step(self) -> bool:
        """Step all worlds; those that end are reset."""
        active = self._infos["active"]
        actions = choose_actions(self._vec, self._policies, self._observations, active)
        self._observations, _, _, _, self._infos = self._vec.step(actions)
        self.look()
        return True

    def reset(self) -> None:
        """Reset all worlds."""
        self._observations, self._infos = self._vec.reset(seed=self._seed)
        self.look()
