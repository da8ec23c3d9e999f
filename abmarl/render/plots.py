"""Plots as files: curves over time, matrices of numbers, and what happened in rollouts.

They are made of matplotlib's objects: no pyplot, no screen, no global state.
"""

import io
import os
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from abmarl.extras import load
from abmarl.files import PartialFile
from abmarl.render.colors import rgb
from abmarl.rollout.columns import Rollout
from abmarl.rollout.whereabouts import Whereabouts

INK, LINE, PAPER = "#34343a", "#c4c1b9", "#faf9f6"
_TITLE_LETTERS = 50  # of a line of a matrix's title
# Of a matrix: the colours of its lowest, middle and highest number.
_LOW, _MIDDLE, _HIGH = (0.80, 0.36, 0.30), (0.99, 0.97, 0.92), (0.22, 0.55, 0.52)
_LINE_STYLES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (5, 2, 1, 2)))


def plot_alive(
    path: str | os.PathLike, alive: Mapping[str, np.ndarray],
    colors: Mapping[str, object] | None = None, *, title: str = "", xlabel: str = "step",
    ylabel: str = "agents alive", size: tuple[float, float] = (7.2, 4.2), dpi: int = 150,
) -> None:  # fmt: skip
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

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for k, (name, values) in enumerate(curves.items()):
            color = _unit_rgb((colors or {}).get(name, f"C{k}"))
            # A single step is a point, which a line does not show.
            dot = "o" if len(values) == 1 else None
            axes.plot(values, color=color, label=name, linewidth=2, marker=dot)
        last = max(len(values) for values in curves.values()) - 1
        top = max(float(np.nanmax(values, initial=0.0)) for values in curves.values())
        axes.set_xlim(0, max(last, 1))
        axes.set_ylim(0, 1.08 * top if top > 0 else 1)
        _style(axes, title, xlabel, ylabel)
        # Below the axes it can hide no curve.
        figure.legend(
            frameon=False, labelcolor=INK, ncols=min(len(curves), 5), loc="outside lower center"
        )

    _write_figure(path, draw, size, dpi)


def plot_matrix(
    path: str | os.PathLike, values: np.ndarray, rows: Sequence[str], columns: Sequence[str], *,
    title: str = "", xlabel: str = "", ylabel: str = "",
    limits: tuple[float, float] | None = None, dpi: int = 150,
) -> None:  # fmt: skip
    """Draw a matrix as coloured cells with their numbers.

    Args:
        path: where the PNG goes; its folder must exist. An earlier file is replaced at the end.
        values: float [rows, columns]; nan leaves a cell empty.
        rows: what the rows are called.
        columns: what the columns are called.
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
    lines = textwrap.wrap(title, _TITLE_LETTERS)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.imshow(_heat_colors(values, low, high), aspect="auto")
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
    _write_figure(path, draw, size, dpi)


def _range(values: np.ndarray) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    return (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)


def _heat_colors(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return float [rows, columns, 3]; cells without a value have the colour of the middle."""
    share = (values - low) / (high - low) if high > low else np.full(values.shape, 0.5)
    share = np.clip(np.nan_to_num(share, nan=0.5), 0, 1)
    ends = zip(_LOW, _MIDDLE, _HIGH, strict=True)
    return np.stack([np.interp(share, (0, 0.5, 1), end) for end in ends], axis=-1)


class Run(NamedTuple):
    """A rollout to plot.

    Attributes:
        name: what to call it.
        rollout: the rollout.
        where: where its agents were, for heat maps; None: there are none.
        colors: group -> any colour that `abmarl.render.rgb` takes; others get one of the cycle.
    """

    name: str
    rollout: Rollout
    where: Whereabouts | None = None
    colors: Mapping[str, Any] = {}


def plot_runs(path: str | os.PathLike, runs: Sequence[Run], dpi: int = 130) -> None:
    """Draw runs beside one another.

    Above are the returns per group and the lengths of all episodes that ended, and how many agents
    of a group act over the steps of an episode. Below are, per run and group, heat maps of where
    its agents were and of where they attacked. Runs differ in their lines.

    Args:
        path: where the picture goes, .png or .svg; its folder must exist.
        runs: what to draw.
        dpi: pixels per inch of a PNG.

    Raises:
        ValueError: another suffix, or no run.
        OSError: the file cannot be written.
        ImportError: matplotlib is missing.
    """
    if not runs:
        raise ValueError("nothing to plot: there is no run")
    groups = list(dict.fromkeys(name for run in runs for name in run.rollout.groups))
    colors = _group_colors(runs, groups)
    maps = [
        (run, what, counts)
        for run in runs
        if run.where is not None
        for what, counts in (("were", run.where.been), ("attacked", run.where.attacked))
        if any(one.any() for one in counts.values())
    ]
    across = max(len(groups), 1)
    height = 3.6 + sum(_map_height(run, across) for run, _, _ in maps) + 0.4

    def draw(figure: Any) -> None:
        ratios = [3.6, *(_map_height(run, across) for run, _, _ in maps)]
        panels = figure.subfigures(len(ratios), 1, height_ratios=ratios, squeeze=False)[:, 0]
        for panel in panels:
            panel.set_facecolor(PAPER)
        _draw_curves(panels[0], runs, groups, colors)
        for panel, (run, what, counts) in zip(panels[1:], maps, strict=True):
            _draw_maps(panel, run, what, counts, groups, len(runs) > 1)

    _write_figure(path, draw, (12.0, height), dpi, (".png", ".svg"))


def acting_over_time(rollout: Rollout) -> dict[str, np.ndarray]:
    """Return how many agents of each group act over the steps of an episode.

    Entry k is the mean over all episodes that had a step k; steps are counted from 0.

    Returns:
        group -> float64 [K].
    """
    steps = np.arange(rollout.num_steps)[:, None]
    started = np.zeros((rollout.num_steps, rollout.num_envs), np.int64)
    started[1:] = np.where(rollout.ended[:-1], steps[1:], 0)
    age = (steps - np.maximum.accumulate(started, axis=0)).ravel()
    episodes = np.bincount(age)
    return {
        name: np.bincount(age, weights=active.sum(axis=2).ravel()) / episodes
        for name, active in rollout.active.items()
    }


def _write_figure(
    path: str | os.PathLike, draw: Callable[[Any], None], size: tuple[float, float], dpi: int,
    suffixes: tuple[str, ...] = (".png",),
) -> None:  # fmt: skip
    """Write the figure that `draw` draws; an earlier file is replaced at the end."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in suffixes:
        raise ValueError(
            f"cannot plot to {os.fspath(path)!r}: known suffixes: {' '.join(suffixes)}"
        )
    figure_class = load("matplotlib.figure").Figure
    canvas = load("matplotlib.backends.backend_agg").FigureCanvasAgg
    with PartialFile(path) as file:
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


def _style(axes: Any, title: str, xlabel: str, ylabel: str) -> None:
    """Give axes the look of all plots: a quiet grid, no frame, title at the left."""
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


def _draw_curves(panel: Any, runs: Sequence[Run], groups: list[str], colors: dict) -> None:
    axes = panel.subplots(1, 3, width_ratios=[1.25, 1, 1.25])
    _draw_returns(axes[0], runs, groups, colors)
    _draw_lengths(axes[1], runs)
    for run, line in zip(runs, _line_styles(runs), strict=True):
        for name, values in acting_over_time(run.rollout).items():
            # A single step is a point, which a line does not show.
            dot = "o" if len(values) == 1 else None
            axes[2].plot(values, color=colors[name], linestyle=line, linewidth=1.8, marker=dot)
    _style(axes[2], "survivors", "step of the episode", "agents that act, on average")
    axes[2].set_ylim(bottom=0)
    _legend(panel, runs, groups, colors)


def _draw_returns(axes: Any, runs: Sequence[Run], groups: list[str], colors: dict) -> None:
    """Draw a box per group and run: quartiles, whiskers from the 5th to the 95th percentile."""
    width = 0.8 / len(runs)
    some = False
    for k, (run, line) in enumerate(zip(runs, _line_styles(runs), strict=True)):
        for place, name in enumerate(groups):
            returns = run.rollout.episodes.returns.get(name, np.empty(0))
            if not len(returns):
                continue
            some = True
            at = place + (k - (len(runs) - 1) / 2) * width
            box = axes.boxplot(
                returns, positions=[at], widths=0.8 * width, whis=(5, 95), showfliers=False,
                patch_artist=True, medianprops={"color": INK, "linewidth": 1.6},
            )  # fmt: skip
            for patch in box["boxes"]:
                patch.set(facecolor=(*colors[name], 0.35), edgecolor=colors[name], linestyle=line)
            for stroke in (*box["whiskers"], *box["caps"]):
                stroke.set(color=colors[name])
    _style(axes, "episode return", "", "rewards of the whole group")
    axes.set_xticks(range(len(groups)), [_short(name) for name in groups])
    axes.set_xlim(-0.6, len(groups) - 0.4)
    if not some:
        _write_empty(axes)


def _draw_lengths(axes: Any, runs: Sequence[Run]) -> None:
    lengths = [run.rollout.episodes.length for run in runs]
    longest = max((int(one.max(initial=0)) for one in lengths), default=0)
    # A bin per step up to forty, else forty bins of whole steps.
    step = max(1, -(-longest // 40))
    bins = np.arange(0, longest + 2 * step, step) - 0.5
    for one, line in zip(lengths, _line_styles(runs), strict=True):
        if len(one):
            axes.hist(
                one, bins, weights=np.full(len(one), 100 / len(one)), histtype="stepfilled",
                facecolor=(0.3, 0.3, 0.34, 0.18), edgecolor=INK, linestyle=line, linewidth=1.4,
            )  # fmt: skip
    _style(axes, "episode length", "steps", "percent of the episodes")
    if not longest:
        _write_empty(axes)


def _draw_maps(
    panel: Any, run: Run, what: str, counts: dict[str, np.ndarray], groups: list[str], named: bool
) -> None:
    """Draw a row of maps, from pale to dark: shares of all that was counted for a group."""
    axes = panel.subplots(1, len(groups), squeeze=False)[0]
    panel.suptitle(
        f"where they {what}{f', {run.name}' if named else ''}",
        x=0.01, ha="left", color=INK, fontsize=12, fontweight="bold",
    )  # fmt: skip
    for one, name in zip(axes, groups, strict=True):
        one.set_xticks([])
        one.set_yticks([])
        total = counts[name].sum() if name in counts else 0
        if not total:
            one.set_axis_off()
            continue
        share = 100 * counts[name] / total
        image = one.imshow(share, cmap="YlGnBu", vmin=0, interpolation="nearest")
        one.set_xlabel(f"{_short(name)}, {total:,} times", color=INK, fontsize=9)
        for spine in one.spines.values():
            spine.set_visible(False)
        ticks = load("matplotlib.ticker").MaxNLocator(3)
        bar = panel.colorbar(image, ax=one, shrink=0.8, format="%g %%", pad=0.03, ticks=ticks)
        bar.outline.set_visible(False)
        bar.ax.tick_params(colors=INK, length=0, labelsize=7)


def _legend(panel: Any, runs: Sequence[Run], groups: list[str], colors: dict) -> None:
    line2d = load("matplotlib.lines").Line2D
    marks = [line2d([], [], color=colors[name], linewidth=4) for name in groups]
    names = list(groups)
    if len(runs) > 1:
        marks += [line2d([], [], color=INK, linestyle=line) for line in _line_styles(runs)]
        names += [run.name for run in runs]
    panel.legend(
        marks, names, frameon=False, labelcolor=INK, ncols=min(len(names), 8),
        loc="outside lower center",
    )  # fmt: skip


def _line_styles(runs: Sequence[Run]) -> list:
    return [_LINE_STYLES[k % len(_LINE_STYLES)] for k in range(len(runs))]


def _group_colors(runs: Sequence[Run], groups: list[str]) -> dict[str, tuple[float, ...]]:
    """Return a colour per group; groups that would look alike get other colours."""
    found: dict[str, tuple[float, ...]] = {}
    for k, name in enumerate(groups):
        asked = next((run.colors[name] for run in runs if name in run.colors), f"C{k}")
        color = _unit_rgb(asked)
        if color in found.values():
            cycle = [_unit_rgb(f"C{k + more}") for more in range(10)]
            color = next((one for one in cycle if one not in found.values()), color)
        found[name] = color
    return found


def _unit_rgb(color: Any) -> tuple[float, ...]:
    return tuple(channel / 255 for channel in rgb(color))


def _map_height(run: Run, across: int) -> float:
    """Return the inches of a row of maps, so that cells are about square."""
    grid = next(iter(run.where.been.values()))  # type: ignore[union-attr]
    width = 12.0 / across * 0.78
    return min(max(width * grid.shape[0] / grid.shape[1], 1.4), 4.2) + 0.75


def _short(name: str) -> str:
    return name if len(name) <= 18 else f"{name[:16]}..."


def _write_empty(axes: Any) -> None:
    axes.text(0.5, 0.5, "no episode ended", color=INK, ha="center", transform=axes.transAxes)
