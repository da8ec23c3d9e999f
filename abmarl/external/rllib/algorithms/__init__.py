"""Learning algorithms for RLlib that it no longer ships: `PG` and `A2C`."""

from abmarl.lazy import names_from

_HOME = {"A2C": "a2c", "A2CConfig": "a2c", "PG": "pg", "PGConfig": "pg"}

__all__ = list(_HOME)

__getattr__, __dir__ = names_from(__name__, _HOME)
