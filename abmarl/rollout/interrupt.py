"""Ctrl-C and SIGTERM that wait for the end of a step."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Terminated(KeyboardInterrupt):
    """SIGTERM came: at the time limit of a batch system, for example.

    Attributes:
        exit_code: that of a process which it ends.
    """

    exit_code = 143


class Interrupt:
    """Whether Ctrl-C was pressed, or SIGTERM came; true in a condition once it was.

    Args:
        note: what to say on stderr then.

    Attributes:
        pressed: whether it was.
        terminated: whether it was SIGTERM.
    """

    def __init__(self, note: str = "") -> None:
        self.pressed = self.terminated = False
        self.note = note

    def __bool__(self) -> bool:
        return self.pressed

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        # `timeout` sends SIGTERM twice, which is no impatience.
        again = self.pressed
        if again and signum == signal.SIGINT:
            raise KeyboardInterrupt
        self.pressed = True
        if again:
            return
        self.terminated = signum == signal.SIGTERM
        if self.note:
            # Not by print: the signal may have come in the middle of another one.
            os.write(2, f"{self.note}\n".encode())


@contextlib.contextmanager
def deferred_interrupt(note: str = "", termination: bool = False) -> Iterator[Interrupt]:
    """The first Ctrl-C is noted instead of raised, so that no step is left half done.

    A second one raises KeyboardInterrupt as usual. A handler that somebody else has installed
    stays, and outside of the main thread, where Python delivers no signals, nothing changes.

    Args:
        note: what to say on stderr when it is pressed.
        termination: whether SIGTERM is noted too, whoever has a handler for it.

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
    """SIGTERM raises `Terminated`, once: cleaning up is not interrupted."""

    came = False

    def terminate(signum: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    except KeyboardInterrupt as error:
        if came:  # whatever others have made of it on the way
            raise Terminated from error
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
