"""Experiment files: Python files with ``params``."""

import os
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from abmarl.experiments.execute import ExperimentError, execute, told_where
from abmarl.experiments.keys import EXPERIMENT_KEYS, PARAMS_KEYS, TUNE_KEYS, check_known
from abmarl.managers.simulation_manager import SimulationManager

BATCHED = "params['experiment']['batched']"


@dataclass
class Experiment:
    """What an experiment file says, before it is translated for RLlib.

    Attributes:
        path: absolute path of the file.
        module: the file as a module.
        title: of the experiment.
        sim_creator: function of ``env_config`` that returns the simulation.
        batched: False, ``"episodes"`` or ``"columns"``: how `abmarl.external.rllib.batched` is to
            sample, if at all.
        tune: how to run: the keys of ``params["ray_tune"]`` without ``config``.
        config: old configuration keys, or an RLlib ``AlgorithmConfig``.
        where: what `config` is called in the file.
        batched_by: what asked for `batched`.
    """

    path: str
    module: types.ModuleType
    title: str
    sim_creator: Callable[..., Any]
    batched: Any
    tune: dict[str, Any]
    config: Any
    where: str
    batched_by: str = BATCHED
    _made: Any = field(default=None, repr=False)

    @property
    def old_style(self) -> bool:
        """Whether the configuration is a dict of keys."""
        return isinstance(self.config, dict)

    @property
    def env_config(self) -> dict[str, Any]:
        """What the creator of the simulation is given."""
        if self.old_style:
            return self.config.get("env_config") or {}
        return dict(self.config.env_config or {})

    def make_sim(self) -> Any:
        """What the creator returns; it is asked once."""
        if self._made is None:
            with told_where(self.path):
                self._made = self.sim_creator(self.env_config)
        return self._made

    def manager(self) -> SimulationManager:
        """The manager inside of what the creator returns.

        Raises:
            ExperimentError: there is none.
        """
        return manager_of(self.make_sim(), f"{self.path}: what sim_creator returns")


def read(path: str | os.PathLike, source: str | os.PathLike | None = None) -> Experiment:
    """Read an experiment file, which is executed.

    The folder of the file stays on ``sys.path``, so that what it imports from its neighbours is
    found later too, also by Ray's workers.

    Args:
        path: the file.
        source: the file that it is a copy of, whose neighbours are not beside the copy.

    Raises:
        ExperimentError: there is no such file, it fails, or its ``params`` are not as they should.
    """
    path = os.path.abspath(os.fspath(path))
    for file in (source, path):
        folder = os.path.dirname(os.fspath(file)) if file is not None else ""
        if folder and folder not in sys.path:
            sys.path.insert(0, folder)
    module = execute(path)
    name = os.path.basename(path)
    if not hasattr(module, "params"):
        raise ExperimentError(
            f"{name} has no `params`: an experiment file sets params = {{'experiment': "
            f"{{'title': ..., 'sim_creator': ...}}, 'ray_tune': {{...}}}}"
        )
    return from_params(module.params, path, module)


_WANTED = {
    "title": "a name, after which the results folder is named",
    "sim_creator": "a function of env_config that returns the simulation",
}


def from_params(params: Any, path: str, module: types.ModuleType) -> Experiment:
    """The experiment that ``params`` describe.

    Raises:
        ExperimentError: they are not as they should be.
    """
    name = os.path.basename(path)
    check_known(params, PARAMS_KEYS, f"{name}: params")
    about = params.get("experiment")
    if about is None:
        raise ExperimentError(
            f"{name}: params has no 'experiment': {{'title': ..., 'sim_creator': ...}}"
        )
    check_known(about, EXPERIMENT_KEYS, f"{name}: params['experiment']")
    for key in ("title", "sim_creator"):
        if key not in about:
            raise ExperimentError(
                f"{name}: params['experiment'][{key!r}] is missing: {_WANTED[key]}"
            )
    title, creator = about["title"], about["sim_creator"]
    if not isinstance(title, str) or not title.strip():
        raise ExperimentError(
            f"{name}: params['experiment']['title'] must be a name, not {title!r}"
        )
    if not callable(creator):
        raise ExperimentError(
            f"{name}: params['experiment']['sim_creator'] must be a function that returns the "
            f"simulation, not {creator!r:.60}"
        )
    tune = params.get("ray_tune", {})
    check_known(tune, TUNE_KEYS, f"{name}: params['ray_tune']")
    if "config" in tune and "config" in params:
        raise ExperimentError(
            f"{name}: params has 'config' inside of 'ray_tune' and beside it; keep one of them"
        )
    where = "params['ray_tune']['config']" if "config" in tune else "params['config']"
    config = tune.get("config", params.get("config", {}))
    return Experiment(
        path=path,
        module=module,
        title=title.strip(),
        sim_creator=creator,
        batched=as_batched(about.get("batched", False), f"{name}: {BATCHED}"),
        tune={key: value for key, value in tune.items() if key != "config"},
        config=_config(config, name, where, path),
        where=where,
    )


def manager_of(made: Any, what: str) -> SimulationManager:
    """The manager inside of wrappers for libraries.

    Args:
        made: a manager, or something that has one as its ``sim``.
        what: what it is, for messages.

    Raises:
        ExperimentError: there is none.
    """
    inner, seen = made, set()
    while not isinstance(inner, SimulationManager) and id(inner) not in seen:
        seen.add(id(inner))
        inner = getattr(inner, "sim", None)
    if not isinstance(inner, SimulationManager):
        raise ExperimentError(
            f"{what} is of type {type(made).__name__}, without a simulation manager; write "
            f"AllStepManager(sim) or TurnBasedManager(sim)"
        )
    return inner


def as_batched(value: Any, what: str) -> Any:
    """False, ``"episodes"`` or ``"columns"``.

    Raises:
        ExperimentError: it is none of them, nor True, which stands for episodes.
    """
    if value is False or value is None:
        return False
    if value is True:
        return "episodes"
    if value in ("episodes", "columns"):
        return value
    raise ExperimentError(f"{what} must be False, True, 'episodes' or 'columns', not {value!r:.60}")


def _config(config: Any, name: str, where: str, path: str) -> Any:
    if isinstance(config, Mapping):
        return dict(config)
    if callable(config) and not hasattr(config, "algo_class"):
        with told_where(path):
            config = config()
    if not hasattr(config, "algo_class"):
        raise ExperimentError(
            f"{name}: {where} must be a dict of keys, an AlgorithmConfig, or a function that makes "
            f"one, not {config!r:.60}"
        )
    return config
