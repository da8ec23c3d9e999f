"""The table at the end of a run."""

import sys

import numpy as np

from abmarl.rollout.collect import Tally
from abmarl.rollout.episodes import Episodes


def rows_of(tally: Tally, episodes: Episodes, sizes: dict[str, int]) -> list[tuple[str, str]]:
    """What to report, as pairs of label and value.

    Args:
        tally: The counters of the run.
        episodes: The episodes that ended in it.
        sizes: group -> number of agents.

    Returns:
        The rows of the table.
    """
    rows = [
        ("env steps", f"{tally.env_steps:,}"),
        ("agent steps", f"{tally.agent_steps:,}"),
        ("agent-steps per second", f"{tally.rate:,.0f}"),
        ("wall time", f"{tally.wall_seconds:.1f} s, {tally.step_seconds:.1f} s of it stepping"),
        ("episodes", f"{len(episodes):,}"),
        ("mean length", _mean(episodes.length)),
    ]
    for group, returns in episodes.returns.items():
        rows.append((f"mean return, {group} ({_agents(sizes[group])})", _mean(returns)))
    for team, survivors in episodes.survivors.items():
        rows.append((f"mean survivors, {episodes.team_names[team]}", _mean(survivors)))
    return rows


def _agents(count: int) -> str:
    return "1 agent" if count == 1 else f"sum of {count} agents"


def _mean(values: np.ndarray) -> str:
    return f"{values.mean():,.2f}" if len(values) else "- (no episode ended)"


def print_table(title: str, rows: list[tuple[str, str]]) -> None:
    """Print the rows on stdout, framed on a terminal and plain elsewhere."""
    if not sys.stdout.isatty():
        width = max(len(label) for label, _ in rows)
        print(title)
        for label, value in rows:
            print(f"  {label:<{width}}  {value}")
        return
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), title_justify="left", box=box.ROUNDED, show_header=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    for label, value in rows:
        table.add_row(escape(label), escape(value))
    Console().print(table)


def print_grid(title: str, corner: str, columns: list[str], rows: dict[str, list[str]]) -> None:
    """Print a table of cells on stdout, framed on a terminal and plain elsewhere.

    Args:
        title: Above it.
        corner: What its rows and columns are.
        columns: What the columns are called.
        rows: name of a row -> its cells.
    """
    if not sys.stdout.isatty():
        lines = [[corner, *columns], *([name, *cells] for name, cells in rows.items())]
        widths = [max(len(line[k]) for line in lines) for k in range(len(columns) + 1)]
        print(title)
        for first, *rest in lines:
            cells = (f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=True))
            print("  ".join(["", f"{first:<{widths[0]}}", *cells]))
        return
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), title_justify="left", box=box.ROUNDED)
    table.add_column(escape(corner), style="dim")
    for name in columns:
        table.add_column(escape(name), justify="right")
    for name, cells in rows.items():
        table.add_row(escape(name), *map(escape, cells))
    Console().print(table)
