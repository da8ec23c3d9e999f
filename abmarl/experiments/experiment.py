"""Experiment files: Python files with ``params``, executed and checked without Ray."""

import contextlib
import difflib
import importlib.util
import itertools
import os
import sys
import traceback
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from abmarl.managers.simulation_manager import SimulationManager

BATCHED = "params['experiment']['batched']"
PARAMS_KEYS = ("experiment", "ray_tune", "config", "verbose")
EXPERIMENT_KEYS = ("title", "sim_creator", "batched")
# How to run. Those that have no use here are named as such when they are given.
USED_TUNE_KEYS = (
    "run_or_experiment", "stop", "checkpoint_freq", "checkpoint_at_end", "local_dir",
    "storage_path", "config",
)  # fmt: skip
UNUSED_TUNE_KEYS = {
    "verbose": "the display shows every iteration",
    "name": "results are named after the title",
    "num_samples": "a file is one run",
    "max_failures": "go on with --resume",
    "restore": "go on with --resume",
    "resume": "go on with --resume",
    "keep_checkpoints_num": "all checkpoints are kept",
    "checkpoint_score_attr": "all checkpoints are kept",
    "log_to_file": "the logs are in the results folder",
    "progress_reporter": "the display is that of abmarl train",
    "reuse_actors": "a file is one run",
}
TUNE_KEYS = (*USED_TUNE_KEYS, *UNUSED_TUNE_KEYS)

_EXPECTED = {
    "title": "a name, after which the results folder is named",
    "sim_creator": "a function of env_config that returns the simulation",
}
# Names that other libraries use for a key -> the key.
_SYNONYMS = {
    "learning_rate": "lr",
    "discount": "gamma",
    "gae_lambda": "lambda",
    "batch_size": "train_batch_size",
    "epochs": "num_epochs",
    "workers": "num_workers",
    "entropy": "entropy_coeff",
}


class ExperimentError(ValueError):
    """A mistake in an experiment, described in one or two lines for its author."""


@dataclass
class Experiment:
    """The content of an experiment file, before it is translated for RLlib.

    Attributes:
        path: absolute path of the file.
        module: the file as a module.
        title: title of the experiment.
        sim_creator: function of ``env_config`` that returns the simulation.
        batched: False, ``"episodes"`` or ``"columns"``: how `abmarl.external.rllib.batched` is to
            sample, if at all.
        tune: how to run: the keys of ``params["ray_tune"]`` without ``config``.
        config: old configuration keys, or an RLlib ``AlgorithmConfig``.
        where: what `config` is called in the file.
        batched_by: the setting that asked for `batched`.
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
    _sim: Any = field(default=None, repr=False)

    @property
    def file_name(self) -> str:
        """Name of the file, without its folder."""
        return os.path.basename(self.path)

    @property
    def old_style(self) -> bool:
        """Whether the configuration is a dict of keys."""
        return isinstance(self.config, dict)

    @property
    def env_config(self) -> dict[str, Any]:
        """The argument of `sim_creator`."""
        given = self.config.get("env_config") if self.old_style else self.config.env_config
        return dict(given or {})

    @property
    def local_dir(self) -> Any:
        """The folder for results that the file names, None where it names none."""
        return self.tune.get("local_dir") or self.tune.get("storage_path")

    def make_sim(self) -> Any:
        """Return what `sim_creator` makes; it is called once."""
        if self._sim is None:
            with located_errors(self.path):
                self._sim = self.sim_creator(self.env_config)
        return self._sim

    def manager(self) -> SimulationManager:
        """Return the simulation manager inside of what `sim_creator` makes.

        Raises:
            ExperimentError: there is none.
        """
        return manager_of(self.make_sim(), f"{self.path}: what sim_creator returns")


def read(path: str | os.PathLike, source: str | os.PathLike | None = None) -> Experiment:
    """Execute and check an experiment file.

    The folder of the file stays on ``sys.path``, so that imports of its neighbours also work
    later, in Ray's workers too.

    Args:
        path: the file.
        source: the file that it is a copy of, whose neighbours are not beside the copy.

    Raises:
        ExperimentError: there is no such file, it fails, or its ``params`` are wrong.
    """
    path = os.path.abspath(os.fspath(path))
    for file in (source, path):
        folder = os.path.dirname(os.fspath(file)) if file is not None else ""
        if folder and folder not in sys.path:
            sys.path.insert(0, folder)
    module = execute(path)
    if not hasattr(module, "params"):
        raise ExperimentError(
            f"{os.path.basename(path)} has no `params`: an experiment file sets params = "
            f"{{'experiment': {{'title': ..., 'sim_creator': ...}}, 'ray_tune': {{...}}}}"
        )
    return _from_params(module.params, path, module)


def _from_params(params: Any, path: str, module: types.ModuleType) -> Experiment:
    name = os.path.basename(path)
    check_known(params, PARAMS_KEYS, f"{name}: params")
    about = params.get("experiment")
    if about is None:
        raise ExperimentError(
            f"{name}: params has no 'experiment': {{'title': ..., 'sim_creator': ...}}"
        )
    check_known(about, EXPERIMENT_KEYS, f"{name}: params['experiment']")
    for key, expected in _EXPECTED.items():
        if key not in about:
            raise ExperimentError(f"{name}: params['experiment'][{key!r}] is missing: {expected}")
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
    return Experiment(
        path=path,
        module=module,
        title=title.strip(),
        sim_creator=creator,
        batched=batched_mode(about.get("batched", False), f"{name}: {BATCHED}"),
        tune={key: value for key, value in tune.items() if key != "config"},
        config=_config(tune.get("config", params.get("config", {})), f"{name}: {where}", path),
        where=where,
    )


def _config(config: Any, where: str, path: str) -> Any:
    if isinstance(config, Mapping):
        return dict(config)
    if callable(config) and not hasattr(config, "algo_class"):
        with located_errors(path):
            config = config()
    if not hasattr(config, "algo_class"):
        raise ExperimentError(
            f"{where} must be a dict of keys, an AlgorithmConfig, or a function that makes "
            f"one, not {config!r:.60}"
        )
    return config


def batched_mode(value: Any, what: str) -> Any:
    """Return False, ``"episodes"`` or ``"columns"``; True stands for episodes.

    Raises:
        ExperimentError: the value is none of them.
    """
    if value is False or value is None:
        return False
    if value is True:
        return "episodes"
    if value in ("episodes", "columns"):
        return value
    raise ExperimentError(f"{what} must be False, True, 'episodes' or 'columns', not {value!r:.60}")


def manager_of(made: Any, what: str) -> SimulationManager:
    """Return the simulation manager inside of wrappers for libraries.

    Args:
        made: a manager, or something that has one as its ``sim``.
        what: what it is, for messages.

    Raises:
        ExperimentError: there is none.
    """
    for layer in layers_of(made):
        if isinstance(layer, SimulationManager):
            return layer
    raise ExperimentError(
        f"{what} is of type {type(made).__name__}, without a simulation manager; write "
        f"AllStepManager(sim) or TurnBasedManager(sim)"
    )


def layers_of(made: Any) -> list[Any]:
    """Return a simulation with the managers and wrappers around it, the outermost first."""
    layers: list[Any] = []
    while made is not None and not any(made is layer for layer in layers):
        layers.append(made)
        inner = getattr(made, "sim", None)
        made = getattr(made, "unwrapped", None) if inner is None else inner
    return layers


def nearest(key: Any, known: Collection[str]) -> str:
    """Return ``" (did you mean 'lr'?)"`` for a key that resembles a known one, else nothing."""
    words = {word: one for word, one in _SYNONYMS.items() if one in known}
    words.update((one, one) for one in known)
    close = difflib.get_close_matches(str(key), words, n=1)
    return f" (did you mean {words[close[0]]!r}?)" if close else ""


def check_known(given: Any, known: Collection[str], what: str) -> None:
    """Refuse a value that is no dict or has unknown keys.

    Raises:
        ExperimentError: the value is refused.
    """
    if not isinstance(given, Mapping):
        raise ExperimentError(f"{what} must be a dict, not {given!r:.60}")
    for key in given:
        if key not in known:
            raise ExperimentError(
                f"{what} has no key {key!r}{nearest(key, known)}; there are {', '.join(known)}"
            )


# ---- users' Python files ----

_file_numbers = itertools.count(1)


def execute(path: str) -> types.ModuleType:
    """Execute a Python file, with itself as ``sys.argv`` and no options.

    Args:
        path: the file.

    Returns:
        The file as a module, under a unique name.

    Raises:
        ExperimentError: there is no such file, or it fails; names the line.
    """
    if not os.path.isfile(path):
        what = "is a folder, not a Python file" if os.path.isdir(path) else "does not exist"
        raise ExperimentError(f"{path} {what}")
    if not path.endswith(".py"):
        raise ExperimentError(f"{path} is not a Python file: its name does not end in .py")
    # A unique name, so that a file called numpy.py or random.py does not hide a module. It stays
    # registered: pickle and dataclasses look their module up.
    name = f"abmarl_simulation_file_{next(_file_numbers)}"
    spec: Any = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    arguments, sys.argv = sys.argv, [path]
    try:
        with located_errors(path):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.argv = arguments
    return module


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
def located_errors(path: str) -> Iterator[None]:
    """Turn whatever a user's file raises into one line with its place in the file.

    Raises:
        ExperimentError: something was raised.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        line = _line_in(path, error)
        place = f"{path}, line {line}" if line else path
        what = error.msg if isinstance(error, SyntaxError) else str(error) or "no reason given"
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
