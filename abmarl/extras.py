"""The optional libraries, imported on first use."""

import importlib
import os
import warnings
from types import ModuleType


def load(module: str, extra: str = "render", user: str = "abmarl.render") -> ModuleType:
    """Import a module of an optional library.

    Args:
        module: dotted name, such as ``"matplotlib.figure"``.
        extra: what to install it with: ``pip install 'abmarl[extra]'``.
        user: who needs it.

    Raises:
        ImportError: the library is missing; says how to install it and keeps the cause.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        # pygame imports pkg_resources where there is one, which warns about its own age.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*pkg_resources")
            return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise ImportError(
            f"{user} needs {library}: pip install 'abmarl[{extra}]'", name=library
        ) from error
