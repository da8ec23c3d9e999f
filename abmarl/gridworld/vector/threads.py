"""Running the shards of a vectorised simulation, on one thread or several."""

import os
from concurrent.futures import ThreadPoolExecutor


def thread_count(num_threads, num_envs: int) -> int:
    """How many threads to use: as given, else ``ABMARL_NUM_THREADS``, else one.

    Raises:
        ValueError: It is not an int >= 1.
    """
    source = "num_threads"
    if num_threads is None:
        source = "ABMARL_NUM_THREADS"
        num_threads = os.environ.get(source) or 1
    try:
        count = int(num_threads)
    except (TypeError, ValueError):
        count = 0
    if count < 1 or str(count) != str(num_threads):
        raise ValueError(f"{source} must be a number of threads, 1 or more, got {num_threads!r}.")
    return min(count, num_envs)


class Crew:
    """Calls one function per shard, the first one on the calling thread.

    The kernels release the GIL, so the shards run side by side. The helping threads are started
    on first use and again after a fork, which copies no threads.
    """

    def __init__(self, num_helpers: int):
        self._num_helpers = num_helpers
        self._pool = None
        self._owner = None

    def run(self, tasks):
        """Runs all tasks and waits for every one of them; raises the first error."""
        if self._num_helpers and self._owner != os.getpid():
            self._pool = ThreadPoolExecutor(self._num_helpers, "abmarl")
            self._owner = os.getpid()
        waiting = [self._pool.submit(task) for task in tasks[1:]]
        error = None
        try:
            tasks[0]()
        except BaseException as caught:
            error = caught
        # Nobody may go on while a helper still writes, not even after Ctrl-C.
        for future in waiting:
            while not future.done():
                try:
                    future.exception()
                except BaseException as caught:
                    error = error or caught
            error = error or future.exception()
        if error is not None:
            raise error

    def __getstate__(self):
        return {"_num_helpers": self._num_helpers, "_pool": None, "_owner": None}
