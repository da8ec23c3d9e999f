"""The optional libraries behind `abmarl.render`, imported on first use."""

import importlib
import os
import warnings
from types import ModuleType


def load(module: str) -> ModuleType:
    """Import a module of an optional library.

    Args:
        module: dotted name, such as ``"matplotlib.figure"``.

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
            f"abmarl.render needs {library}: pip install 'abmarl[render]'", name=library
        ) from error
