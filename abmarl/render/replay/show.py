"""Rollouts that are played back, forwards and backwards."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from abmarl.render.replay.replayed_world import ReplayedWorld
from abmarl.render.scenes.cast import Cast
from abmarl.render.scenes.scene import Scene
from abmarl.render.scenes.sight import Sight
from abmarl.render.viewer.shows import Observed, Show
from abmarl.rollout.columns import Rollout
from abmarl.rollout.replay import Mismatch, Replay

Check = contextlib.AbstractContextManager[Callable[[int], None] | None]


class ReplayShow(Show):
    """Plays a rollout back; for a `Viewer` with a `ReplayDesk` as hands.

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
        ValueError: There is no such world, or the simulation is another one.
    """

    can_step = can_reset = True

    def __init__(
        self, sim: Any, rollout: Rollout, world: int = 0, title: str = "",
        on_check: Callable[[Replay], Check] | None = None,
        on_mismatch: Callable[[Mismatch], None] | None = None,
    ):  # fmt: skip
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
    def cast(self) -> Cast:
        """The agents."""
        return self._world.cast

    def scene(self, world: int) -> Scene:
        """What there is to see in a world."""
        return self._of(world).scene_at(self.moment)

    def facts(self, world: int, slot: int) -> list[tuple[str, str]]:
        """What there is to tell about an agent."""
        return self._of(world).facts_at(self.moment, slot)

    def sight(self, world: int, slot: int) -> Sight | None:
        """The cells that an agent sees."""
        return self._of(world).sight_at(self.moment, slot)

    def observed(self, world: int, slot: int) -> Observed | None:
        """What an agent observes."""
        return self._of(world).observed_at(self.moment, slot)

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

    def next_death(self, way: int) -> None:
        """Go to the next moment in which an agent has died, or with way -1 to the one before."""
        deaths = self.replay.deaths
        found = deaths[deaths > self.moment][:1] if way > 0 else deaths[deaths < self.moment][-1:]
        if len(found):
            self.go(found[0])

    def next_episode(self, way: int) -> None:
        """Go to the start of the next episode; with way -1 of this one, or of the one before."""
        starts = np.flatnonzero(self.replay.moments.fresh)
        found = starts[starts > self.moment][:1] if way > 0 else starts[starts < self.moment][-1:]
        if len(found):
            self.go(found[0])

    def _of(self, world: int) -> ReplayedWorld:
        if world != self._world.replay.world:
            step = int(self.replay.moments.step[self.moment])
            self._world = self._open(world)
            self.go(self.replay.moments.of_step(step))
        return self._world

    def _open(self, world: int) -> ReplayedWorld:
        replay = Replay(self._sim, self.rollout, world)
        with self._on_check(replay) as on_moment:
            replay.check(on_moment)
        if replay.mismatch is not None and world not in self._told:
            self._told.add(world)
            if self._on_mismatch is not None:
                self._on_mismatch(replay.mismatch)
        return ReplayedWorld(replay, self._title)


class ReplayDesk:
    """The keys of a replay, as hands of a `Viewer`.

    Args:
        show: what is shown.

    Attributes:
        viewer: the viewer, to be set once it is made.
    """

    keys = (
        ("left  right", "one step back, on"),
        ("b", "play backwards, or forwards again"),
        ("w  e", "previous, next episode"),
        ("j  k", "previous, next kill"),
        ("r", "to the beginning, and forwards"),
    )
    taken = frozenset("r")

    def __init__(self, show: ReplayShow):
        self.show, self.viewer = show, None
        show.ended = self._pause
        self._jumps = {
            "left": lambda: show.go(show.moment - 1),
            "right": lambda: show.go(show.moment + 1),
            "w": lambda: show.next_episode(-1),
            "e": lambda: show.next_episode(1),
            "j": lambda: show.next_death(-1),
            "k": lambda: show.next_death(1),
        }

    def key(self, name: str, down: bool) -> bool:
        """A key was pressed or let go."""
        if name == "b":
            if down:
                self.show.backwards ^= True
                if self.viewer is not None:
                    self.viewer.paused = False
            return True
        if name == "r":
            if down:
                self.show.reset()
            return True
        if name not in self._jumps:
            return False
        if down:
            self._pause()
            self._jumps[name]()
        return True

    def _pause(self) -> None:
        if self.viewer is not None:
            self.viewer.paused = True
