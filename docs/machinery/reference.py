"""The reference: which names are public, and how their docstrings become pages."""

import importlib
import inspect
import pkgutil
import re

import abmarl

# Classes that are documented although no package names them in ``__all__``.
FURTHER = (
    "abmarl.gridworld.actions.Actions",
    "abmarl.gridworld.component.ChannelComponent",
    "abmarl.gridworld.component.Component",
    "abmarl.gridworld.groups.Group",
    "abmarl.gridworld.rewards.RewardRules",
    "abmarl.gridworld.store.Store",
    "abmarl.gridworld.vector.wrappers.ConvertedSimulation",
    "abmarl.gridworld.vector.wrappers.SuperAgentSimulation",
    "abmarl.gridworld.vector.wrappers.VectorWrapper",
    "abmarl.kernels.program.Call",
    "abmarl.kernels.program.Program",
    "abmarl.render.scenes.appearance.Look",
    "abmarl.render.drawing.geometry.MapGeometry",
    "abmarl.render.drawing.geometry.MapView",
    "abmarl.render.scenes.scene.Caption",
    "abmarl.render.scenes.scene.TeamCount",
    "abmarl.render.viewer.shows.Observed",
    "abmarl.render.viewer.shows.Pane",
    "abmarl.render.scenes.sight.VisibleCells",
    "abmarl.rollout.collect.Tally",
)


def public_packages() -> list[str]:
    """Return the packages and modules of gridworld that list in ``__all__`` what is public."""
    found = []
    for module in pkgutil.walk_packages(abmarl.__path__, "abmarl."):
        room = module.ispkg or module.name.startswith("abmarl.gridworld.")
        if room and hasattr(importlib.import_module(module.name), "__all__"):
            found.append(module.name)
    return found


def public_names() -> dict[int, set[str]]:
    """Return what is public: the id of every object, and all the names that lead to it."""
    found: dict[int, set[str]] = {}
    for package in public_packages():
        module = importlib.import_module(package)
        for name in module.__all__:
            found.setdefault(id(getattr(module, name)), set()).add(f"{package}.{name}")
    for path in FURTHER:
        module, name = path.rsplit(".", 1)
        found.setdefault(id(getattr(importlib.import_module(module), name)), set()).add(path)
    return found


def only_public_bases(app, name, obj, options, bases) -> None:
    """Put public classes in the place of base classes that only the package needs."""
    public = public_names()
    found = []
    for base in bases:
        own = str(getattr(base, "__module__", "")).startswith("abmarl.")
        line = [one for one in base.__mro__ if id(one) in public] if own else [base]
        found += line[:1]
    bases[:] = list(dict.fromkeys(found)) or [object]


def own_signature(app, what, name, obj, options, signature, returned) -> tuple | None:
    """Classes whose ``__new__`` takes anything are made with what ``__init__`` takes."""
    if what != "class" or signature != "(*args, **kwargs)":
        return None
    known = list(inspect.signature(obj.__init__).parameters.values())
    return str(inspect.Signature(known[1:])), returned


def escape_stars(app, what, name, obj, options, lines) -> None:
    """Docstrings write shapes as in ``[B, N, *shape]``, which is no emphasis."""
    for number, line in enumerate(lines):
        parts = line.split("``")
        for k in range(0, len(parts), 2):
            if parts[k].count("*") == 1:
                parts[k] = re.sub(r"(?<![\\*])\*(?=\w)", r"\\*", parts[k])
        lines[number] = "``".join(parts)
