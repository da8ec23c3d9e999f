"""Learning algorithms for RLlib that it no longer ships: `PG` and `A2C`."""

import importlib

_HOME = {"A2C": "a2c", "A2CConfig": "a2c", "PG": "pg", "PGConfig": "pg"}

__all__ = list(_HOME)


def __getattr__(name: str):
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
