"""Rollouts that are played back in the window of a viewer, forwards and backwards.

A world is simulated again from its seed and the recorded actions. From where it does something else
than was recorded, the record is shown: what every agent saw.
"""

import contextlib
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from abmarl.render.scenes.appearance import DrawnAgents, Look
from abmarl.render.scenes.describe import describe_action
from abmarl.render.scenes.scene import Caption, Scene
from abmarl.render.scenes.sight import VisibleCells, window_of
from abmarl.render.scenes.tracker import Tracker
from abmarl.render.viewer.controls import InputHandler
from abmarl.render.viewer.shows import Observed, Show, SimulationShow
from abmarl.rollout.columns import Rollout
from abmarl.rollout.replay import RUN_UP, STRIDE, Mismatch, Replay, recorded_observations

Check = contextlib.AbstractContextManager[Callable[[int], None] | None]

_KEPT = 4 * STRIDE  # scenes
_OUTSIDE = Look("s", (120, 122, 130), 420.0)
_MASKED = Look("s", (206, 206, 212), 420.0)
_UNKNOWN = Look("o", (150, 150, 155), 200.0)
# What lies between the tiles, as a label that no encoding has.
_BETWEEN, _GAP = -3, Look("s", (236, 234, 228), 460.0)


class ReplayShow(Show):
    """Plays a rollout back; for a `Viewer` with `ReplayKeys` as input handler.

    Args:
        sim: the simulation that the rollout was made with.
        rollout: the rollout.
        world: which world is shown first.
        title: text for the score line.
        on_check: called with a `Replay` before it is checked, when a world is shown for the first
            time; returns a context manager to check it in, which gives what is called with every
            moment that was compared, or None.
        on_mismatch: called once for every world that does something else than was recorded.

    Attributes:
        moment: what is shown.
        backwards: whether `step` goes back.
        ended: called when `step` can go no further.

    Raises:
        ValueError: there is no such world, or the simulation is another one.
    """

    can_step = can_reset = True

    def __init__(
        self, sim: Any, rollout: Rollout, world: int = 0, title: str = "",
        on_check: Callable[[Replay], Check] | None = None,
        on_mismatch: Callable[[Mismatch], None] | None = None,
    ) -> None:  # fmt: skip
        self._sim, self.rollout, self._title = sim, rollout, title
        self._on_check = on_check or (lambda replay: contextlib.nullcontext())
        self._on_mismatch = on_mismatch
        self.num_worlds = rollout.num_envs
        self.moment = 0
        self.backwards = False
        self.ended: Callable[[], None] = lambda: None
        self._told: set[int] = set()
        self._world = self._open(world)

    @property
    def replay(self) -> Replay:
        """The world that was shown last."""
        return self._world.replay

    @property
    def drawn(self) -> DrawnAgents:
        """The agents."""
        return self._world.drawn

    def scene(self, world: int) -> Scene:
        return self._of(world).scene_at(self.moment)

    def facts(self, world: int, slot: int) -> list[tuple[str, str]]:
        shown = self._of(world)
        again = shown.simulate(self.moment)
        return shown.facts(0, slot) if again else shown.recorded_facts(self.moment, slot)

    def sight(self, world: int, slot: int) -> VisibleCells | None:
        shown = self._of(world)
        return shown.sight(0, slot) if shown.simulate(self.moment) else None

    def observed(self, world: int, slot: int) -> Observed | None:
        shown = self._of(world)
        return shown.observed(0, slot) if shown.simulate(self.moment) else None

    def step(self) -> bool:
        """Go on, or back, by one moment."""
        before = self.moment
        self.go(before + (-1 if self.backwards else 1))
        if self.moment == before:
            self.backwards = False  # there is no other way from the beginning
            self.ended()
        return True

    def reset(self) -> None:
        """Go to the beginning, to play forwards from there."""
        self.backwards = False
        self.go(0)

    def go(self, moment: int) -> None:
        """Go to a moment; to the first or last one beyond the ends."""
        self.moment = min(max(int(moment), 0), len(self.replay.moments) - 1)

    def next_death(self, direction: int) -> None:
        """Go to the next moment in which an agent has died, or with -1 to the previous one."""
        self._go_to_next(self.replay.deaths, direction)

    def next_episode(self, direction: int) -> None:
        """Go to the start of the next episode; with -1 of this one, or of the previous one."""
        self._go_to_next(np.flatnonzero(self.replay.moments.fresh), direction)

    def _go_to_next(self, moments: np.ndarray, direction: int) -> None:
        now = self.moment
        found = moments[moments > now][:1] if direction > 0 else moments[moments < now][-1:]
        if len(found):
            self.go(found[0])

    def _of(self, world: int) -> "ReplayedWorld":
        if world != self._world.replay.world:
            step = int(self.replay.moments.step[self.moment])
            self._world = self._open(world)
            self.go(self.replay.moments.of_step(step))
        return self._world

    def _open(self, world: int) -> "ReplayedWorld":
        replay = Replay(self._sim, self.rollout, world)
        with self._on_check(replay) as on_moment:
            replay.check(on_moment)
        if replay.mismatch is not None and world not in self._told:
            self._told.add(world)
            if self._on_mismatch is not None:
                self._on_mismatch(replay.mismatch)
        return ReplayedWorld(replay, self._title)


class ReplayKeys(InputHandler):
    """The keys of a replay, as input handler of a `Viewer`.

    Args:
        show: what is shown.
    """

    help_lines = (
        ("left  right", "one step back, on"),
        ("b", "play backwards, or forwards again"),
        ("w  e", "previous, next episode"),
        ("j  k", "previous, next kill"),
        ("r", "to the beginning, and forwards"),
    )
    reserved_keys = frozenset("r")

    def __init__(self, show: ReplayShow) -> None:
        self.show = show
        show.ended = self._pause
        self._actions = {
            "b": self._turn,
            "r": show.reset,
            "left": lambda: self._jump(show.go, show.moment - 1),
            "right": lambda: self._jump(show.go, show.moment + 1),
            "w": lambda: self._jump(show.next_episode, -1),
            "e": lambda: self._jump(show.next_episode, 1),
            "j": lambda: self._jump(show.next_death, -1),
            "k": lambda: self._jump(show.next_death, 1),
        }

    def on_key(self, name: str, down: bool) -> bool:
        """Jump or turn when a key is pressed."""
        if name not in self._actions:
            return False
        if down:
            self._actions[name]()
        return True

    def _turn(self) -> None:
        self.show.backwards ^= True
        self._pause(False)

    def _jump(self, go: Callable[[int], None], argument: int) -> None:
        self._pause()
        go(argument)

    def _pause(self, paused: bool = True) -> None:
        if self.viewer is not None:
            self.viewer.paused = paused


class ReplayedWorld(SimulationShow):
    """Shows one world of a rollout at any moment.

    Args:
        replay: the world, checked.
        title: text for the score line.
    """

    def __init__(self, replay: Replay, title: str) -> None:
        super().__init__(replay.vec, title)
        self.replay = replay
        self._scenes: OrderedDict[int, Scene] = OrderedDict()
        self._tiles: tuple[int, Tiles] | None = None
        self._since = 0
        if replay.good:
            replay.go(0, self._moved)
            if self._tracker is None:  # it was there already
                self._moved(True)

    def scene_at(self, moment: int) -> Scene:
        """Return what there is to see at a moment."""
        if moment not in self._scenes and not self.simulate(moment):
            return self._tiles_at(moment).scene
        self._scenes.move_to_end(moment)
        return self._scenes[moment]

    def simulate(self, moment: int) -> bool:
        """Simulate up to a moment; return False where only the record can be shown."""
        if moment < self.replay.good:
            self.replay.go(moment, self._moved)
            self._keep(moment)
        return moment < self.replay.good

    def recorded_facts(self, moment: int, slot: int) -> list[tuple[str, str]]:
        """Return what was recorded of the agent whose tile an entry of the scene belongs to."""
        replay, owner = self.replay, self._tiles_at(moment).owner[slot]
        if owner is None:
            return []
        group, k = owner
        lines = [("group", group)]
        if not replay.moments.fresh[moment]:
            record, at = replay.rollout, (int(replay.moments.step[moment]) - 1, replay.world, k)
            slot = int(replay.vec.groups[group].slots[k])
            actors = replay.vec.sim.actors
            points = {
                key: actors[key].form(slot).point(np.ascontiguousarray(column[at]).reshape(-1), 0)
                for key, column in record.actions[group].items()
            }
            lines.append(("reward", f"{float(record.rewards[group][at]):.4g} for the last step"))
            lines.append(("last action", ", ".join(describe_action(actors, slot, points))))
        return lines

    def _moved(self, elsewhere: bool) -> None:
        """Follow the world to another moment, one step on or `elsewhere`."""
        if elsewhere:
            self._tracker = Tracker(self.sim, 0, self.title)
            self._since = RUN_UP if self.replay.now == 0 else 0
        else:
            self.tracker(0).look()
            self._since += 1
        if self._since >= RUN_UP:  # what happened just before a jump is not known at once
            self._keep(self.replay.now)

    def _keep(self, moment: int) -> None:
        self._scenes[moment] = self.tracker(0).scene
        while len(self._scenes) > _KEPT:
            self._scenes.popitem(last=False)

    def _tiles_at(self, moment: int) -> "Tiles":
        if self._tiles is None or self._tiles[0] != moment:
            self._tiles = moment, self._recorded(moment)
        return self._tiles[1]

    def _recorded(self, moment: int) -> "Tiles":
        replay = self.replay
        record, moments, world = replay.rollout, replay.moments, replay.world
        step = int(moments.step[moment])
        if moments.final[moment] or step == record.num_steps:
            active = {
                name: column[step - 1, world] & ~record.terminated[name][step - 1, world]
                for name, column in record.active.items()
            }
        else:
            active = {name: column[step, world] for name, column in record.active.items()}
        observations = recorded_observations(record, moments, world, moment)
        looks = _looks(self.drawn)
        return tiles(observations, active, record.groups, looks, step, "as recorded")


class Tiles(NamedTuple):
    """A scene of what was recorded, where a world cannot be simulated again.

    A rollout holds what every agent saw, not where it was. So each agent that acts has a tile with
    its name and its window of observations; a tile without a window shows the agent alone.

    Attributes:
        scene: the scene.
        owner: for every entry of the scene, the group of the agent that saw it and its number in
            there; None between the tiles.
    """

    scene: Scene
    owner: list[tuple[str, int] | None]


def tiles(
    observations: Mapping[str, Mapping[str, np.ndarray]], active: Mapping[str, np.ndarray],
    groups: Mapping[str, Any], looks: Mapping[int, tuple[Look, bool]], step: int, title: str,
) -> Tiles:  # fmt: skip
    """Lay out what the agents of a world saw, each in a tile.

    Args:
        observations: group -> channel -> [n, ...].
        active: group -> bool [n], whose tiles are filled.
        groups: group -> something with ``ids`` and ``encoding``.
        looks: encoding -> how it is drawn, and whether it blocks the view.
        step: for the score line.
        title: likewise.
    """
    windows = []
    for name, group in groups.items():
        for k in range(len(group.ids)):
            seen = {key: np.asarray(column[k]) for key, column in observations[name].items()}
            window = _window(group.encoding or 0, window_of(seen))
            windows.append((name, k, window if active[name][k] else np.full_like(window, _BETWEEN)))
    height, width = (max(window.shape[side] for _, _, window in windows) + 1 for side in (0, 1))
    across = math.ceil(math.sqrt(len(windows) * height / width))
    down = -(-len(windows) // across)
    board = np.full((down * height, across * width), _BETWEEN, np.int64)
    whose = np.full(board.shape, -1)
    for number, (_, _, window) in enumerate(windows):
        top, left = number // across * height + 1, number % across * width
        board[top : top + window.shape[0], left : left + window.shape[1]] = window
        whose[top : top + window.shape[0], left : left + window.shape[1]] = number
    board, whose = board[:, :-1], whose[:, :-1]
    captions = tuple(
        Caption(k // across * height, k % across * width, width - 1, groups[name].ids[number])
        for k, (name, number, _) in enumerate(windows)
    )
    row, col = np.nonzero(board)
    whose[board == _BETWEEN] = -1
    owner = [None if k < 0 else windows[k][:2] for k in whose[row, col].tolist()]
    ids = ["" if one is None else f"seen by {groups[one[0]].ids[one[1]]}" for one in owner]
    kinds, look = np.unique(board[row, col], return_inverse=True)
    known = {_BETWEEN: (_GAP, False), -1: (_OUTSIDE, True), -2: (_MASKED, True), **looks}
    drawn = [known.get(kind, (_UNKNOWN, False)) for kind in kinds.tolist()]
    count = len(row)
    scene = Scene(
        rows=board.shape[0], cols=board.shape[1], ids=tuple(ids), row=row, col=col,
        alive=np.ones(count, bool), health=np.ones(count), acting=np.zeros(count, bool),
        blocking=np.array([solid for _, solid in drawn], bool)[look],
        team=np.ones(count, np.int64), look=look, looks=tuple(one for one, _ in drawn),
        captions=captions, step=step, title=title,
    )  # fmt: skip
    return Tiles(scene, owner)


def _window(encoding: int, found: tuple[str, np.ndarray] | None) -> np.ndarray:
    """Return what an agent saw, as encodings; one that saw nothing is alone."""
    if found is None:
        return np.array([[encoding]])
    channel, labels = found
    # There -1 is the agent itself, not what is out of bounds.
    return np.where(labels == -1, encoding, labels) if channel == "absolute_encoding" else labels


def _looks(drawn: DrawnAgents) -> dict[int, tuple]:
    """Return how the first agent of each encoding is drawn, and whether it blocks the view."""
    of_agent, looks = drawn.looks()
    found: dict[int, tuple] = {}
    for slot, kind in enumerate(np.asarray(drawn.store.traits["encoding"]).tolist()):
        found.setdefault(kind, (looks[of_agent[slot]], bool(drawn.blocking[slot])))
    return found
