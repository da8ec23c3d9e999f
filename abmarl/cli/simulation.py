"""From a word on the command line to a simulation that can be vectorised."""

import difflib
import os
import types
from collections.abc import Callable
from typing import Any

from abmarl.cli.errors import UserError, for_the_user
from abmarl.experiments.execute import execute, importable_from, told_where


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
    with for_the_user(), importable_from(os.path.dirname(os.path.abspath(path))):
        module = execute(path)
        what, made = _make(module, path)
    return _innermost(made, what, path)


def _make(module: types.ModuleType, path: str) -> tuple[str, Any]:
    if hasattr(module, "sim"):
        return "sim", module.sim
    if hasattr(module, "make_sim"):
        if not callable(module.make_sim):
            raise UserError(f"{path}: make_sim is {module.make_sim!r}, it must be a function")
        with told_where(path):
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
    with told_where(path):
        return creator(config)


def _innermost(made: Any, what: str, path: str) -> Any:
    """The simulation inside of managers and wrappers."""
    from abmarl.sim import AgentBasedSimulation

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
        if isinstance(inner, AgentBasedSimulation):
            raise UserError(
                f"{path}: {what} is a {type(inner).__name__}, a plain simulation, and this needs a "
                f"grid world, which is built of components;\nwhat abmarl train made of it is shown "
                f"by abmarl visualize DIR, and evaluated by abmarl analyze DIR SCRIPT"
            )
        raise UserError(
            f"{path}: {what} is of type {type(made).__name__}, not a grid world simulation; one "
            f"is made by build_sim(...) of its class"
        )
    return inner
