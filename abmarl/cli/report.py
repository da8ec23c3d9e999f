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
