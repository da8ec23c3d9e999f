"""Progress on stderr: a bar on a terminal, a few plain lines in a log."""

import os
import sys
import time

BAR_EVERY = 0.1  # seconds between two redraws
LINE_EVERY = 30.0  # seconds between two lines in a log


def reporter(what: str, total: int, unit: str, enabled: bool = True) -> "Silent":
    """The way to report progress that suits where stderr goes.

    Args:
        what: What is being done, as in "team battle, 1024 worlds".
        total: How many of ``unit`` there are to do.
        unit: What is counted, in the plural: "steps", "MB".
        enabled: False for no report at all.

    Returns:
        A context manager with ``update(done, rate="")``.
    """
    if not enabled or sys.stderr is None:
        return Silent()
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return Bar(what, total, unit)
    return Lines(what, total, unit)


def readable_rate(count: float, seconds: float, unit: str) -> str:
    """``(8_200_000, 2, 'agent-steps')`` -> ``'4.1M agent-steps/s'``."""
    if seconds <= 0:
        return ""
    rate = count / seconds
    if rate >= 999_500:
        return f"{rate / 1e6:.1f}M {unit}/s"
    return f"{rate:,.0f} {unit}/s"


class Silent:
    """Reports nothing."""

    def __enter__(self) -> "Silent":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def update(self, done: int, rate: str = "") -> None:
        """Say that ``done`` of the total are done, at ``rate``."""


class Lines(Silent):
    """A line at the start, one every half minute, one at the end."""

    def __init__(self, what: str, total: int, unit: str) -> None:
        self.what, self.total, self.unit = what, total, unit
        self.done, self.rate = 0, ""

    def __enter__(self) -> "Lines":
        self.began = self.said = time.monotonic()
        print(f"{self.what}: {self.total:,} {self.unit} ...", file=sys.stderr, flush=True)
        return self

    def update(self, done: int, rate: str = "") -> None:
        self.done, self.rate = done, rate
        now = time.monotonic()
        if now - self.said >= LINE_EVERY:
            self.said = now
            self._say(now)

    def __exit__(self, *error: object) -> None:
        self._say(time.monotonic())

    def _say(self, now: float) -> None:
        rate = f", {self.rate}" if self.rate else ""
        print(
            f"{self.what}: {self.done:,} of {self.total:,} {self.unit} "
            f"in {now - self.began:.1f} s{rate}",
            file=sys.stderr,
            flush=True,
        )


class Bar(Silent):
    """A bar with count, rate and the time left."""

    def __init__(self, what: str, total: int, unit: str) -> None:
        # Imported here: neither a log nor a library call without a terminal needs it.
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.total = total
        self.next = 0.0
        self.bar = Progress(
            TextColumn(escape(what)),
            BarColumn(),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} " + escape(unit)),
            TextColumn("{task.fields[rate]}", style="cyan"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
        )

    def __enter__(self) -> "Bar":
        self.bar.start()
        self.task = self.bar.add_task("", total=self.total, rate="")
        self.bar.refresh()
        return self

    def update(self, done: int, rate: str = "") -> None:
        now = time.monotonic()
        if now >= self.next or done >= self.total:
            self.next = now + BAR_EVERY
            self.bar.update(self.task, completed=done, rate=rate)
            self.bar.refresh()

    def __exit__(self, *error: object) -> None:
        self.bar.stop()
