"""A vectorised grid-world engine for multi-agent reinforcement learning.

The sub-packages are imported when they are first used, so that ``import abmarl`` stays cheap.
"""

import importlib
import pkgutil

from abmarl import former_paths

__version__ = "0.3.0"

former_paths.install()


def __getattr__(name: str):
    if name in __dir__():
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    packages = {module.name for module in pkgutil.iter_modules(__path__)}
    return sorted({"__version__", "kernels"} | {name for name in packages if name[0] != "_"})
