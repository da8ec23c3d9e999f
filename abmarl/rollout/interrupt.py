"""Ctrl-C that waits for the end of a step."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator


class Interrupt:
    """Whether Ctrl-C was pressed; true in a condition once it was.

    Args:
        note: what to say on stderr then.
    """

    def __init__(self, note: str = "") -> None:
        self.pressed = False
        self.note = note

    def __bool__(self) -> bool:
        return self.pressed

    def __call__(self, signum: int, frame: object) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
        if self.note:
            # Not by print: the signal may have come in the middle of another one.
            os.write(2, f"{self.note}\n".encode())


@contextlib.contextmanager
def deferred_interrupt(note: str = "") -> Iterator[Interrupt]:
    """The first Ctrl-C is noted instead of raised, so that no step is left half done.

    A second one raises KeyboardInterrupt as usual. A handler that somebody else has installed
    stays, and outside of the main thread, where Python delivers no signals, nothing changes.

    Args:
        note: what to say on stderr when it is pressed.

    Yields:
        The note: true once Ctrl-C was pressed.
    """
    interrupt = Interrupt(note)
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if ours:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield interrupt
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
