"""Curves over time as PNG, with matplotlib's objects: no pyplot, no screen, no global state."""

import io
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from abmarl.extras import load
from abmarl.render.colors import rgb
from abmarl.render.films.partial import PartialFile

INK, LINE = "#34343a", "#c4c1b9"
PAPER = "#faf9f6"


def plot_alive(
    path: str | os.PathLike,
    alive: Mapping[str, np.ndarray],
    colors: Mapping[str, object] | None = None,
    *,
    title: str = "",
    xlabel: str = "step",
    ylabel: str = "agents alive",
    size: tuple[float, float] = (7.2, 4.2),
    dpi: int = 150,
) -> None:
    """Draw how many agents of each team are alive over time.

    Args:
        path: where the PNG goes; its folder must exist. An earlier file is replaced at the end.
        alive: per team, [T] numbers: means over worlds, as counts or as fractions.
        colors: per team, any colour that `abmarl.render.rgb` takes; others get one of the cycle.
        title: above the plot.
        xlabel: below the plot.
        ylabel: beside the plot.
        size: width and height in inches.
        dpi: pixels per inch.

    Raises:
        ValueError: another suffix than .png, no team, no step, or an array that is not [T].
        OSError: the file cannot be written.
        ImportError: matplotlib is missing.
    """
    curves = {name: np.asarray(values, dtype=np.float64) for name, values in alive.items()}
    for name, values in curves.items():
        if values.ndim != 1 or not values.size:
            raise ValueError(f"{name!r} has shape {list(values.shape)}, but must be [T] with T > 0")
    if not curves:
        raise ValueError("nothing to plot: `alive` has no team")

    def draw(figure) -> None:
        drawn = _resolved(curves, colors or {})
        _curves(figure.add_subplot(), curves, drawn, title, xlabel, ylabel)
        # Below the axes it can hide no curve.
        figure.legend(
            frameon=False, labelcolor=INK, ncols=min(len(curves), 5), loc="outside lower center"
        )

    write_figure(path, draw, size, dpi)


def write_figure(
    path: str | os.PathLike,
    draw: Callable[[Any], None],
    size: tuple[float, float],
    dpi: int,
    suffixes: tuple[str, ...] = (".png",),
) -> None:
    """Draw a figure and write it; an earlier file is replaced at the end.

    Args:
        path: where the picture goes; its folder must exist.
        draw: draws on the matplotlib figure it is given.
        size: width and height in inches.
        dpi: pixels per inch.
        suffixes: the suffixes that `path` may have.

    Raises:
        ValueError: another suffix.
        OSError: the file cannot be written.
        ImportError: matplotlib is missing.
    """
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in suffixes:
        raise ValueError(
            f"cannot plot to {os.fspath(path)!r}: known suffixes: {' '.join(suffixes)}"
        )
    figure_class = load("matplotlib.figure").Figure
    canvas = load("matplotlib.backends.backend_agg").FigureCanvasAgg
    file = PartialFile(path)
    try:
        figure = figure_class(figsize=size, dpi=dpi, facecolor=PAPER, layout="constrained")
        canvas(figure)
        draw(figure)
        data = io.BytesIO()
        # Equal figures make equal files.
        settings = {"svg.hashsalt": "abmarl", "svg.fonttype": "none"}
        with load("matplotlib").rc_context(settings):
            metadata = {"Date": None} if suffix == ".svg" else None
            figure.savefig(data, format=suffix[1:], metadata=metadata)
        file.write(data.getvalue())
        file.keep()
    except BaseException:
        file.discard()
        raise


def _resolved(curves, colors) -> dict[str, tuple[float, ...]]:
    chosen = {name: colors.get(name, f"C{k}") for k, name in enumerate(curves)}
    return {name: tuple(c / 255 for c in rgb(color)) for name, color in chosen.items()}


def _curves(axes, curves, colors, title: str, xlabel: str, ylabel: str) -> None:
    for name, values in curves.items():
        steps = np.arange(len(values))
        # A single step is a point, which a line does not show.
        dot = "o" if len(values) == 1 else None
        axes.plot(steps, values, color=colors[name], label=name, linewidth=2, marker=dot)
    last = max(len(values) for values in curves.values()) - 1
    top = max(float(np.nanmax(values, initial=0.0)) for values in curves.values())
    axes.set_xlim(0, max(last, 1))
    axes.set_ylim(0, 1.08 * top if top > 0 else 1)
    style(axes, title, xlabel, ylabel)


def style(axes: Any, title: str, xlabel: str, ylabel: str) -> None:
    """The look of all plots: a quiet grid, no frame, title at the left."""
    axes.set_facecolor(PAPER)
    axes.set_xlabel(xlabel, color=INK)
    axes.set_ylabel(ylabel, color=INK)
    if title:
        axes.set_title(title, loc="left", color=INK, fontsize=12, fontweight="bold", pad=10)
    axes.grid(color=LINE, alpha=0.6, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, length=0)
    for name, spine in axes.spines.items():
        spine.set_visible(name in ("bottom", "left"))
        spine.set_color(LINE)
