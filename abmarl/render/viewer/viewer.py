"""The viewer: a window on a show, with controls.

A `Viewer` is driven in one of two ways. `run` plays a show that can step until its window is
closed. `update` is for loops of somebody else, who steps a simulation and calls it after every
step; it draws, keeps to the pace that is set, and does not return while the viewer is paused.

Two things can be added:

- ``hands``, something that reacts to keys and clicks, such as a player. It may have the methods
  ``key(name, down) -> bool`` (a key, named as `controls.key_name` does, was pressed or let go) and
  ``cell(row, col, button) -> bool`` (a cell was clicked at). It is asked first, and what it returns
  True for is not taken as a control of the viewer. ``beside(button) -> bool`` is asked likewise
  when the map was clicked at outside of the grid. ``keys``, pairs of keys and what they do, stands
  in the help; ``taken``, names of keys, are left out among the viewer's controls; ``marks()`` gives
  a `Mark` for every agent that is to be framed.
- ``strips``, what is drawn below the map, from the top downwards, such as a timeline. A strip has a
  ``height`` in pixels, ``draw(surface)`` for a surface of that height, and may have ``click(x,
  width)`` (somebody clicked at, or dragged to, pixel x of ``width``).
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from abmarl.extras import load
from abmarl.render.drawing.layout import MARGIN, SCORE_HEIGHT, picture_size
from abmarl.render.drawing.surface import pixels_of
from abmarl.render.scenes.scene import Scene
from abmarl.render.viewer.canvas import Canvas
from abmarl.render.viewer.commands import Commands
from abmarl.render.viewer.gestures import Gestures
from abmarl.render.viewer.mapview import MapView
from abmarl.render.viewer.panel import PANEL_WIDTH
from abmarl.render.viewer.shows import Show
from abmarl.render.viewer.window import Window

pygame = load("pygame")

_FRAMES = 60  # per second, at most
_LOWEST = 460  # pixels that the panel needs, also beside a low grid


class Viewer(Commands):
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
        view: the part of the grid that is shown.
        canvas: the parts of the window.
        stale: whether there is something new to draw.

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
        self._drawn: tuple[int, str] | None = None  # who was chosen in the last picture
        self.following = self.helping = self.closed = False
        scene = show.scene(world)
        below = SCORE_HEIGHT + sum(strip.height for strip in self.strips)
        width, height = picture_size(scene.rows, scene.cols)
        # With room for the panel, so that the grid need not shrink when it opens.
        high = max(height - SCORE_HEIGHT + below + MARGIN, _LOWEST)
        self._size = size or (max(width, 480) + PANEL_WIDTH, high)
        self.canvas = Canvas(self)
        self.view = MapView(scene.rows, scene.cols, self.canvas.map_rect(self._size).size)
        self._window: Window | None = None
        self._due = time.perf_counter()
        self._single = False  # a step was asked for while paused
        self.stale = True
        self._gestures = Gestures(self)

    # --- the two ways to drive it ---

    def run(self) -> None:
        """Play the show until the window is closed.

        Raises:
            OSError: There is no screen.
        """
        self.open()
        while not self.closed:
            began = time.perf_counter()
            self._gestures.listen(self._window.events())
            while not (self.closed or self.show.waits) and self._may_step():
                # What is over now may go on later, after a key or a reset.
                if not self.show.step():
                    break
                self.stale = True
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
        self.stale = True
        while True:
            began = time.perf_counter()
            self._gestures.listen(self._window.events())
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
        self._let_go(scene)
        if (scene.rows, scene.cols) != (self.view.rows, self.view.cols):
            self.view = MapView(scene.rows, scene.cols, self.view.size)
        self.view.resize(self.canvas.map_rect(surface.get_size()).size)
        if self.following and self.chosen is not None:
            self.view.center(int(scene.row[self.chosen]), int(scene.col[self.chosen]))
        self.canvas.draw(surface, scene)

    def _let_go(self, scene: Scene) -> None:
        """Nobody is chosen any more where the number means somebody else than before."""
        slot, before = self.chosen, self._drawn
        if slot is not None and (
            slot >= len(scene.ids)
            or (before is not None and before[0] == slot and before[1] != scene.ids[slot])
        ):
            self.chosen = None
            self.following = False
        self._drawn = None if self.chosen is None else (self.chosen, scene.ids[self.chosen])

    def picture(self) -> np.ndarray:
        """What the window shows: uint8 [height, width, 3]. Needs no window."""
        size = self._size if self._window is None else self._window.surface.get_size()
        surface = pygame.Surface(size, 0, 32)
        self.draw(surface)
        return pixels_of(surface)

    def handle(self, event: Any) -> None:
        """React to an event of pygame, as if it had come from the window."""
        self._gestures.handle(event)

    def _present(self) -> None:
        if self.stale and not self.closed:
            self.draw(self._window.surface)
            self._window.present()
            self.stale = False
