"""Small drawings of grids for the pages: boards with agents, windows with numbers.

The pages call it in the part of their code that readers do not see.
"""

import io
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

PAPER, LINE, INK = "#faf9f6", "#c4c1b9", "#34343a"
HIDDEN, OUTSIDE = "#6d6a78", "#d9d6cd"
HINT, GOOD, BAD = "#fbe3a4", "#bfe3c3", "#f3c1b8"
_TINTS = ("#ffffff", "#cfe0f7", "#f9d7d3", "#d5ecd4", "#f4e3b8", "#e3d5f0", "#d3e9ea")
# Equal pictures make equal files, and text is text that can be searched.
_STYLE = {"svg.hashsalt": "abmarl", "svg.fonttype": "none", "font.family": "sans-serif"}


class Panel:
    """One grid of cells, drawn from row 0 at the top; methods return the panel itself.

    Args:
        rows, cols: Its size.
        title: A line above it.
    """

    def __init__(self, rows: int, cols: int, title: str = ""):
        self.rows, self.cols, self.title = rows, cols, title
        self._strokes = []
        # Upper left and lower right cell that are to be seen; frames may stick out of the grid.
        self._view = [0, 0, rows - 1, cols - 1]

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns that are to be seen."""
        top, left, bottom, right = self._view
        return bottom - top + 1, right - left + 1

    def shade(self, cells, color: str = HINT) -> "Panel":
        """Colours cells: pairs (row, col), or a bool array [rows, cols]."""
        for row, col in _listed(cells):
            patch = {"facecolor": color, "linewidth": 0, "zorder": 1}
            self._strokes.append(
                lambda axes, r=row, c=col, p=patch: axes.add_patch(
                    Rectangle((c - 0.5, r - 0.5), 1, 1, **p)
                )
            )
        return self

    def write(self, cell, text, color: str = INK, size: int = 10) -> "Panel":
        """Write into a cell (row, col)."""
        row, col = cell
        self._strokes.append(
            lambda axes: axes.text(
                col, row, str(text), ha="center", va="center", color=color, fontsize=size, zorder=6
            )
        )
        return self

    def numbers(self, array, size: int = 10) -> "Panel":
        """Write an array [rows, cols] of encodings, with a colour for each.

        -2 is hidden, -1 outside, 0 empty.
        """
        for (row, col), value in np.ndenumerate(np.asarray(array)):
            number = int(value)
            color = {-2: HIDDEN, -1: OUTSIDE}.get(number, _TINTS[number % len(_TINTS)])
            self.shade([(row, col)], color)
            ink = "#ffffff" if number == -2 else LINE if number == 0 else INK
            self.write((row, col), number, ink, size)
        return self

    def agents(self, sim, names=None) -> "Panel":
        """Draws the active agents of a single simulation as they look; all, or those named."""
        for name, agent in sim.agents.items():
            if agent.active and agent.position is not None and (names is None or name in names):
                self.mark(agent.position, agent.render_shape, agent.render_color)
        return self

    def mark(self, cell, shape: str = "o", color: str = INK, hollow: bool = False) -> "Panel":
        """Draws a matplotlib marker into a cell."""
        row, col = cell
        face = "none" if hollow else color
        self._strokes.append(
            lambda axes: axes.scatter(
                [col], [row], marker=shape, s=190, facecolors=face, edgecolors=color, zorder=4,
                linewidths=1.5,
            )
        )  # fmt: skip
        return self

    def arrow(self, start, end, color: str = INK) -> "Panel":
        """Draws an arrow from cell to cell."""
        style = {"arrowstyle": "->", "color": color, "lw": 1.6, "shrinkA": 7, "shrinkB": 2}
        self._strokes.append(
            lambda axes: axes.annotate(
                "", xy=(end[1], end[0]), xytext=(start[1], start[0]), arrowprops=style, zorder=5
            )
        )
        return self

    def frame(self, row, col, height, width, color: str = "#2b6cb0") -> "Panel":
        """Draws a line around a rectangle of cells, given by its upper left one."""
        low, high = self._view[:2], self._view[2:]
        low = np.minimum(low, (row, col)).tolist()
        high = np.maximum(high, (row + height - 1, col + width - 1)).tolist()
        self._view = [*low, *high]
        box = {"fill": False, "edgecolor": color, "linewidth": 2.2, "zorder": 3}
        self._strokes.append(
            lambda axes: axes.add_patch(
                Rectangle((col - 0.5, row - 0.5), width, height, clip_on=False, **box)
            )
        )
        return self

    def draw(self, axes) -> None:
        """Draws everything on matplotlib axes."""
        top, left, bottom, right = self._view
        margin = 0.55  # so that lines at the edge are drawn in full width
        axes.set(xlim=(left - margin, right + margin), ylim=(bottom + margin, top - margin))
        axes.set(aspect="equal", xticks=[], yticks=[])
        axes.set_facecolor(PAPER)
        axes.add_patch(Rectangle((-0.5, -0.5), self.cols, self.rows, facecolor="#ffffff", zorder=0))
        edges = {"colors": LINE, "linewidth": 0.8, "zorder": 2}
        axes.hlines(np.arange(self.rows + 1) - 0.5, -0.5, self.cols - 0.5, **edges)
        axes.vlines(np.arange(self.cols + 1) - 0.5, -0.5, self.rows - 0.5, **edges)
        for spine in axes.spines.values():
            spine.set_visible(False)
        for stroke in self._strokes:
            stroke(axes)
        if self.title:
            axes.set_title(self.title, fontsize=10, color=INK, pad=6)


def board(sim, title: str = "", names=None) -> Panel:
    """Return the grid of a single simulation with its agents."""
    return Panel(sim.grid.rows, sim.grid.cols, title).agents(sim, names)


def window(array, title: str = "") -> Panel:
    """Return an array of encodings [rows, cols] as an observer gives it."""
    rows, cols = np.asarray(array).shape
    return Panel(rows, cols, title).numbers(array)


def figure(panels, cell: float = 0.36) -> Figure:
    """Panels side by side, all cells of one size."""
    rows, cols = zip(*(panel.size for panel in panels), strict=True)
    width = sum(cols) * cell + 0.5 * len(panels)
    height = max(rows) * cell + (0.6 if any(panel.title for panel in panels) else 0.3)
    made = Figure(figsize=(width, height), facecolor=PAPER, layout="constrained")
    FigureCanvasAgg(made)
    axes = made.subplots(1, len(panels), squeeze=False, width_ratios=cols)[0]
    for panel, one in zip(panels, axes, strict=True):
        panel.draw(one)
    return made


def beside(*frames) -> np.ndarray:
    """Frames uint8 [height, width, 3] of one height in a row."""
    gap = np.full((frames[0].shape[0], 12, 3), 255, np.uint8)
    parts = [part for frame in frames for part in (frame, gap)]
    return np.concatenate(parts[:-1], axis=1)


def rendered(picture) -> bytes:
    """Return a picture as the contents of a file: PNG of a frame, a film as it is, else SVG.

    Args:
        picture: A panel, a list of panels, a matplotlib figure, a frame uint8 [h, w, 3], or the
            path of a GIF.

    Raises:
        TypeError: It is none of them.
    """
    data = io.BytesIO()
    if isinstance(picture, Path):
        return picture.read_bytes()
    if isinstance(picture, np.ndarray):
        from PIL import Image

        Image.fromarray(picture).save(data, format="PNG", optimize=True)
        return data.getvalue()
    if isinstance(picture, Panel):
        picture = [picture]
    if isinstance(picture, list):
        picture = figure(picture)
    if not isinstance(picture, Figure):
        raise TypeError(f"a picture is a Panel, a list of them, a figure or a frame: {picture!r}")
    with matplotlib.rc_context(_STYLE):
        picture.savefig(data, format="svg", metadata={"Date": None})
    return data.getvalue()


def suffix(data: bytes) -> str:
    """Return the suffix of the name of a file with these contents."""
    starts = {b"\x89PNG": ".png", b"GIF8": ".gif"}
    return starts.get(data[:4], ".svg")


def _listed(cells):
    array = np.asarray(cells)
    return np.argwhere(array).tolist() if array.dtype == bool else array.reshape(-1, 2).tolist()
