"""What classes were called in earlier releases; the old names work, with a DeprecationWarning."""

import importlib
import warnings
from collections.abc import Callable

# Old name: the package that the class is in, its name now, and what else has changed.
FORMER_NAMES = {
    "HealthAgent": ("agent", "GridWorldAgent", "any grid agent has health"),
    "AmmoObservingAgent": ("agent", "AmmoAgent", ""),
    "SingleGridObserver": (
        "observer", "PositionCenteredEncodingObserver",
        "its channel is 'position_centered_encoding'",
    ),
    "MultiGridObserver": (
        "observer", "StackedPositionCenteredEncodingObserver",
        "its channel is 'stacked_position_centered_encoding'",
    ),
    "ActorBaseComponent": ("actor", "ActorBase", ""),
    "AttackActor": ("actor", "BinaryAttackActor", ""),
    "StateBaseComponent": ("state", "StateBase", ""),
    "ObserverBaseComponent": ("observer", "ObserverBase", ""),
    "DoneBaseComponent": ("done", "DoneBase", ""),
    "TargetAgentDone": ("done", "TargetAgentOverlapDone", ""),
    "TargetDestroyedDone": ("done", "TargetAgentInactiveDone", ""),
}  # fmt: skip

_ROOT = __name__.rpartition(".")[0]


def present_name(name: str, stacklevel: int = 2) -> str:
    """Return what a class is called now; warns when that is something else.

    Args:
        name: A name, old or not.
        stacklevel: Whose line the warning names, as for ``warnings.warn`` here.
    """
    if name not in FORMER_NAMES:
        return name
    _, present, change = FORMER_NAMES[name]
    text = f"{name} is called {present} now" + (f"; {change}." if change else ".")
    warnings.warn(text, DeprecationWarning, stacklevel=stacklevel + 1)
    return present


def former_names_in(module: str) -> Callable:
    """Return the ``__getattr__`` of a package that finds classes by their old names.

    Args:
        module: The package's ``__name__``.
    """

    def __getattr__(name: str):
        home = f"{_ROOT}.{FORMER_NAMES[name][0]}" if name in FORMER_NAMES else None
        if home is None or module not in (home, _ROOT):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        package, present = importlib.import_module(home), present_name(name)
        # A class that stands in for one that had another place among the others.
        return getattr(package, f"_{name}", None) or getattr(package, present)

    return __getattr__
