"""The ways to show a simulation that Gymnasium names: a window, a picture as an array, text.

Any simulation can be shown. One with a grid is drawn from its state. Any other one draws itself
into a figure of matplotlib, with ``render(fig=fig)`` as plain simulations do.
"""

import io
from typing import Any

import numpy as np

from abmarl.extras import load
from abmarl.render.drawing.ansi import ansi_text
from abmarl.render.drawing.figure import draw_figure, figure_picture
from abmarl.render.scenes.appearance import grid_of
from abmarl.render.scenes.scene import Scene
from abmarl.render.scenes.tracker import Tracker

RENDER_MODES = ("human", "rgb_array", "ansi")
# Steps per second in a window, and of films that Gymnasium's wrappers make.
RENDER_FPS = 10


def modes_of(sim: Any) -> tuple[str, ...]:
    """Return the modes in which a simulation can be shown: without a grid there is no text."""
    grid = grid_of(sim) is not None
    return RENDER_MODES if grid else tuple(mode for mode in RENDER_MODES if mode != "ansi")


def show(sim: Any, mode: str = "human", world: int = 0, fig: Any = None) -> Any:
    """Show a simulation as it is now.

    Args:
        sim: a simulation, single or vectorised, or a manager or wrapper around one.
        mode: ``"human"``: in a window, which stays open for the next call; ``"rgb_array"``: as an
            array; ``"ansi"``: as text with colours.
        world: which world of a vectorised simulation is shown first.
        fig: a matplotlib figure to draw into; `mode` does not matter then.

    Returns:
        For ``"rgb_array"`` uint8 [height, width, 3], for ``"ansi"`` text, else None.

    Raises:
        ValueError: there is no such mode or world, or no text of a simulation without a grid.
        TypeError: `fig` is no figure.
        OSError: there is no screen to open a window on.
        ImportError: what draws is not installed.
    """
    if mode not in RENDER_MODES:
        raise ValueError(f"mode must be {' or '.join(map(repr, RENDER_MODES))}, got {mode!r}")
    if fig is not None and not hasattr(fig, "add_subplot"):
        raise TypeError(f"fig is {fig!r}, but must be a matplotlib.figure.Figure")
    grid = grid_of(sim)
    if grid is None:
        return _show_plain(sim, mode, fig)
    if fig is not None:
        return draw_figure(Scene.of(grid, world), fig)
    if mode == "ansi":
        return ansi_text(Scene.of(grid, world))
    if mode == "rgb_array":
        return picture_of(grid, world)
    return _show_window(grid, world)


def close(sim: Any) -> None:
    """Close the window of a simulation, if it has one. Showing it again opens another one."""
    grid = grid_of(sim)
    window = vars(grid).pop("_shown_in", None) if grid is not None else None
    if window is not None and window.viewer is not None:
        window.viewer.close()


def picture(sim: Any, world: int = 0, size: tuple[int, int] | None = None) -> "Picture":
    """Return a picture of the present state, which notebooks show; see `picture_of`."""
    return Picture(picture_of(sim, world, size))


def picture_of(sim: Any, world: int = 0, size: tuple[int, int] | None = None) -> np.ndarray:
    """Return the pixels of the present state and nothing else: the same state, the same picture.

    Args:
        sim: a simulation, single or vectorised, or a manager or wrapper around one.
        world: which world of a vectorised simulation.
        size: width and height in pixels; by default what suits the grid.

    Returns:
        uint8 [height, width, 3].

    Raises:
        ValueError: there is no such world.
        ImportError: what draws is not installed.
    """
    if grid_of(sim) is None:
        return figure_picture(sim.render)
    from abmarl.render.drawing.surface import frame

    return frame(Scene.of(sim, world), size)


class Picture:
    """A picture; what stands last in a cell of a notebook is shown there.

    Args:
        pixels: uint8 [height, width, 3].

    Attributes:
        pixels: likewise.
    """

    def __init__(self, pixels: np.ndarray) -> None:
        self.pixels = pixels

    def png(self) -> bytes:
        """Return the picture as a PNG file.

        Raises:
            ImportError: Pillow is missing.
        """
        data = io.BytesIO()
        load("PIL.Image").fromarray(self.pixels).save(data, format="PNG")
        return data.getvalue()

    def _repr_png_(self) -> bytes:
        return self.png()

    def __repr__(self) -> str:
        return f"Picture({self.pixels.shape[1]} x {self.pixels.shape[0]} pixels)"


class Camera:
    """Takes pictures of one world, with what happened between them.

    Args:
        sim: a simulation, single or vectorised, or a manager or wrapper around one.
        world: which world of a vectorised simulation.
        size: width and height in pixels; by default what suits the grid.
        title: text below the picture.

    Raises:
        ValueError: there is no such world.
    """

    def __init__(
        self, sim: Any, world: int = 0, size: tuple[int, int] | None = None, title: str = ""
    ) -> None:
        self._sim, self._size = sim, size
        self._tracker = None
        if grid_of(sim) is not None:
            # Imported here, so that a library that is missing shows before the first step.
            from abmarl.render.drawing.surface import frame

            self._frame, self._tracker = frame, Tracker(sim, world, title)

    def take(self) -> np.ndarray:
        """Return the next picture, uint8 [height, width, 3]; call it after every step."""
        if self._tracker is None:
            return figure_picture(self._sim.render)
        return self._frame(self._tracker.look(), self._size)


class _OpenWindow:
    """Where a simulation keeps its window, which goes with it; copies of it have none.

    Attributes:
        viewer: the window, if there is one. One that the person in front of it has closed stays
            here: nobody wants it back at the next step.
    """

    def __init__(self, viewer: Any = None) -> None:
        self.viewer = viewer

    def __reduce__(self) -> tuple:
        return _OpenWindow, ()


def _show_window(grid: Any, world: int) -> None:
    window = vars(grid).get("_shown_in")
    if window is None or window.viewer is None:
        from abmarl.render.viewer.shows import SimulationShow
        from abmarl.render.viewer.viewer import Viewer

        viewer = Viewer(SimulationShow(grid), world=world, title=type(grid).__name__)
        viewer.open()
        window = grid._shown_in = _OpenWindow(viewer)
    window.viewer.update()


def _show_plain(sim: Any, mode: str, fig: Any) -> Any:
    if fig is not None:
        return sim.render(fig=fig)
    if mode == "human":
        return sim.render()
    if mode == "rgb_array":
        return figure_picture(sim.render)
    raise ValueError(
        f"{type(sim).__name__} has no grid to write as text: use mode='rgb_array' or 'human'"
    )
