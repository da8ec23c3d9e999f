"""From a word on the command line to a simulation that can be vectorised."""

import contextlib
import difflib
import importlib.util
import itertools
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from typing import Any

from abmarl.cli.errors import UserError, brief

_number = itertools.count(1)


def load_simulation(name: str) -> Any:
    """Make the simulation that the user asks for.

    Args:
        name: The name of a shipped simulation, or the path of a Python file that has ``sim``,
            ``make_sim()`` or an experiment's ``params``. The file is executed.

    Returns:
        A simulation with ``vectorize``, without the managers and wrappers around it.

    Raises:
        UserError: When there is none, or it cannot be made.
    """
    if name.endswith(".py") or os.sep in name:
        return _from_file(name)
    shipped = _shipped()
    if name in shipped:
        return shipped[name]()
    if os.path.exists(name):
        return _from_file(name)
    close = difflib.get_close_matches(name, shipped, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise UserError(
        f"no simulation {name!r}{hint}\n"
        f"there are {', '.join(sorted(shipped))}, or give the path of a Python file"
    )


def _shipped() -> dict[str, Callable[[], Any]]:
    from abmarl.examples import shipped

    return shipped


def _from_file(path: str) -> Any:
    if not os.path.isfile(path):
        what = "is a folder, not a Python file" if os.path.isdir(path) else "does not exist"
        raise UserError(f"{path} {what}")
    if not path.endswith(".py"):
        raise UserError(f"{path} is not a Python file: its name does not end in .py")
    with _importable_from(os.path.dirname(os.path.abspath(path))):
        module = _execute(path)
        what, made = _make(module, path)
    return _innermost(made, what, path)


@contextlib.contextmanager
def _importable_from(folder: str) -> Iterator[None]:
    """Let a file import its neighbours while it is loaded."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)


def _execute(path: str) -> types.ModuleType:
    # A name of its own, so that a file called numpy.py or random.py does not hide a module. It
    # stays registered: pickle and dataclasses look their module up.
    name = f"abmarl_simulation_file_{next(_number)}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _told_where(path):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _make(module: types.ModuleType, path: str) -> tuple[str, Any]:
    if hasattr(module, "sim"):
        return "sim", module.sim
    if hasattr(module, "make_sim"):
        if not callable(module.make_sim):
            raise UserError(f"{path}: make_sim is {module.make_sim!r}, it must be a function")
        with _told_where(path):
            return "make_sim()", module.make_sim()
    if hasattr(module, "params"):
        return "params", _from_experiment(module.params, path)
    raise UserError(
        f"{path} makes no simulation: it needs `sim`, a function `make_sim()`, or an "
        f"experiment's `params`"
    )


def _from_experiment(params: Any, path: str) -> Any:
    try:
        creator = params["experiment"]["sim_creator"]
        tune = params.get("ray_tune", params)
        config = tune.get("config", params.get("config", {})).get("env_config", {})
    except (KeyError, TypeError, AttributeError):
        creator = None
    if not callable(creator):
        raise UserError(f"{path}: params has no function at params['experiment']['sim_creator']")
    with _told_where(path):
        return creator(config)


def _innermost(made: Any, what: str, path: str) -> Any:
    """The simulation inside of managers and wrappers."""
    seen: set[int] = set()
    inner = made
    while not callable(getattr(inner, "vectorize", None)) and id(inner) not in seen:
        seen.add(id(inner))
        for way in ("sim", "unwrapped"):
            deeper = getattr(inner, way, None)
            if deeper is not None and id(deeper) not in seen:
                inner = deeper
                break
    if not callable(getattr(inner, "vectorize", None)):
        raise UserError(
            f"{path}: {what} is of type {type(made).__name__}, not a grid world simulation; one "
            f"is made by build_sim(...) of its class"
        )
    return inner


@contextlib.contextmanager
def _told_where(path: str) -> Iterator[None]:
    """Turn whatever the user's code raises into one line with its place in the file."""
    try:
        yield
    except (Exception, SystemExit) as error:
        line = _line_in(path, error)
        place = f"{path}, line {line}" if line else path
        what = brief(error) if str(error) else "no reason given"
        if isinstance(error, SyntaxError):
            what = error.msg
        raise UserError(f"{place}: {type(error).__name__}: {what}") from error


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
