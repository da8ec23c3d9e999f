"""Settings whose values RLlib would stumble over later, or never notice."""

import os
from collections.abc import Mapping
from typing import Any

from abmarl.experiments.execute import ExperimentError
from abmarl.experiments.experiment import Experiment
from abmarl.experiments.keys import RENAMED

_SHARES = ("gamma", "lambda_")
_GPUS = ("num_gpus_per_learner", "num_gpus_per_env_runner")


def check_values(config: Any, experiment: Experiment) -> None:
    """Check the configuration of an experiment before Ray is started.

    Args:
        config: RLlib's ``AlgorithmConfig``, complete.
        experiment: that it was made of, for the names of its keys.

    Raises:
        ExperimentError: a value is none that can be trained with.
    """
    where = f"{os.path.basename(experiment.path)}: {experiment.where}"
    given = experiment.config if experiment.old_style else {}
    names = {RENAMED.get(key, key): key for key in given}

    def refuse(key: str, what: str) -> None:
        name = names.get(key, key)
        raise ExperimentError(f"{where}: {name}={getattr(config, key)!r:.60} {what}")

    for key in vars(config):
        value = getattr(config, key)
        if _is_search(value):
            name = names.get(key, key)
            refuse(key, f"asks for several runs: a file is one run; use --set {name}=...")
    usual = type(config)()
    for key, default in vars(usual).items():
        number = isinstance(default, int | float) and not isinstance(default, bool)
        if number and isinstance(getattr(config, key), str) and getattr(config, key) != "auto":
            refuse(key, f"is no number; RLlib's default is {default!r}")
    for key in _SHARES:
        value = getattr(config, key, None)
        if value is not None and not (_is_number(value) and 0 <= value <= 1):
            refuse(key, "must be a number from 0 to 1")
    whole, part = config.train_batch_size_per_learner, config.minibatch_size
    if _is_number(whole) and _is_number(part) and part > whole:
        name = names.get("train_batch_size_per_learner", "train_batch_size_per_learner")
        refuse("minibatch_size", f"is more than {name}={whole}: set it to {whole} or less")
    for key in _GPUS:
        if getattr(config, key) and not os.environ.get("RAY_ADDRESS") and not _has_gpu():
            refuse(key, "needs a GPU that torch can use, and there is none here: set it to 0")


def _is_search(value: Any) -> bool:
    """Whether it is one of Ray Tune's ways to ask for many values, or has one in it."""
    if isinstance(value, Mapping):
        return set(value) == {"grid_search"} or any(map(_is_search, value.values()))
    return type(value).__module__.startswith("ray.tune.search")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()
