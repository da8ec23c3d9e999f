"""Rollouts as plots: what was earned, how long it took, who survived, where they went."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from abmarl.extras import load
from abmarl.render.colors import rgb
from abmarl.render.plots.curves import INK, PAPER, style, write_figure
from abmarl.rollout.columns import Rollout
from abmarl.rollout.whereabouts import Whereabouts

SUFFIXES = (".png", ".svg")
_STYLES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (5, 2, 1, 2)))


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
    colors = _colors(runs, groups)
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
        parts = figure.subfigures(len(ratios), 1, height_ratios=ratios, squeeze=False)[:, 0]
        for part in parts:
            part.set_facecolor(PAPER)
        _draw_curves(parts[0], runs, groups, colors)
        for part, (run, what, counts) in zip(parts[1:], maps, strict=True):
            _draw_maps(part, run, what, counts, groups, len(runs) > 1)

    write_figure(path, draw, (12.0, height), dpi, SUFFIXES)


def acting_over_time(rollout: Rollout) -> dict[str, np.ndarray]:
    """How many agents of each group act over the steps of an episode.

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


def _draw_curves(part: Any, runs: Sequence[Run], groups: list[str], colors: dict) -> None:
    axes = part.subplots(1, 3, width_ratios=[1.25, 1, 1.25])
    _draw_returns(axes[0], runs, groups, colors)
    _draw_lengths(axes[1], runs)
    for run, line in zip(runs, _lines(runs), strict=True):
        for name, values in acting_over_time(run.rollout).items():
            # A single step is a point, which a line does not show.
            dot = "o" if len(values) == 1 else None
            axes[2].plot(values, color=colors[name], linestyle=line, linewidth=1.8, marker=dot)
    style(axes[2], "survivors", "step of the episode", "agents that act, on average")
    axes[2].set_ylim(bottom=0)
    _legend(part, runs, groups, colors)


def _draw_returns(axes: Any, runs: Sequence[Run], groups: list[str], colors: dict) -> None:
    """A box per group and run: quartiles, with whiskers from the 5th to the 95th percentile."""
    width = 0.8 / len(runs)
    some = False
    for k, (run, line) in enumerate(zip(runs, _lines(runs), strict=True)):
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
    style(axes, "episode return", "", "rewards of the whole group")
    axes.set_xticks(range(len(groups)), [_short(name) for name in groups])
    axes.set_xlim(-0.6, len(groups) - 0.4)
    if not some:
        _say_nothing(axes)


def _draw_lengths(axes: Any, runs: Sequence[Run]) -> None:
    lengths = [run.rollout.episodes.length for run in runs]
    longest = max((int(one.max(initial=0)) for one in lengths), default=0)
    # A bin per step up to forty, else forty bins of whole steps.
    step = max(1, -(-longest // 40))
    bins = np.arange(0, longest + 2 * step, step) - 0.5
    for one, line in zip(lengths, _lines(runs), strict=True):
        if len(one):
            axes.hist(
                one, bins, weights=np.full(len(one), 100 / len(one)), histtype="stepfilled",
                facecolor=(0.3, 0.3, 0.34, 0.18), edgecolor=INK, linestyle=line, linewidth=1.4,
            )  # fmt: skip
    style(axes, "episode length", "steps", "percent of the episodes")
    if not longest:
        _say_nothing(axes)


def _draw_maps(
    part: Any, run: Run, what: str, counts: dict[str, np.ndarray], groups: list[str], named: bool
) -> None:
    """A row of maps, from pale to dark; shares of all that was counted for a group."""
    axes = part.subplots(1, len(groups), squeeze=False)[0]
    part.suptitle(
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
        bar = part.colorbar(image, ax=one, shrink=0.8, format="%g %%", pad=0.03, ticks=ticks)
        bar.outline.set_visible(False)
        bar.ax.tick_params(colors=INK, length=0, labelsize=7)


def _legend(part: Any, runs: Sequence[Run], groups: list[str], colors: dict) -> None:
    line2d = load("matplotlib.lines").Line2D
    marks = [line2d([], [], color=colors[name], linewidth=4) for name in groups]
    names = list(groups)
    if len(runs) > 1:
        marks += [line2d([], [], color=INK, linestyle=line) for line in _lines(runs)]
        names += [run.name for run in runs]
    part.legend(
        marks, names, frameon=False, labelcolor=INK, ncols=min(len(names), 8),
        loc="outside lower center",
    )  # fmt: skip


def _lines(runs: Sequence[Run]) -> list:
    return [_STYLES[k % len(_STYLES)] for k in range(len(runs))]


def _colors(runs: Sequence[Run], groups: list[str]) -> dict[str, tuple[float, ...]]:
    """group -> red, green, blue in [0, 1]; groups that would look alike get other colours."""
    found: dict[str, tuple[float, ...]] = {}
    for k, name in enumerate(groups):
        asked = next((run.colors[name] for run in runs if name in run.colors), f"C{k}")
        color = tuple(part / 255 for part in rgb(asked))
        if color in found.values():
            cycle = [tuple(part / 255 for part in rgb(f"C{k + more}")) for more in range(10)]
            color = next((one for one in cycle if one not in found.values()), color)
        found[name] = color
    return found


def _map_height(run: Run, across: int) -> float:
    """Inches of a row of maps, so that cells are about square."""
    grid = next(iter(run.where.been.values()))
    width = 12.0 / across * 0.78
    return min(max(width * grid.shape[0] / grid.shape[1], 1.4), 4.2) + 0.75


def _short(name: str) -> str:
    return name if len(name) <= 18 else f"{name[:16]}..."


def _say_nothing(axes: Any) -> None:
    axes.text(0.5, 0.5, "no episode ended", color=INK, ha="center", transform=axes.transAxes)
