"""Ctrl-C that waits for the end of a step."""

import contextlib
import signal
import threading
from collections.abc import Iterator


class Interrupt:
    """Whether Ctrl-C was pressed; true in a condition once it was."""

    def __init__(self) -> None:
        self.pressed = False

    def __bool__(self) -> bool:
        return self.pressed

    def __call__(self, signum: int, frame: object) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True


@contextlib.contextmanager
def deferred_interrupt() -> Iterator[Interrupt]:
    """The first Ctrl-C is noted instead of raised, so that no step is left half done.

    A second one raises KeyboardInterrupt as usual. A handler that somebody else has installed
    stays, and outside of the main thread, where Python delivers no signals, nothing changes.

    Yields:
        The note: true once Ctrl-C was pressed.
    """
    interrupt = Interrupt()
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
