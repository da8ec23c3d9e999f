"""The viewer: a window on a `Show`, with controls.

A `Viewer` is driven in one of two ways. `Viewer.run` plays a show that can step until its window is
closed. `Viewer.update` is for loops of somebody else, who steps a simulation and calls it after
every step; it draws, keeps to the pace that is set, and does not return while the viewer is paused.

Two things can be added: an `abmarl.render.InputHandler`, which reacts to keys and clicks before the
viewer does, such as a player; and, below the map, any `abmarl.render.Widget`, such as a timeline.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from abmarl.render.drawing.geometry import MARGIN, SCORE_HEIGHT, MapView, picture_size
from abmarl.render.drawing.library import pygame
from abmarl.render.drawing.surface import pixels_of
from abmarl.render.scenes.appearance import grid_of
from abmarl.render.scenes.scene import Scene
from abmarl.render.viewer.canvas import Canvas, Widget
from abmarl.render.viewer.controls import CONTROLS, Control, Events, InputHandler
from abmarl.render.viewer.panel import PANEL_WIDTH
from abmarl.render.viewer.shows import PolicyShow, Show
from abmarl.render.viewer.window import Window

_FRAMES = 60  # per second, at most
_SLOWEST, _FASTEST = 0.5, 512.0  # steps per second
_LOWEST = 460  # pixels that the panel needs, also beside a low grid


def view(
    sim: Any, policies: Any = None, *, num_worlds: int = 1, seed: Any = 0,
    horizon: int | None = 200, speed: float = 8, title: str | None = None,
) -> None:  # fmt: skip
    """Play a simulation in a window until it is closed. It is vectorised for that.

    Args:
        sim: a grid simulation that can be vectorised, or a vectorised one.
        policies: as `abmarl.rollout.collect` takes them; None: everybody acts at random.
        num_worlds: how many worlds, if it is not vectorised yet.
        seed: of the worlds.
        horizon: longest episode in steps; None: no limit.
        speed: steps per second.
        title: what stands in the frame; None: the name of the simulation's class.

    Raises:
        TypeError: `sim` has no grid, or cannot be vectorised.
        ValueError: the speed is not above 0, or there is no such policy.
        OSError: there is no screen.
        ImportError: what draws is not installed.
    """
    grid = grid_of(sim)
    if grid is None:
        shown = repr(sim) if isinstance(sim, str | int | float | None) else type(sim).__name__
        raise TypeError(
            f"sim is {shown}, but must be a grid world simulation that has been built, or a "
            "vectorised one"
        )
    vec = next((one for one in (sim, grid) if hasattr(one, "num_envs")), None)
    if vec is None:
        try:
            vec = grid.vectorize(num_worlds, seed=seed, horizon=horizon)
        except (TypeError, NotImplementedError) as error:
            raise TypeError(
                f"sim cannot be vectorised, which view needs: {error}\nStep it in a loop of your "
                "own and call sim.render() after every step"
            ) from error
    name = title or type(getattr(vec, "sim", vec)).__name__
    Viewer(PolicyShow(vec, policies), title=name, speed=speed).run()


class Viewer:
    """Shows the worlds of a `Show` in a window.

    Args:
        show: what to show.
        title: what stands in the window's frame.
        speed: steps per second.
        world: which world is shown first.
        size: width and height of the window in pixels; by default what suits the grid.
        input_handler: reacts to keys and clicks before the viewer does.
        widgets: what is drawn below the map, from the top downwards.
        paused: whether it starts paused.

    Attributes:
        world: the world that is shown.
        chosen: the number of the agent whose panel is open, or None.
        following: whether the chosen agent is kept in the middle.
        helping: whether the keys are shown.
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
        size: tuple[int, int] | None = None, input_handler: InputHandler | None = None,
        widgets: Sequence[Widget] = (), paused: bool = False,
    ) -> None:  # fmt: skip
        if not 0 <= world < show.num_worlds:
            raise ValueError(f"world is {world!r}, but there are {show.num_worlds}, from 0")
        if not 0 < speed < float("inf"):
            raise ValueError(f"speed is {speed!r}, but must be a number of steps above 0")
        self.show, self.title, self.world = show, title, world
        self.input_handler = input_handler or InputHandler()
        self.input_handler.viewer = self
        self.widgets = list(widgets)
        self.speed, self.paused = float(speed), paused
        self.chosen: int | None = None
        self._drawn: tuple[int, str] | None = None  # who was chosen in the last picture
        self.following = self.helping = self.closed = False
        self.canvas = Canvas(self)
        scene = show.scene(world)
        width, height = picture_size(scene.rows, scene.cols)
        # With room for the panel, so that the grid need not shrink when it opens.
        high = max(height - SCORE_HEIGHT + self.canvas.height_below + MARGIN, _LOWEST)
        self._size = size or (max(width, 480) + PANEL_WIDTH, high)
        self.view = MapView(scene.rows, scene.cols, self.canvas.map_rect(self._size).size)
        self._window: Any = None  # a `Window` while it is open
        self._due = time.perf_counter()
        self._single = False  # a step was asked for while paused
        self.stale = True
        self._events = Events(self)

    # --- the two ways to drive it ---

    def run(self) -> None:
        """Play the show until the window is closed.

        Raises:
            OSError: there is no screen.
        """
        self.open()
        while not self.closed:
            began = time.perf_counter()
            self._listen()
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
            OSError: there is no screen.
        """
        if self.closed:
            return False
        self.open()
        self.show.look()
        self.stale = True
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
            OSError: there is no screen.
        """
        if self._window is None and not self.closed:
            self._window = Window(self._size, self.title)

    def close(self) -> None:
        """Close the window for good."""
        self.closed = True
        if self._window is not None:
            self._window.close()
            self._window = None

    def handle(self, event: Any) -> None:
        """React to an event of pygame, as if it had come from the window."""
        self._events.handle(event)

    def _listen(self) -> None:
        for event in self._window.events():
            if self.closed:
                return
            self.handle(event)

    def _may_step(self) -> bool:
        """Return whether it is time for a step, which then counts as done."""
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

    def picture(self) -> np.ndarray:
        """Return what the window shows: uint8 [height, width, 3]. Needs no window."""
        size = self._size if self._window is None else self._window.surface.get_size()
        surface = pygame.Surface(size, 0, 32)
        self.draw(surface)
        return pixels_of(surface)

    def draw(self, surface: pygame.Surface) -> None:
        """Draw all of the window on a surface."""
        scene = self.show.scene(self.world)
        self._check_chosen(scene)
        if (scene.rows, scene.cols) != (self.view.rows, self.view.cols):
            self.view = MapView(scene.rows, scene.cols, self.view.size)
        self.view.resize(self.canvas.map_rect(surface.get_size()).size)
        if self.following and self.chosen is not None:
            self.view.center(int(scene.row[self.chosen]), int(scene.col[self.chosen]))
        self.canvas.draw(surface, scene)

    def _check_chosen(self, scene: Scene) -> None:
        """Let go of the chosen agent where its number now stands for another one."""
        slot, before = self.chosen, self._drawn
        if slot is not None and (
            slot >= len(scene.ids)
            or (before is not None and before[0] == slot and before[1] != scene.ids[slot])
        ):
            self.chosen = None
            self.following = False
        self._drawn = None if self.chosen is None else (self.chosen, scene.ids[self.chosen])

    def _present(self) -> None:
        if self.stale and not self.closed:
            self.draw(self._window.surface)
            self._window.present()
            self.stale = False

    # --- what its controls do, by their names in `CONTROLS` ---

    @property
    def controls(self) -> list[Control]:
        """The controls that the show has a use for, with the keys that nobody else has taken."""
        able = {
            "": True,
            "several": self.show.num_worlds > 1,
            "can_reset": self.show.can_reset,
            "pace": not self.show.waits,
        }
        taken = self.input_handler.reserved_keys
        left = [
            one._replace(keys=tuple(key for key in one.keys if key not in taken))
            for one in CONTROLS
            if able[one.needs]
        ]
        return [one for one in left if one.keys]

    def pause(self) -> None:
        """Stand still, or go on."""
        self.paused = not self.paused
        self._due = time.perf_counter()

    def one_step(self) -> None:
        """Do one step and stand still."""
        self.paused = self._single = True

    def slower(self) -> None:
        """Halve the speed."""
        self.speed = max(self.speed / 2, min(_SLOWEST, self.speed))
        self._due = time.perf_counter()

    def faster(self) -> None:
        """Double the speed."""
        self.speed = min(self.speed * 2, max(_FASTEST, self.speed))
        self._due = time.perf_counter()

    def reset(self) -> None:
        """Start the show over."""
        self.show.reset()

    def next_world(self) -> None:
        """Show the next world."""
        self.world = (self.world + 1) % self.show.num_worlds

    def previous_world(self) -> None:
        """Show the previous world."""
        self.world = (self.world - 1) % self.show.num_worlds

    def next_agent(self) -> None:
        """Choose the next agent that is alive and acts."""
        scene = self.show.scene(self.world)
        acting = np.flatnonzero(scene.alive & scene.acting)
        if len(acting):
            last = -1 if self.chosen is None else self.chosen
            later = acting[acting > last]
            self.chosen = int(later[0] if len(later) else acting[0])

    def choose_at(self, row: int, col: int) -> None:
        """Choose the first agent of a cell, or the next one of it when one is chosen already."""
        slots = self.show.scene(self.world).agents_at(row, col)
        if self.chosen in slots:
            self.chosen = slots[(slots.index(self.chosen) + 1) % len(slots)]
        else:
            self.chosen = slots[0] if slots else None
            self.following = self.following and bool(slots)

    def follow(self) -> None:
        """Keep the chosen agent in the middle, or let go; zoom in where the whole grid is shown."""
        if self.chosen is None:
            self.next_agent()
        self.following = self.chosen is not None and not self.following
        if self.following and self.view.shows_all:
            self.view.approach()

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
