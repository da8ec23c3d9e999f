"""Ray, started quietly and stopped again."""

import contextlib
import logging
import os
import sys
import warnings
from collections.abc import Iterator

from abmarl.external.ray_logs import hush
from abmarl.extras import load
from abmarl.rollout.interrupt import raised_termination


@contextlib.contextmanager
def ray_session(num_cpus: int = 1, noisy: bool = False) -> Iterator[None]:
    """Connect to the Ray that RAY_ADDRESS names, or start one on this machine.

    One that runs already is used and stays.

    Args:
        num_cpus: how many processes of one processor each are wanted; where Ray is started here,
            it may run as many, even if there are fewer processors.
        noisy: whether Ray may print what it does.

    Raises:
        ImportError: Ray is missing.
        ConnectionError: there is no Ray at RAY_ADDRESS.
    """
    prepare()
    if not noisy:
        hush()
    ray = load("ray", "rllib", "abmarl train")
    if ray.is_initialized():
        yield
        return
    address, settings = os.environ.get("RAY_ADDRESS"), {}
    if not address:
        cpus = max(num_cpus, len(os.sched_getaffinity(0)))
        settings = {"num_cpus": cpus, "include_dashboard": False}
    level = logging.INFO if noisy else logging.CRITICAL
    with warnings.catch_warnings(), contextlib.nullcontext() if noisy else _no_stderr():
        # Ray announces what will change in its future versions.
        warnings.simplefilter("ignore", FutureWarning)
        ray.init(address=address, log_to_driver=noisy, logging_level=level, **settings)
    try:
        with raised_termination():  # in the place of Ray's own handler, which prints where it was
            yield
    finally:
        ray.shutdown()


def prepare() -> None:
    """What must be said before Ray and torch are imported.

    torch's threads get into the way of the processes that sample: with one thread each an
    iteration is up to forty times as fast where processors are scarce.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")


@contextlib.contextmanager
def _no_stderr() -> Iterator[None]:
    """Silence what is not written by Python: Ray's core says on stderr that it will be silent."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
