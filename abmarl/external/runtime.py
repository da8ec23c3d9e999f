"""How torch and Ray run in this process: threads, and what they write to the terminal."""

import logging
import os
import sys

from abmarl.extras import load

_DEPRECATIONS = "ray._common.deprecation"
# RLlib logs this for every module that it makes, because it uses its own deprecated form there.
_OWN_DEPRECATION = "`RLModule(config=[RLModuleConfig object])`"


def use_one_thread() -> None:
    """Set torch to one thread in this process, if it is loaded and no number was asked for.

    On busy cores threads that wait for one another make small networks ten times slower and more.
    ``OMP_NUM_THREADS`` is how to ask for another number.
    """
    torch = sys.modules.get("torch")
    if torch is not None and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)


def hush_own_deprecations() -> None:
    """Drop RLlib's warnings of its own code; warnings about users' code stay."""
    logger = logging.getLogger(_DEPRECATIONS)
    if _is_about_users not in logger.filters:
        logger.addFilter(_is_about_users)


def hush() -> None:
    """Silence Ray and RLlib, which warn of future changes and of their workers.

    The callers report themselves what matters to their users.
    """
    load("ray.rllib", "rllib", "abmarl train")  # sets levels of its own when it is imported
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    for name in ("ray", "ray.rllib", "ray.tune"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _is_about_users(record: logging.LogRecord) -> bool:
    return _OWN_DEPRECATION not in record.getMessage()
