"""What is logged of every iteration: a line of a CSV file, and points for TensorBoard."""

import csv
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from abmarl.experiments.results import PROGRESS_FILE, replace_rows

# The rest of what RLlib reports is about its own parts, as are the times of its connectors.
KEPT = (
    "training_iteration", "time_total_s", "time_this_iter_s", "timers", "env_runners", "learners",
    "evaluation",
)  # fmt: skip


def flat_result(result: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a result by path, ``env_runners/episode_return_mean`` for example."""
    found: dict[str, float] = {}
    _flatten({key: result[key] for key in KEPT if key in result}, "", found)
    return found


class Logs:
    """The logs of a results folder. Each line and point is on the disk when `write` returns.

    Args:
        folder: where they go; a CSV file that is there is continued.
    """

    def __init__(self, folder: Path) -> None:
        from tensorboardX.event_file_writer import EventsWriter

        self._csv = folder / PROGRESS_FILE
        # The writer for single events: the usual one hands them to a thread, and what goes wrong
        # there, a full disk for example, is never heard of.
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
        rows, columns = [], list(numbers)
        if self._csv.exists():
            with self._csv.open(newline="", encoding="utf-8") as file:
                reader = csv.reader(file)
                columns = next(reader, columns)
                new = [key for key in numbers if key not in columns]
                # Metrics that appear later, as returns do, make the table wider.
                rows = [[*row, *[""] * len(new)] for row in reader] if new else []
                wider = [*columns, *new]
            if len(wider) > len(columns):
                replace_rows(self._csv, [wider, *rows])
            columns = wider
        start = not self._csv.exists()
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


def _flatten(value: Any, path: str, found: dict[str, float]) -> None:
    if "connector" in path:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _flatten(inner, f"{path}/{key}" if path else str(key), found)
    elif isinstance(value, int | float | np.number) and not isinstance(value, bool):
        if np.isfinite(value):
            found[path] = float(value) if not isinstance(value, int) else value
    elif getattr(value, "ndim", None) == 0 and np.isfinite(float(value)):
        found[path] = float(value)
