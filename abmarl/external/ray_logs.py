"""What Ray and RLlib write to the terminal, and how much of it is let through."""

import logging
import os

from abmarl.extras import load

_DEPRECATIONS = "ray._common.deprecation"
# RLlib warns of this whenever it makes a module, in which it uses its own old form.
_OF_ITS_OWN = "`RLModule(config=[RLModuleConfig object])`"


def hush_own_deprecations() -> None:
    """Keep RLlib from warning of what RLlib itself does; warnings about users' code stay."""
    logger = logging.getLogger(_DEPRECATIONS)
    if _not_of_its_own not in logger.filters:
        logger.addFilter(_not_of_its_own)


def hush() -> None:
    """Let Ray and RLlib tell nothing: they warn of what they are going to change, and of workers.

    What matters is told by those who use them.
    """
    load("ray.rllib", "rllib", "abmarl train")  # which sets the levels of its own
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    for name in ("ray", "ray.rllib", "ray.tune"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _not_of_its_own(record: logging.LogRecord) -> bool:
    return _OF_ITS_OWN not in record.getMessage()
