"""What training shows while it runs: a table on a terminal, a line per iteration elsewhere."""

import math
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from abmarl.experiments.stop import value_at
from abmarl.rollout.progress import readable_rate

LINE_EVERY = 5.0  # seconds between two lines in a log


def display(title: str) -> "Lines":
    """The display that suits where stdout goes.

    Args:
        title: of the experiment.

    Returns:
        A context manager with ``update(result, seconds, share)``.
    """
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        return Table(title)
    return Lines(title)


class Lines:
    """A line for the first and the last iteration, and for those in between that come slowly."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.figures = Figures()
        self._said = -math.inf
        self._waiting: dict[str, str] | None = None

    def __enter__(self) -> "Lines":
        return self

    def __exit__(self, *error: object) -> None:
        if self._waiting is not None:
            self._print(self._waiting)

    def update(self, result: Mapping[str, Any], seconds: float, share: float | None) -> None:
        """Show a result.

        Args:
            result: of an iteration.
            seconds: how long it took.
            share: how much of the training is done, from 0 to 1; None: it ends now.
        """
        figures = self.figures.of(result, seconds, share)
        if time.monotonic() - self._said >= LINE_EVERY:
            self._print(figures)
        else:
            self._waiting = figures

    def _print(self, figures: dict[str, str]) -> None:
        self._said, self._waiting = time.monotonic(), None
        print(", ".join(f"{key} {value}" for key, value in figures.items()), flush=True)


class Table(Lines):
    """A table that is redrawn in its place."""

    def __enter__(self) -> "Table":
        from rich.live import Live

        self._live = Live(auto_refresh=False)
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def update(self, result: Mapping[str, Any], seconds: float, share: float | None) -> None:
        """Show a result; see `Lines.update`."""
        from rich import box
        from rich.markup import escape
        from rich.table import Table as RichTable

        table = RichTable(
            title=escape(self.title), title_justify="left", box=box.ROUNDED, show_header=False
        )
        table.add_column(style="dim")
        table.add_column(justify="right")
        for key, value in self.figures.of(result, seconds, share).items():
            table.add_row(escape(key), escape(value))
        self._live.update(table, refresh=True)


class Figures:
    """The figures of a result that tell how training goes, as text."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._first_share: float | None = None

    def of(self, result: Mapping[str, Any], seconds: float, share: float | None) -> dict[str, str]:
        """Name -> value, in the order in which they are shown."""
        runners = result.get("env_runners", {})
        shown = {
            "iteration": f"{result['training_iteration']:,}",
            "return": _number(value_at(runners, "episode_return_mean")),
        }
        returns = runners.get("module_episode_returns_mean", {})
        if len(returns) > 1:
            # RLlib's order is another one in every process.
            for policy_id, value in sorted(returns.items()):
                shown[f"return of {policy_id}"] = _number(float(value))
        shown["episode length"] = _number(value_at(runners, "episode_len_mean"))
        shown["episodes"] = f"{int(value_at(runners, 'num_episodes_lifetime') or 0):,}"
        steps = sum(map(float, runners.get("num_module_steps_sampled", {}).values()))
        shown["speed"] = readable_rate(steps, seconds, "agent-steps") or "-"
        if share is not None:
            shown["time left"] = self._left(share)
        return shown

    def _left(self, share: float) -> str:
        if self._first_share is None:
            self._first_share, self._began = share, time.monotonic()
            return "-"
        gone, done = time.monotonic() - self._began, share - self._first_share
        if done <= 0:
            return "-"
        left = int(gone * (1 - share) / done)
        return f"{left // 3600}:{left // 60 % 60:02d}:{left % 60:02d}"


def _number(value: float | None) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:,.2f}"
