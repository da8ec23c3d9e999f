"""What words on the command line name: simulations, policies and rollouts."""

import contextlib
import difflib
import importlib
import os
import sys
import types
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from abmarl.cli.console import UserError, brief, for_the_user

# The package is imported in functions, so that help texts do not wait for numpy and numba.


# ---- simulations ----


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
    if not (name.endswith(".py") or os.sep in name):
        from abmarl.examples import shipped

        if name in shipped:
            return shipped[name]()
        if not os.path.exists(name):
            close = difflib.get_close_matches(name, shipped, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise UserError(
                f"no simulation {name!r}{hint}\n"
                f"there are {', '.join(sorted(shipped))}, or give the path of a Python file"
            )
    return _simulation_in_file(name)


def vectorized(
    sim: str, num_envs: int, seed: int, horizon: int, threads: int | None, order: str
) -> Any:
    """Return many worlds of the simulation that the user asks for; see `load_simulation`.

    Raises:
        UserError: There is no such simulation, or it cannot be vectorised.
    """
    with for_the_user():
        return load_simulation(sim).vectorize(
            num_envs=num_envs, seed=seed, horizon=horizon or None, num_threads=threads, order=order
        )


def name_of_simulation(name: str) -> str:
    """Return the name of a simulation that is given by its name or its Python file."""
    return os.path.basename(name).removesuffix(".py")


def _simulation_in_file(path: str) -> Any:
    from abmarl.experiments.experiment import execute, importable_from

    with for_the_user(), importable_from(os.path.dirname(os.path.abspath(path))):
        module = execute(path)
        what, made = _make(module, path)
    return _innermost(made, what, path)


def _make(module: types.ModuleType, path: str) -> tuple[str, Any]:
    from abmarl.experiments.experiment import located_errors

    if hasattr(module, "sim"):
        return "sim", module.sim
    if hasattr(module, "make_sim"):
        if not callable(module.make_sim):
            raise UserError(f"{path}: make_sim is {module.make_sim!r}, it must be a function")
        with located_errors(path):
            return "make_sim()", module.make_sim()
    if not hasattr(module, "params"):
        raise UserError(
            f"{path} makes no simulation: it needs `sim`, a function `make_sim()`, or an "
            f"experiment's `params`"
        )
    params = module.params
    try:
        creator = params["experiment"]["sim_creator"]
        tune = params.get("ray_tune", params)
        config = tune.get("config", params.get("config", {})).get("env_config", {})
    except (KeyError, TypeError, AttributeError):
        creator = None
    if not callable(creator):
        raise UserError(f"{path}: params has no function at params['experiment']['sim_creator']")
    with located_errors(path):
        return "params", creator(config)


def _innermost(made: Any, what: str, path: str) -> Any:
    """Return the simulation inside of managers and wrappers."""
    from abmarl.experiments.experiment import layers_of
    from abmarl.sim import AgentBasedSimulation

    layers = layers_of(made)
    for layer in layers:
        if callable(getattr(layer, "vectorize", None)):
            return layer
    inner = layers[-1] if layers else made
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


# ---- policies ----


def names_of_policies(
    vec: Any, given: Iterable[str], option: str = "--policy", default: str = "random"
) -> dict[str, list[str]]:
    """Return the names or paths for each group, in their order.

    ``["random", "red=heuristic"]`` is an example of what is given. Entries for one group take
    precedence over those for all groups.

    Args:
        vec: The vectorised simulation.
        given: Entries ``[GROUP=]NAME``; the group ``*`` is all of them.
        option: The name of the option, for messages.
        default: The name for groups that are not given anything.

    Raises:
        UserError: For a group that does not exist.
    """
    from abmarl.rollout.policies import bind_policies

    everyone: list[str] = []
    named: dict[str, list[str]] = {}
    for entry in given:
        group, name = _split(entry, vec.groups)
        names = everyone if group == "*" else named.setdefault(group, [])
        if name in names:
            names.remove(name)
        names.append(name)
    with for_the_user(option):
        bind_policies(vec, dict.fromkeys(named, "random"))
    return {group: named.get(group) or everyone or [default] for group in vec.groups}


def load_policies(
    vec: Any, names: Mapping[str, Iterable[str]], trust: bool, sample: bool, seed: int,
    option: str = "--policy",
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """Return the policies of each group, and check that they fit it.

    Args:
        vec: The vectorised simulation.
        names: group -> names of shipped policies, or checkpoints: ``PATH`` or ``PATH#policy``. Of
            a results folder of ``abmarl train`` the last checkpoint is taken, of a checkpoint with
            several policies the one that is named or else has the name of the group.
        trust: Whether checkpoints may execute code.
        sample: Whether checkpoints draw their actions.
        seed: The seed of these draws.
        option: The name of the option, for messages.

    Returns:
        group -> name -> the name itself, or the policy that was read.

    Raises:
        UserError: There is no such policy, it cannot be read, or it does not fit the group.
    """
    uses = Counter(name for entries in names.values() for name in entries)
    # The libraries that wrote these take some seconds to be imported.
    slow = [
        name
        for name in uses
        if os.path.exists(_split_checkpoint(name)[0]) and (trust or name.endswith(".zip"))
    ]
    if slow:
        print(f"loading {', '.join(slow)} ...", file=sys.stderr, flush=True)
    found: dict[str, dict[str, Any]] = {group: {} for group in names}
    with for_the_user(option):
        for group, entries in names.items():
            for name in entries:
                policy: Any = name
                if _is_checkpoint(name):
                    policy = _read_checkpoint(name, group, trust, sample, seed, option)
                _check_fit(vec, group, policy, name, uses[name] > 1, option)
                found[group][name] = policy
    return found


def _check_fit(vec: Any, group: str, policy: Any, name: str, shared: bool, option: str) -> None:
    from abmarl.rollout.policies import bind_policies

    try:
        bind_policies(vec, {group: policy})
    except ValueError as error:
        if not (shared and _is_checkpoint(name)):
            raise
        raise ValueError(f"{brief(error)}; for one group only: {option} GROUP={name}") from error


def _split(entry: str, groups: Iterable[str]) -> tuple[str, str]:
    """``"GROUP=NAME"`` -> both; names of groups and paths may both hold an ``=``."""
    places = [place for place, letter in enumerate(entry) if letter == "="]
    for place in places:
        if entry[:place] in groups or entry[:place] == "*":
            return entry[:place], entry[place + 1 :]
    if not places or os.path.exists(entry):
        return "*", entry
    return entry[: places[-1]], entry[places[-1] + 1 :]


def _is_checkpoint(name: str) -> bool:
    """Return whether a name is no shipped policy but a path, maybe with ``#policy``."""
    from abmarl.rollout.policies import SHIPPED, is_path

    return name not in SHIPPED and is_path(_split_checkpoint(name)[0])


def _split_checkpoint(name: str) -> tuple[str, str | None]:
    """``"PATH#policy"`` -> both; None where no policy is named."""
    whole = os.path.expanduser(name)
    path, mark, policy = whole.rpartition("#")
    if not mark or os.path.exists(whole):
        return whole, None
    return path, policy


def _read_checkpoint(
    name: str, group: str, trust: bool, sample: bool, seed: int, option: str
) -> Any:
    from abmarl.experiments.results import RUN_FILE, Results
    from abmarl.external import load_policy
    from abmarl.external.checkpoints.rllib import is_checkpoint, policies_in
    from abmarl.external.runtime import use_one_thread

    # Stable-Baselines3 imports gym where it is installed, which prints that it is unmaintained.
    with contextlib.suppress(ImportError):
        importlib.import_module("gym_notices.notices").notices.clear()
    path, policy = _split_checkpoint(name)
    if os.path.isfile(os.path.join(path, RUN_FILE)):
        path = os.fspath(Results.open(path).checkpoint()[1])
    if policy is None and is_checkpoint(path):
        there = policies_in(path)
        if group in there:
            policy = group
        elif len(there) > 1:
            raise ValueError(
                f"{name} has the policies {', '.join(map(repr, there))}, and none for group "
                f"{group!r}:\nchoose one, as {option} '{group}={name}#{there[0]}'"
            )
    read = load_policy(path, policy, trust=trust, deterministic=not sample, seed=seed)
    use_one_thread()
    return read


# ---- rollouts ----


def load_rollout(path: str) -> Any:
    """Read a rollout.

    Raises:
        UserError: The file cannot be read, or is no rollout.
    """
    from abmarl.rollout import load

    with for_the_user():
        rollout = load(path)
    if not rollout.num_steps:
        raise UserError(f"{path} holds no steps")
    return rollout


def simulation_of(rollout: Any, path: str, sim: str | None) -> Any:
    """Return the simulation that a rollout was made with.

    Args:
        rollout: The rollout.
        path: Its file.
        sim: The name or file that the user gives for it, or None.

    Raises:
        UserError: The simulation is not known, or cannot be made.
    """
    from abmarl.examples import shipped

    if sim is None and rollout.simulation not in shipped:
        raise UserError(
            f"{path} was made with {rollout.simulation!r}, which is none of the shipped "
            f"simulations\ngive its Python file: --sim {rollout.simulation}.py"
        )
    with for_the_user():
        return load_simulation(sim or rollout.simulation)


def name_of_rollout(path: str) -> str:
    """Return the name of a rollout's file, for titles."""
    return os.path.basename(path).removesuffix(".npz")
