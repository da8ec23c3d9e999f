"""How many threads torch works with."""

import os
import sys


def use_one_thread() -> None:
    """Set torch to one thread in this process, if it is loaded and nobody asked for a number.

    On busy cores threads that wait for one another make small networks ten times slower and more.
    ``OMP_NUM_THREADS`` is how to ask for another number.
    """
    torch = sys.modules.get("torch")
    if torch is not None and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)
