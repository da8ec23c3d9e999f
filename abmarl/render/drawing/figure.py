"""Scenes in figures of matplotlib, and figures as pictures."""

from typing import Any

import numpy as np

from abmarl.extras import load
from abmarl.render.drawing.geometry import PICTURE
from abmarl.render.scenes.scene import Scene

_DPI = 100


def draw_figure(scene: Scene, fig: Any) -> None:
    """Draw a scene into a matplotlib figure, which is cleared before.

    Cell (row, col) has its middle at x = col + 0.5, y = row + 0.5, and rows go down.

    Args:
        scene: what to draw.
        fig: a ``matplotlib.figure.Figure``.
    """
    fig.clear()
    axes = fig.gca()
    axes.set(xlim=(0, scene.cols), ylim=(scene.rows, 0), aspect="equal")
    step = max(1, round(max(scene.rows, scene.cols) / 50))
    # Minor ticks are left out where major ones are.
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_xticks(np.arange(0, scene.cols + 1, step), minor=True)
    axes.set_yticks(np.arange(0, scene.rows + 1, step), minor=True)
    axes.grid(which="minor", color="0.88", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
    for number, look in enumerate(scene.looks):
        slots = np.flatnonzero(scene.alive & (scene.look == number))
        if not len(slots):
            continue
        color = [channel / 255 for channel in look.color]
        edge = {} if look.shape in "+x|_1234," else {"edgecolors": "0.15", "linewidths": 0.8}
        axes.scatter(
            scene.col[slots] + 0.5, scene.row[slots] + 0.5, s=look.size, marker=look.shape,
            color=[color], zorder=2, **edge,
        )  # fmt: skip
    for attacker, target in scene.attacks.tolist():
        if target >= 0:
            ends = [attacker, target]
            axes.plot(scene.col[ends] + 0.5, scene.row[ends] + 0.5, color="orangered", zorder=3)
    if scene.step is not None:
        axes.set_title(f"step {scene.step}", loc="left", fontsize=10)


def figure_picture(render: Any) -> np.ndarray:
    """Return the picture that a function draws into the figure that it is given.

    Args:
        render: called as ``render(fig=fig)``.

    Returns:
        uint8 [height, width, 3].

    Raises:
        ImportError: matplotlib is missing.
    """
    side = PICTURE / _DPI
    fig = load("matplotlib.figure").Figure(figsize=(side, side), dpi=_DPI)
    canvas = load("matplotlib.backends.backend_agg").FigureCanvasAgg(fig)
    render(fig=fig)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
