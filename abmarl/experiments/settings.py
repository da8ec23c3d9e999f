"""Settings of an experiment changed from outside: ``--set key=value``."""

import ast
from collections.abc import Sequence
from typing import Any

from abmarl.experiments.execute import ExperimentError
from abmarl.experiments.experiment import Experiment, as_batched
from abmarl.experiments.keys import EXPERIMENT_KEYS, RENAMED, USED_TUNE_KEYS, nearest


def apply_settings(experiment: Experiment, settings: Sequence[str]) -> None:
    """Change an experiment.

    Args:
        experiment: is changed.
        settings: ``key=value`` each. A key is one of the configuration (``lr``, ``num_workers``),
            or one of how to run (``checkpoint_freq``, ``stop.episodes_total``), or one of the
            experiment (``experiment.title``, ``experiment.batched``); a dot leads into a dict. A
            value is a Python literal, or true, false or none in any case; anything else is a text.

    Raises:
        ExperimentError: a setting has no value, or its key does not exist.
    """
    for setting in settings:
        key, equals, text = setting.partition("=")
        key = key.strip()
        if not equals or not key:
            raise ExperimentError(f"--set {setting}: write --set key=value, as in --set lr=0.001")
        _set(experiment, key.split("."), _value(text.strip()), setting)


def _set(experiment: Experiment, path: list[str], value: Any, setting: str) -> None:
    first, *rest = path
    if first == "experiment":
        if len(rest) != 1 or rest[0] not in ("title", "batched"):
            known = [one for one in EXPERIMENT_KEYS if one != "sim_creator"]
            raise ExperimentError(f"--set {setting}: of the experiment, {known} can be set")
        if rest[0] == "batched":
            value = as_batched(value, f"--set {setting}")
            experiment.batched_by = f"--set {setting}"
        else:  # as it was written, also where it reads like a number
            value = setting.partition("=")[2].strip()
            if not value:
                raise ExperimentError(f"--set {setting}: the title must not be empty")
        setattr(experiment, rest[0], value)
    elif first in USED_TUNE_KEYS and first != "config":
        _put(experiment.tune, path, value)
    elif experiment.old_style:
        _put(experiment.config, path, value)
    else:
        _set_attribute(experiment, path, value, setting)


def _set_attribute(experiment: Experiment, path: list[str], value: Any, setting: str) -> None:
    from abmarl.experiments.install import settable

    config = experiment.config = experiment.config.copy(copy_frozen=False)
    key = RENAMED.get(path[0], path[0])
    if not settable(config, key):
        known = [*RENAMED, *(one for one in vars(config) if one[0] != "_")]
        raise ExperimentError(f"--set {setting}: there is no such key{nearest(path[0], known)}")
    if len(path) == 1:
        setattr(config, key, value)
    else:
        inner = dict(getattr(config, key) or {})
        _put(inner, path[1:], value)
        setattr(config, key, inner)


def _put(into: dict[str, Any], path: list[str], value: Any) -> None:
    first, *rest = path
    if not rest:
        into[first] = value
        return
    inner = into.get(first)
    into[first] = dict(inner) if isinstance(inner, dict) else {}
    _put(into[first], rest, value)


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        return text


# As a text, "false" would be true to whoever asks.
_WORDS = {"true": True, "false": False, "none": None, "null": None}
