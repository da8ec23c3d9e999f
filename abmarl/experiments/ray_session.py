"""Ray, started quietly and stopped again."""

import contextlib
import logging
import os
import signal
import socket
import sys
import time
import warnings
from collections.abc import Iterator

from abmarl.external.runtime import hush
from abmarl.extras import load
from abmarl.resources import available_cpus
from abmarl.terminal import raised_termination

PATIENCE = 30.0
"""Seconds within which a Ray elsewhere has to answer."""


@contextlib.contextmanager
def ray_session(num_cpus: int = 1, noisy: bool = False) -> Iterator[None]:
    """Connect to the Ray that RAY_ADDRESS names, or start one on this machine.

    A Ray that runs in this process already is used, and not stopped.

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
    if address:
        wait_for_ray(address)
    else:
        cpus = max(num_cpus, available_cpus())
        settings = {"num_cpus": cpus, "include_dashboard": False}
    level = logging.INFO if noisy else logging.CRITICAL
    with warnings.catch_warnings(), contextlib.nullcontext() if noisy else _no_stderr():
        # Ray announces what will change in its future versions.
        warnings.simplefilter("ignore", FutureWarning)
        with _termination_blocked():
            ray.init(address=address, log_to_driver=noisy, logging_level=level, **settings)
    try:
        with raised_termination():  # in the place of Ray's own handler, which prints where it was
            yield
    finally:
        ray.shutdown()


def wait_for_ray(address: str) -> None:
    """Print where a Ray is to be, and wait until it answers.

    Ray itself would try for minutes without a word.

    Args:
        address: ``host:port`` or ``ray://host:port``; anything else, as ``auto``, is left to Ray.

    Raises:
        ConnectionError: there is no answer within `PATIENCE` seconds.
    """
    print(f"connecting to the Ray at {address}, as RAY_ADDRESS says ...", flush=True)
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdecimal()):
        return
    end = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=5.0).close()
        except (OSError, OverflowError) as error:
            if time.monotonic() > end:
                raise ConnectionError(
                    f"nobody answers at {address}, which RAY_ADDRESS names: {error}\nstart Ray "
                    f"there (ray start --head), or unset RAY_ADDRESS to train on this machine"
                ) from error
            time.sleep(min(1.0, PATIENCE))
        else:
            return


def prepare() -> None:
    """Set the environment variables that Ray and torch read when they are imported.

    The threads of torch compete with the processes that sample: with one thread each an iteration
    is up to forty times as fast where processors are scarce.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")


@contextlib.contextmanager
def _termination_blocked() -> Iterator[None]:
    """Start processes that ignore SIGTERM, as Ray's own ignore Ctrl-C.

    ``timeout`` and batch systems send it to all processes. Without those of Ray the training would
    end at once, before its last checkpoint is kept.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _no_stderr() -> Iterator[None]:
    """Silence what is not written by Python, such as the messages of Ray's core on stderr."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
