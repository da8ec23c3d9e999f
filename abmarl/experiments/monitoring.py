"""What comes of every iteration of a training: figures on the terminal, warnings and logs."""

import csv
import difflib
import math
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from abmarl.experiments.results import PROGRESS_FILE, replace_rows
from abmarl.experiments.stop import flat_items, value_at
from abmarl.terminal import LiveTable, can_redraw, readable_rate

LINE_EVERY = 5.0
"""Seconds between two lines of a display that is no terminal."""

# The rest of what RLlib reports is about its own parts, as are the times of its connectors.
_LOGGED = (
    "training_iteration", "time_total_s", "time_this_iter_s", "timers", "env_runners", "learners",
    "evaluation",
)  # fmt: skip
_LOSSES = ("total_loss", "policy_loss", "vf_loss")
_RETURNS = ("episode_return_mean", "module_episode_returns_mean")


# ---- on the terminal ----


class TrainingDisplay:
    """The figures of training on stdout; a context manager.

    On a terminal they are a table that is redrawn in its place. Elsewhere there is a line for the
    first and the last iteration, and for those in between that come slowly.

    Args:
        title: title of the experiment.
    """

    def __init__(self, title: str) -> None:
        self._figures = Figures()
        self._table = LiveTable(title) if can_redraw(sys.stdout) else None
        self._printed = -math.inf
        self._waiting: dict[str, str] = {}

    def __enter__(self) -> "TrainingDisplay":
        if self._table is not None:
            self._table.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._table is not None:
            self._table.__exit__(*error)
        elif self._waiting:
            self._print(self._waiting)

    def update(self, result: Mapping[str, Any], seconds: float, share: float | None) -> None:
        """Show a result.

        Args:
            result: result of an iteration.
            seconds: how long it took.
            share: how much of the training is done, from 0 to 1; None: it ends now.
        """
        figures = self._figures.of(result, seconds, share)
        if self._table is not None:
            self._table.update(figures.items())
        elif time.monotonic() - self._printed >= LINE_EVERY:
            self._print(figures)
        else:
            self._waiting = figures

    def _print(self, figures: dict[str, str]) -> None:
        self._printed, self._waiting = time.monotonic(), {}
        print(", ".join(f"{key} {value}" for key, value in figures.items()), flush=True)


class Figures:
    """The figures of a result that show how training goes, as text."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._first_share: float | None = None

    def of(self, result: Mapping[str, Any], seconds: float, share: float | None) -> dict[str, str]:
        """Return name -> value, in the order in which they are shown."""
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


# ---- warnings ----


class Watch:
    """Find what is wrong in results, and report each thing once.

    Args:
        stop: path in a result -> value at which training stops.
    """

    def __init__(self, stop: Mapping[str, float]) -> None:
        self._unseen = dict(stop)
        self._finite = True
        self._restarts = 0

    def look(self, result: Mapping[str, Any], checkpoint: str) -> list[str]:
        """Return the warnings of an iteration, a line for each.

        Args:
            result: result of the iteration.
            checkpoint: which checkpoint there is from before, in words.
        """
        lines = []
        restarts = int(result.get("fault_tolerance", {}).get("num_remote_worker_restarts", 0))
        died, self._restarts = restarts - self._restarts, restarts
        if died > 0:
            who = "an env runner died and was" if died == 1 else f"{died} env runners died and were"
            lines.append(f"{who} replaced")
        found = not_finite(result) if self._finite else None
        if found:
            self._finite = False
            lines.append(
                f"iteration {result['training_iteration']}: {found}; the policies may be spoiled "
                f"from here on, {checkpoint}"
            )
        for path, line in never_stopping(result, self._unseen).items():
            del self._unseen[path]
            lines.append(line)
        return lines


def not_finite(result: Mapping[str, Any]) -> str | None:
    """Return the first loss or return of a result that is infinite or nan.

    Args:
        result: result of an iteration.

    Returns:
        Its path and value, as ``"learners/red/total_loss is nan"``; None where all are finite. A
        mean return that is nan because no episode ended is no such value.
    """
    for policy_id, values in result.get("learners", {}).items():
        for key in _LOSSES if isinstance(values, Mapping) else ():
            if key in values and not math.isfinite(values[key]):
                return f"learners/{policy_id}/{key} is {float(values[key])}"
    runners = result.get("env_runners", {})
    ended = bool(runners.get("num_episodes"))
    for key in _RETURNS:
        value = runners.get(key)
        for policy_id, one in (value if isinstance(value, Mapping) else {"": value}).items():
            if one is not None and (math.isinf(one) or (math.isnan(one) and ended)):
                return f"env_runners/{key}{'/' if policy_id else ''}{policy_id} is {float(one)}"
    return None


def never_stopping(result: Mapping[str, Any], stop: Mapping[str, float]) -> dict[str, str]:
    """Return warnings about criteria that a result does not have, by their paths.

    Some results are there only when an episode has ended, or after an evaluation: they are not
    missed before.

    Args:
        result: result of an iteration.
        stop: path in a result -> value.
    """
    ended = bool(value_at(result.get("env_runners", {}), "num_episodes_lifetime"))
    lines = {}
    for path in stop:
        first = path.partition("/")[0]
        later = (first == "env_runners" and not ended) or (
            first == "evaluation" and "evaluation" not in result
        )
        if later or value_at(result, path) is not None:
            continue
        close = difflib.get_close_matches(path, list(flat_result(result)), n=3)
        hint = f"; near are {', '.join(close)}" if close else ""
        lines[path] = f"the results have no {path}: this criterion stops nothing{hint}"
    return lines


# ---- logs ----


class Logs:
    """The logs of a results folder: a line of a CSV file and points for TensorBoard per iteration.

    Each line and point is on the disk when `write` returns.

    Args:
        folder: where they go; a CSV file that is there is continued.
    """

    def __init__(self, folder: Path) -> None:
        from tensorboardX.event_file_writer import EventsWriter

        self._csv = folder / PROGRESS_FILE
        # The writer for single events: the usual one hands them to a thread, where errors such as
        # a full disk get lost.
        self._events = EventsWriter(os.fspath(folder / "events"))

    def write(self, result: Mapping[str, Any]) -> None:
        """Log a result.

        Raises:
            OSError: the disk is full.
        """
        numbers = flat_result(result)
        self._write_row(numbers)
        self._write_event(numbers, int(result["training_iteration"]))

    def close(self) -> None:
        """Close the files."""
        self._events.close()

    def _write_row(self, numbers: dict[str, float]) -> None:
        columns: list[str] = []
        if self._csv.exists():
            with self._csv.open(newline="", encoding="utf-8") as file:
                reader = csv.reader(file)
                columns = next(reader, [])
                # Metrics that appear later, as returns do, make the table wider.
                new = [key for key in numbers if key not in columns]
                rows = [[*row, *[""] * len(new)] for row in reader] if new else []
            if columns and new:
                columns += new
                replace_rows(self._csv, [columns, *rows])
        start = not columns
        columns = columns or list(numbers)
        with self._csv.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if start:
                writer.writerow(columns)
            writer.writerow([numbers.get(key, "") for key in columns])

    def _write_event(self, numbers: dict[str, float], step: int) -> None:
        from tensorboardX.proto import event_pb2, summary_pb2

        values = [
            summary_pb2.Summary.Value(tag=key, simple_value=value) for key, value in numbers.items()
        ]
        event = event_pb2.Event(
            wall_time=time.time(), step=step, summary=summary_pb2.Summary(value=values)
        )
        self._events.write_event(event)
        self._events.flush()


def flat_result(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of a result by path, ``env_runners/episode_return_mean`` for example."""
    found: dict[str, float] = {}
    for path, value in flat_items({key: result[key] for key in _LOGGED if key in result}):
        if "connector" in path or isinstance(value, bool):
            continue
        number = isinstance(value, int | float) or getattr(value, "ndim", None) == 0
        if number and np.isfinite(float(value)):
            found[path] = value if isinstance(value, int) else float(value)
    return found
