"""Running the shards of a vectorised simulation, on one thread or several."""

import contextlib
import os
import threading
import time
import weakref
from typing import Any

import numpy as np

from abmarl.kernels.compile import JIT
from abmarl.kernels.handoff import DONE, ROW, WANTED, finish, lead, serve, take
from abmarl.kernels.program import Program

NO_CALLS = np.zeros((0, 2), np.int64)


def thread_count(num_threads: int | None, num_envs: int) -> int:
    """Return how many threads to use: as given, else ``ABMARL_NUM_THREADS``, else one.

    Raises:
        ValueError: It is not an int >= 1.
    """
    source = "num_threads"
    given: Any = num_threads
    if given is None:
        source = "ABMARL_NUM_THREADS"
        given = os.environ.get(source) or 1
    try:
        count = int(given)
    except (TypeError, ValueError):
        count = 0
    if count < 1 or str(count) != str(given):
        raise ValueError(f"{source} must be a number of threads, 1 or more, got {given!r}.")
    return min(count, num_envs)


class Crew:
    """Runs one program per shard, the first one on the calling thread.

    Programs release the GIL, so they run side by side. The helping threads are started on first
    use and again after a fork, which copies no threads; between two steps they stay awake for
    some tenths of a millisecond, and sleep after that.

    Args:
        programs: One ``Program`` per shard.
    """

    def __init__(self, programs: list[Program]) -> None:
        self._programs = programs
        self._native = all(program.native for program in programs)
        # Programs with parts in Python are not in the tables, and are run from there.
        tables = [program.table if self._native else NO_CALLS for program in programs]
        self._tables = np.concatenate(tables), np.cumsum([0, *map(len, tables)])
        self._helpers: list[_Helper] = []
        self._owner: int | None = None
        self._number = 0

    def run(self) -> None:
        """Run all programs, wait for every one of them, and raise the first error."""
        if len(self._programs) == 1 or not JIT:
            for program in self._programs:
                program()
            return
        if self._owner != os.getpid():
            self._start()
        self._number += 1
        self._wake()
        error: BaseException | None = None
        try:
            if lead(self._mail, self._number, *self._tables):
                return
            if not self._native:
                self._run_own()
        except BaseException as caught:
            error = caught
        # Nobody may go on while a helper still writes, not even after Ctrl-C.
        error = self._wait() or error
        for helper in self._helpers:
            error, helper.error = error or helper.error, None
        if error is not None:
            raise error

    def _run_own(self) -> None:
        """Run the own program, where it has parts in Python, and those no helper has taken."""
        error = None
        for row, program in enumerate(self._programs, -1):
            if row >= 0 and not take(self._mail, row, self._number):
                continue
            try:
                program()
            except BaseException as caught:
                error = error or caught
            if row >= 0:
                self._mail[row, DONE] = self._number
        if error is not None:
            raise error

    def _wait(self) -> BaseException | None:
        error = None
        while True:
            try:
                while not finish(self._mail, self._number):
                    self._wake()
                    time.sleep(0.00005)  # it takes long, and may need the core we wait on
                return error
            except BaseException as caught:
                error = caught

    def _wake(self) -> None:
        for helper in self._helpers:
            if helper.asleep:
                helper.ring()

    def _start(self) -> None:
        self._owner = os.getpid()
        self._number = 0
        self._mail = np.zeros((len(self._programs) - 1, ROW), np.int64)
        self._helpers = [
            _Helper(self._mail, row, program, program.table if self._native else NO_CALLS)
            for row, program in enumerate(self._programs[1:])
        ]
        weakref.finalize(self, _dismiss, self._helpers, self._owner)


class _Helper:
    """A thread that runs a program whenever work is wanted."""

    def __init__(self, mail: np.ndarray, row: int, program: Program, table: np.ndarray) -> None:
        # A plain lock: garbage may be collected, and a crew with it, in the midst of anything that
        # is written in Python, such as the waiting of a semaphore.
        self._bell = threading.Lock()
        self._bell.acquire()
        self.asleep = self.leaves = False
        self.error: BaseException | None = None
        self._mail, self._row, self._program, self._table = mail, row, program, table
        self.thread = threading.Thread(target=self._help, name=f"abmarl-{row + 1}", daemon=True)
        self.thread.start()

    def _help(self) -> None:
        seen = finished = 0
        while not self.leaves:
            seen, wanted = serve(self._mail, self._row, self._table, seen, finished)
            finished = 0
            if wanted:
                try:
                    self._program()
                except BaseException as caught:
                    self.error = caught
                finished = seen
                continue
            self.asleep = True
            # The leader rings for those who are asleep; work that it wanted just before counts.
            if self._mail[self._row, WANTED] <= seen and not self.leaves:
                self._bell.acquire()
            self.asleep = False

    def ring(self) -> None:
        """Wake the thread up, now or as soon as it falls asleep."""
        with contextlib.suppress(RuntimeError):  # it has been rung for already
            self._bell.release()


def _dismiss(helpers: list[_Helper], owner: int) -> None:
    if owner != os.getpid():
        return  # after a fork the threads are not there
    for helper in helpers:
        helper.leaves = True
        helper.ring()
    for helper in helpers:
        if helper.thread is not threading.current_thread():
            helper.thread.join()
