"""Runs the Python files that users write, and says where in them something went wrong."""

import contextlib
import importlib.util
import itertools
import os
import sys
import traceback
import types
from collections.abc import Iterator

_number = itertools.count(1)


class ExperimentError(ValueError):
    """Something in an experiment that its author has to change, in one or two lines."""


def execute(path: str) -> types.ModuleType:
    """Run a Python file, which sees itself as ``sys.argv`` and no options.

    Args:
        path: the file.

    Returns:
        It as a module, under a name of its own.

    Raises:
        ExperimentError: there is no such file, or it fails; names the line.
    """
    if not os.path.isfile(path):
        what = "is a folder, not a Python file" if os.path.isdir(path) else "does not exist"
        raise ExperimentError(f"{path} {what}")
    if not path.endswith(".py"):
        raise ExperimentError(f"{path} is not a Python file: its name does not end in .py")
    # A name of its own, so that a file called numpy.py or random.py does not hide a module. It
    # stays registered: pickle and dataclasses look their module up.
    name = f"abmarl_simulation_file_{next(_number)}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with told_where(path), _arguments([path]):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextlib.contextmanager
def _arguments(given: list[str]) -> Iterator[None]:
    before, sys.argv = sys.argv, given
    try:
        yield
    finally:
        sys.argv = before


@contextlib.contextmanager
def importable_from(folder: str) -> Iterator[None]:
    """Let a file import its neighbours while it is loaded."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)


@contextlib.contextmanager
def told_where(path: str) -> Iterator[None]:
    """Turn whatever the user's code raises into one line with its place in the file.

    Raises:
        ExperimentError: something was raised.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        line = _line_in(path, error)
        place = f"{path}, line {line}" if line else path
        what = str(error) or "no reason given"
        if isinstance(error, SyntaxError):
            what = error.msg
        raise ExperimentError(f"{place}: {type(error).__name__}: {what}") from error


def _line_in(path: str, error: BaseException) -> int | None:
    here = os.path.abspath(path)
    if isinstance(error, SyntaxError) and os.path.abspath(error.filename or "") == here:
        return error.lineno
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if os.path.abspath(frame.filename) == here
    ]
    return lines[-1] if lines else None
