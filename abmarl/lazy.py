"""Names of a package that import what they stand for when they are first asked for."""

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def names_from(
    package: str, homes: Mapping[str, str], more: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package that imports its parts on first use.

    Args:
        package: its ``__name__``.
        homes: names, and the modules in the package that have them, dotted without the package.
        more: names that the package has itself, for `dir`.
    """

    def __getattr__(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*homes, *more})

    return __getattr__, __dir__
