"""Ray, started quietly and stopped again."""

import contextlib
import logging
import os
import warnings
from collections.abc import Iterator

from abmarl.extras import load


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
    ray = load("ray", "rllib", "abmarl train")
    if ray.is_initialized():
        yield
        return
    address = os.environ.get("RAY_ADDRESS")
    settings = {} if address else {"num_cpus": max(num_cpus, len(os.sched_getaffinity(0)))}
    settings |= {"include_dashboard": False} if not address else {}
    level = logging.INFO if noisy else logging.ERROR
    for name in ("ray", "ray.rllib", "ray.tune"):
        logging.getLogger(name).setLevel(level)
    with warnings.catch_warnings():
        # Ray announces what will change in its future versions.
        warnings.simplefilter("ignore", FutureWarning)
        ray.init(address=address, log_to_driver=noisy, logging_level=level, **settings)
    try:
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
