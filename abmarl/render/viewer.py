"""The viewer: a window on a show, with controls.

A `Viewer` is driven in one of two ways. `run` plays a show that can step until its window is
closed. `update` is for loops of somebody else, who steps a simulation and calls it after every
step; it draws, keeps to the pace that is set, and does not return while the viewer is paused.

Two things can be added:

- ``hands``, something that reacts to keys and clicks, such as a player. It may have the methods
  ``key(name, down) -> bool`` (a key, named as `abmarl.render.controls.key_name` does, was pressed
  or let go) and ``cell(row, col, button) -> bool`` (a cell was clicked at). It is asked first, and
  what it returns True for is not taken as a control of the viewer. ``keys``, pairs of keys and what
  they do, stands in the help; ``taken``, names of keys, are left out among the viewer's controls.
- ``strips``, what is drawn below the map, from the top downwards, such as a timeline. A strip has a
  ``height`` in pixels, ``draw(surface)`` for a surface of that height, and may have ``click(x,
  width)`` (somebody clicked at, or dragged to, pixel x of ``width``).
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from abmarl.extras import load
from abmarl.render.canvas import Canvas
from abmarl.render.controls import CONTROLS, Control, key_name
from abmarl.render.layout import SCORE_HEIGHT, picture_size
from abmarl.render.mapview import MapView
from abmarl.render.panel import PANEL_WIDTH
from abmarl.render.shows import Show
from abmarl.render.surface import pixels_of
from abmarl.render.window import Window

pygame = load("pygame")

_FRAMES = 60  # per second, at most
_SLOWEST, _FASTEST = 0.5, 512.0
_CLICK = 4  # pixels that the mouse may move between press and release


class Viewer:
    """Shows the worlds of a `Show` in a window.

    Args:
        show: what to show.
        title: what stands in the window's frame.
        speed: steps per second.
        world: which world is shown first.
        size: width and height of the window in pixels; by default what suits the grid.
        hands: something that reacts to keys and clicks, see the module.
        strips: what is drawn below the map, see the module.
        paused: whether it starts paused.

    Attributes:
        world: the world that is shown.
        chosen: the number of the agent whose panel is open, or None.
        following: whether the chosen agent is kept in the middle.
        paused: whether the show stands still.
        speed: steps per second.
        closed: whether the window was closed; it is not opened again.

    Raises:
        ValueError: there is no such world, or the speed is not above 0.
    """

    def __init__(
        self, show: Show, *, title: str = "abmarl", speed: float = 10, world: int = 0,
        size: tuple[int, int] | None = None, hands: Any = None, strips: Sequence[Any] = (),
        paused: bool = False,
    ):  # fmt: skip
        if not 0 <= world < show.num_worlds:
            raise ValueError(f"world is {world!r}, but there are {show.num_worlds}, from 0")
        if not 0 < speed < float("inf"):
            raise ValueError(f"speed is {speed!r}, but must be a number of steps above 0")
        self.show, self.title, self.world = show, title, world
        self.hands, self.strips = hands, list(strips)
        self.speed, self.paused = float(speed), paused
        self.chosen: int | None = None
        self.following = self.helping = self.closed = False
        scene = show.scene(world)
        below = SCORE_HEIGHT + sum(strip.height for strip in self.strips)
        width, height = picture_size(scene.rows, scene.cols)
        # With room for the panel, so that the grid need not shrink when it opens.
        self._size = size or (max(width, 480) + PANEL_WIDTH, height - SCORE_HEIGHT + below)
        self._canvas = Canvas(self)
        self.view = MapView(scene.rows, scene.cols, self._canvas.map_rect(self._size).size)
        self._window: Window | None = None
        self._due = time.perf_counter()
        self._single = False  # a step was asked for while paused
        self._stale = True  # there is something new to draw
        self._pressed: tuple[str, Any] | None = None
        self._mouse = self.view.size[0] // 2, self.view.size[1] // 2

    # --- the two ways to drive it ---

    def run(self) -> None:
        """Play the show until the window is closed.

        Raises:
            OSError: There is no screen.
        """
        self.open()
        over = False
        while not self.closed:
            began = time.perf_counter()
            self._listen()
            while not (self.closed or over or self.show.waits) and self._may_step():
                over = not self.show.step()
                self._stale = True
                if time.perf_counter() - began > 1 / 30:
                    # Slower than asked for: drawing must go on all the same.
                    self._due = time.perf_counter()
                    break
            self._present()
            self._wait(began)
        self.close()

    def update(self) -> bool:
        """Show that a step was done by somebody else, and wait until it is time for the next.

        Returns:
            Whether the window is still open. Once it was closed nothing happens any more.

        Raises:
            OSError: There is no screen.
        """
        if self.closed:
            return False
        self.open()
        if hasattr(self.show, "look"):
            self.show.look()
        self._stale = True
        while True:
            began = time.perf_counter()
            self._listen()
            if self.closed:
                return False
            self._present()
            if self._may_step():
                return True
            self._wait(began)

    def open(self) -> None:
        """Open the window, if it is not open yet.

        Raises:
            OSError: There is no screen.
        """
        if self._window is None and not self.closed:
            self._window = Window(self._size, self.title)

    def close(self) -> None:
        """Close the window for good."""
        self.closed = True
        if self._window is not None:
            self._window.close()
            self._window = None

    def _may_step(self) -> bool:
        """Whether it is time for a step, which is then taken for done."""
        now = time.perf_counter()
        if self._single:
            self._single = False
        elif self.paused or now < self._due:
            return False
        # A step that comes late does not make the next ones hurry.
        self._due = max(self._due + 1 / self.speed, now - 0.1)
        return True

    def _wait(self, began: float) -> None:
        now = time.perf_counter()
        until = began + 1 / _FRAMES
        if not self.paused and now < self._due:
            until = min(until, self._due)
        if until > now:
            time.sleep(until - now)

    # --- drawing ---

    def draw(self, surface: Any) -> None:
        """Draw all of the window on a pygame surface."""
        scene = self.show.scene(self.world)
        if self.chosen is not None and self.chosen >= len(scene.ids):
            self.chosen = None
        if (scene.rows, scene.cols) != (self.view.rows, self.view.cols):
            self.view = MapView(scene.rows, scene.cols, self.view.size)
        self.view.resize(self._canvas.map_rect(surface.get_size()).size)
        if self.following and self.chosen is not None:
            self.view.center(int(scene.row[self.chosen]), int(scene.col[self.chosen]))
        self._canvas.draw(surface, scene)

    def picture(self) -> np.ndarray:
        """What the window shows: uint8 [height, width, 3]. Needs no window."""
        size = self._size if self._window is None else self._window.surface.get_size()
        surface = pygame.Surface(size, 0, 32)
        self.draw(surface)
        return pixels_of(surface)

    def _present(self) -> None:
        if self._stale and not self.closed:
            self.draw(self._window.surface)
            self._window.present()
            self._stale = False

    # --- events ---

    @property
    def controls(self) -> list[Control]:
        """The controls that the show has a use for."""
        able = {
            "": True,
            "several": self.show.num_worlds > 1,
            "can_reset": self.show.can_reset,
            "pace": not self.show.waits,
        }
        taken = getattr(self.hands, "taken", frozenset())
        left = [
            one._replace(keys=tuple(key for key in one.keys if key not in taken))
            for one in CONTROLS
            if able[one.needs]
        ]
        return [one for one in left if one.keys]

    def _listen(self) -> None:
        for event in self._window.events():
            if self.closed:
                return
            self.handle(event)

    def handle(self, event: Any) -> None:
        """React to an event of pygame."""
        if event.type == pygame.QUIT:
            self.close()
        elif event.type in (pygame.KEYDOWN, pygame.KEYUP):
            self._key(key_name(event), event.type == pygame.KEYDOWN)
        elif event.type == pygame.MOUSEWHEEL:
            self.view.zoom(event.y, *self._mouse)
            self.following = False
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button in (1, 2, 3):
            self._press(event.pos, event.button)
        elif event.type == pygame.MOUSEMOTION:
            self._mouse = event.pos
            self._drag(event)
            return
        elif event.type == pygame.MOUSEBUTTONUP:
            self._release(event.pos, event.button)
        self._stale = True

    def _key(self, name: str, down: bool) -> None:
        listener = getattr(self.hands, "key", None)
        if (listener is not None and listener(name, down)) or not down:
            return
        for control in self.controls:
            if name in control.keys:
                getattr(self, control.action)()
                return

    def _press(self, place: tuple[int, int], button: int) -> None:
        strip = self._canvas.strip_at(place)
        self._pressed = ("strip", strip) if strip is not None else ("map", place)
        if strip is not None:
            self._click_strip(place)

    def _drag(self, event: Any) -> None:
        if self._pressed is None or not any(event.buttons):
            return
        kind, start = self._pressed
        if kind == "strip":
            self._click_strip(event.pos)
        elif kind == "drag" or max(abs(event.pos[k] - start[k]) for k in (0, 1)) > _CLICK:
            if kind == "map":
                dx, dy = event.pos[0] - start[0], event.pos[1] - start[1]
            else:
                dx, dy = event.rel
            self._pressed = "drag", start
            self.following = False
            self.view.pan(dx, dy)
        self._stale = True

    def _release(self, place: tuple[int, int], button: int) -> None:
        pressed, self._pressed = self._pressed, None
        if pressed is None or pressed[0] != "map":
            return
        cell = self.view.cell_at(*place) if self._canvas.on_map(place) else None
        if cell is None:
            if self._canvas.on_map(place):
                self.chosen = None
            return
        listener = getattr(self.hands, "cell", None)
        if listener is None or not listener(*cell, button):
            self._choose_at(*cell)

    def _click_strip(self, place: tuple[int, int]) -> None:
        strip, x, width = self._canvas.in_strip(self._pressed[1], place)
        if hasattr(strip, "click"):
            strip.click(x, width)

    def _choose_at(self, row: int, col: int) -> None:
        """The first agent of a cell; the next one of it when one is chosen already."""
        slots = self.show.scene(self.world).agents_at(row, col)
        if self.chosen in slots:
            self.chosen = slots[(slots.index(self.chosen) + 1) % len(slots)]
        else:
            self.chosen = slots[0] if slots else None
        if self.chosen is None:
            self.following = False

    # --- controls ---

    def pause(self) -> None:
        """Stand still, or go on."""
        self.paused = not self.paused
        self._due = time.perf_counter()

    def one_step(self) -> None:
        """Do one step and stand still."""
        self.paused = self._single = True

    def slower(self) -> None:
        """Half as fast."""
        self.speed = max(self.speed / 2, _SLOWEST)
        self._due = time.perf_counter()

    def faster(self) -> None:
        """Twice as fast."""
        self.speed = min(self.speed * 2, _FASTEST)
        self._due = time.perf_counter()

    def reset(self) -> None:
        """Start anew."""
        self.show.reset()

    def next_world(self) -> None:
        """Show the next world."""
        self.world = (self.world + 1) % self.show.num_worlds

    def previous_world(self) -> None:
        """Show the previous world."""
        self.world = (self.world - 1) % self.show.num_worlds

    def next_agent(self) -> None:
        """Choose the next agent that lives."""
        scene = self.show.scene(self.world)
        acting = np.flatnonzero(scene.alive & np.isin(scene.team, list(scene.team_names)))
        if len(acting):
            last = -1 if self.chosen is None else self.chosen
            later = acting[acting > last]
            self.chosen = int(later[0] if len(later) else acting[0])

    def follow(self) -> None:
        """Keep the chosen agent in the middle, or let go."""
        if self.chosen is None:
            self.next_agent()
        self.following = self.chosen is not None and not self.following

    def fit(self) -> None:
        """Show the whole grid."""
        self.following = False
        self.view.fit()

    def help(self) -> None:
        """Show or hide the keys."""
        self.helping = not self.helping

    def quit(self) -> None:
        """Close the help, or else the window."""
        if self.helping:
            self.helping = False
        else:
            self.close()


def view(
    sim: Any, policies: Any = None, *, num_worlds: int = 1, seed: Any = 0,
    horizon: int | None = 200, speed: float = 8, title: str | None = None,
) -> None:  # fmt: skip
    """Play a simulation in a window until it is closed.

    Args:
        sim: a simulation that can be vectorised, or a vectorised one.
        policies: as `abmarl.rollout.collect` takes them; None: everybody acts at random.
        num_worlds: how many worlds, if it is not vectorised yet.
        seed: of the worlds.
        horizon: longest episode in steps; None: no limit.
        speed: steps per second.
        title: what stands in the frame; None: the name of the simulation's class.

    Raises:
        OSError: there is no screen.
        ImportError: what draws is not installed.
    """
    from abmarl.render.shows import PolicyShow

    vec = sim
    if not hasattr(sim, "num_envs"):
        vec = sim.vectorize(num_worlds, seed=seed, horizon=horizon)
    name = title or type(getattr(vec, "sim", vec)).__name__
    Viewer(PolicyShow(vec, policies), title=name, speed=speed).run()
