"""What a terminal shows and sends: progress, tables, Ctrl-C and SIGTERM.

Rich, which draws on terminals, is imported only where there is one: logs and pipes get plain text.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.table import Table

BAR_EVERY = 0.1  # seconds between two redraws
LINE_EVERY = 30.0  # seconds between two lines in a log


def can_redraw(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal on which lines can be drawn over."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


# Progress


def progress(what: str, total: int, unit: str, enabled: bool = True) -> "Progress":
    """Return the way to report progress that suits stderr: a bar, lines in a log, or nothing.

    Args:
        what: What is being done, as in "team battle, 1024 worlds".
        total: How many of ``unit`` there are to do.
        unit: What is counted, in the plural: "steps", "MB".
        enabled: False for no report at all.

    Returns:
        A context manager with ``update(done, rate="")``.
    """
    if not enabled or sys.stderr is None:
        return Progress()
    return (ProgressBar if can_redraw(sys.stderr) else ProgressLog)(what, total, unit)


class Progress:
    """Progress that is not reported."""

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def update(self, done: int, rate: str = "") -> None:
        """Report that ``done`` of the total are done, at ``rate``."""


class ProgressLog(Progress):
    """Progress in a log: a line at the start, one every half minute, one at the end."""

    def __init__(self, what: str, total: int, unit: str) -> None:
        self.what, self.total, self.unit = what, total, unit
        self.done, self.rate = 0, ""

    def __enter__(self) -> "ProgressLog":
        self._began = self._printed = time.monotonic()
        print(f"{self.what}: {self.total:,} {self.unit} ...", file=sys.stderr, flush=True)
        return self

    def update(self, done: int, rate: str = "") -> None:
        """Report that ``done`` of the total are done, at ``rate``."""
        self.done, self.rate = done, rate
        now = time.monotonic()
        if now - self._printed >= LINE_EVERY:
            self._printed = now
            self._print(now)

    def __exit__(self, *error: object) -> None:
        self._print(time.monotonic())

    def _print(self, now: float) -> None:
        rate = f", {self.rate}" if self.rate else ""
        print(
            f"{self.what}: {self.done:,} of {self.total:,} {self.unit} "
            f"in {now - self._began:.1f} s{rate}",
            file=sys.stderr,
            flush=True,
        )


class ProgressBar(Progress):
    """Progress on a terminal: a bar with count, rate and the time left."""

    def __init__(self, what: str, total: int, unit: str) -> None:
        from rich import progress
        from rich.console import Console
        from rich.markup import escape

        self.total = total
        self._next = 0.0
        self._bar = progress.Progress(
            progress.TextColumn(escape(what)),
            progress.BarColumn(),
            progress.TextColumn("{task.completed:,.0f}/{task.total:,.0f} " + escape(unit)),
            progress.TextColumn("{task.fields[rate]}", style="cyan"),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
        )

    def __enter__(self) -> "ProgressBar":
        self._bar.start()
        self._task = self._bar.add_task("", total=self.total, rate="")
        self._bar.refresh()
        return self

    def update(self, done: int, rate: str = "") -> None:
        """Report that ``done`` of the total are done, at ``rate``."""
        now = time.monotonic()
        if now >= self._next or done >= self.total:
            self._next = now + BAR_EVERY
            self._bar.update(self._task, completed=done, rate=rate)
            self._bar.refresh()

    def __exit__(self, *error: object) -> None:
        self._bar.stop()


def readable_rate(count: float, seconds: float, unit: str) -> str:
    """Return a rate as text: ``(8_200_000, 2, 'agent-steps')`` -> ``'4.1M agent-steps/s'``."""
    if seconds <= 0:
        return ""
    rate = count / seconds
    if rate >= 999_500:
        return f"{rate / 1e6:.1f}M {unit}/s"
    return f"{rate:,.0f} {unit}/s"


# Tables


def print_table(
    title: str, rows: Iterable[Sequence[str]], columns: Sequence[str] | None = None
) -> None:
    """Print a table on stdout, framed on a terminal and plain elsewhere.

    Args:
        title: Above it.
        rows: A label and the cells that belong to it, as text.
        columns: The names of the columns, that of the labels included; None for no header.
    """
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(framed_table(title, rows, columns))
        return
    lines = [list(row) for row in ([columns] if columns else []) + list(rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    print(title)
    for label, *cells in lines:
        # A column of texts is not padded on the left, columns of numbers below a header are.
        if columns:
            cells = [f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True)]
        print("  ".join(["", f"{label:<{widths[0]}}", *cells]))


def framed_table(
    title: str, rows: Iterable[Sequence[str]], columns: Sequence[str] | None = None
) -> "Table":
    """Return a table for a terminal; see `print_table`."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    rows = list(rows)
    table = Table(
        title=escape(title),
        title_justify="left",
        box=box.ROUNDED,
        show_header=columns is not None,
    )
    names = columns or [""] * max(map(len, rows), default=2)
    for position, name in enumerate(names):
        table.add_column(
            escape(name), justify="right" if position else "left", style="" if position else "dim"
        )
    for row in rows:
        table.add_row(*map(escape, row))
    return table


class LiveTable:
    """A table on a terminal that is redrawn in its place.

    Args:
        title: Above it.
    """

    def __init__(self, title: str) -> None:
        from rich.live import Live

        self.title = title
        self._live = Live(auto_refresh=False)

    def __enter__(self) -> "LiveTable":
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def update(self, rows: Iterable[Sequence[str]]) -> None:
        """Show these rows, each a label and its cells."""
        self._live.update(framed_table(self.title, rows), refresh=True)


# Interrupts


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived, for example at the time limit of a batch system.

    Attributes:
        exit_code: The exit code of a process that it ends.
    """

    exit_code = 143


class Interrupt:
    """Whether Ctrl-C was pressed or SIGTERM arrived; true in a condition once it was.

    Args:
        note: What to print on stderr then.

    Attributes:
        pressed: Whether it was.
        terminated: Whether it was SIGTERM.
    """

    def __init__(self, note: str = "") -> None:
        self.pressed = self.terminated = False
        self.note = note

    def __bool__(self) -> bool:
        return self.pressed

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        # `timeout` sends SIGTERM twice; only a person asks twice out of impatience.
        again = self.pressed
        if again and signum == signal.SIGINT:
            raise KeyboardInterrupt
        self.pressed = True
        if again:
            return
        self.terminated = signum == signal.SIGTERM
        if self.note:
            # Not by print: the signal may have arrived in the middle of another one.
            os.write(2, f"{self.note}\n".encode())


@contextlib.contextmanager
def deferred_interrupt(note: str = "", termination: bool = False) -> Iterator[Interrupt]:
    """Note the first Ctrl-C instead of raising it, so that no step is left half done.

    A second one raises KeyboardInterrupt as usual. A handler that somebody else has installed
    stays, and outside of the main thread, where Python delivers no signals, nothing changes.

    Args:
        note: What to print on stderr when it is pressed.
        termination: Whether SIGTERM is noted too, whoever has a handler for it.

    Yields:
        The note: true once Ctrl-C was pressed.
    """
    interrupt = Interrupt(note)
    before = {}
    if threading.current_thread() is threading.main_thread():
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            before[signal.SIGINT] = signal.signal(signal.SIGINT, interrupt)
        if termination:
            before[signal.SIGTERM] = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield interrupt
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


@contextlib.contextmanager
def raised_termination() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM, once: the cleaning up that follows is not interrupted."""
    arrived = False

    def terminate(signum: int, frame: FrameType | None) -> None:
        nonlocal arrived
        arrived = True
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    except KeyboardInterrupt as error:
        if arrived:  # whatever libraries have made of it on the way
            raise Terminated from error
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
