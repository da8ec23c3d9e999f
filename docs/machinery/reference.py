"""The reference: which names are public, and how their docstrings become pages."""

import importlib
import pkgutil
import re

import abmarl


def public_packages() -> list[str]:
    """Packages of abmarl that say in ``__all__`` what is public in them."""
    found = []
    for module in pkgutil.walk_packages(abmarl.__path__, "abmarl."):
        if module.ispkg and hasattr(importlib.import_module(module.name), "__all__"):
            found.append(module.name)
    return found


def public_names() -> dict[int, set[str]]:
    """What is public: the id of every object, and all the names that lead to it."""
    found: dict[int, set[str]] = {}
    for package in public_packages():
        module = importlib.import_module(package)
        for name in module.__all__:
            found.setdefault(id(getattr(module, name)), set()).add(f"{package}.{name}")
    return found


def only_public_bases(app, name, obj, options, bases) -> None:
    """Leaves out base classes of the package that nobody but the package needs."""
    public = public_names()
    bases[:] = [
        base
        for base in bases
        if id(base) in public or not str(getattr(base, "__module__", "")).startswith("abmarl.")
    ]


def escape_stars(app, what, name, obj, options, lines) -> None:
    """Docstrings write shapes as in ``[B, N, *shape]``, which is no emphasis."""
    for number, line in enumerate(lines):
        parts = line.split("``")
        for k in range(0, len(parts), 2):
            if parts[k].count("*") == 1:
                parts[k] = re.sub(r"(?<![\\*])\*(?=\w)", r"\\*", parts[k])
        lines[number] = "``".join(parts)
