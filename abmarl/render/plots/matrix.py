"""Tables of numbers as pictures: who does how well against whom."""

import os
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from abmarl.render.plots.curves import INK, LINE, PAPER, write_figure

# Letters of a line of the title.
_LINE = 50
_LOW, _MIDDLE, _HIGH = (0.80, 0.36, 0.30), (0.99, 0.97, 0.92), (0.22, 0.55, 0.52)


def plot_matrix(
    path: str | os.PathLike,
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    limits: tuple[float, float] | None = None,
    dpi: int = 150,
) -> None:
    """Draw a matrix as coloured cells with their numbers.

    Args:
        path: where the PNG goes; its folder must exist. An earlier file is replaced at the end.
        values: float [rows, columns]; nan leaves a cell empty.
        rows, columns: what the rows and columns are called.
        title: above the picture.
        xlabel: below it.
        ylabel: beside it.
        limits: the numbers at the ends of the colours; by default the lowest and the highest.
        dpi: pixels per inch.

    Raises:
        ValueError: another suffix than .png, or the names are not as many as the values.
        OSError: the file cannot be written.
        ImportError: matplotlib is missing.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (len(rows), len(columns)) or not values.size:
        raise ValueError(
            f"values has shape {list(values.shape)}, there are {len(rows)} rows and "
            f"{len(columns)} columns"
        )
    low, high = limits or _range(values)
    lines = textwrap.wrap(title, _LINE)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.imshow(_colors(values, low, high), aspect="auto")
        for (row, column), value in np.ndenumerate(values):
            if not np.isnan(value):
                axes.text(column, row, f"{value:,.2f}", ha="center", va="center", color=INK)
        axes.set_xticks(range(len(columns)), columns, rotation=0 if len(columns) < 5 else 30)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_xlabel(xlabel, color=INK)
        axes.set_ylabel(ylabel, color=INK)
        if lines:
            axes.set_title(
                "\n".join(lines), loc="left", color=INK, fontsize=12, fontweight="bold", pad=10
            )
        axes.tick_params(colors=INK, length=0)
        axes.set_xticks(np.arange(len(columns) - 1) + 0.5, minor=True)
        axes.set_yticks(np.arange(len(rows) - 1) + 0.5, minor=True)
        axes.grid(which="minor", color=PAPER, linewidth=3)
        axes.tick_params(which="minor", length=0)
        for spine in axes.spines.values():
            spine.set_color(LINE)

    # In inches: names of rows, then the cells; the title begins above these.
    left = 0.9 + 0.07 * max(map(len, rows))
    width = max(1.3 + 1.3 * len(columns), 0.2 + 0.12 * max(map(len, lines), default=0))
    size = (left + width, 1.7 + 0.7 * len(rows) + 0.2 * max(len(lines) - 1, 0))
    write_figure(path, draw, size, dpi)


def _range(values: np.ndarray) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    return (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)


def _colors(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """float [rows, columns, 3]; cells without a value have the colour of the middle."""
    share = (values - low) / (high - low) if high > low else np.full(values.shape, 0.5)
    share = np.clip(np.nan_to_num(share, nan=0.5), 0, 1)
    ends = zip(_LOW, _MIDDLE, _HIGH, strict=True)
    return np.stack([np.interp(share, (0, 0.5, 1), end) for end in ends], axis=-1)
