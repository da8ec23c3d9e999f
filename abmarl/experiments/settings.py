"""Names of settings, those of old RLlib versions included, and ``--set key=value``."""

import ast
from collections.abc import Sequence
from typing import Any

from abmarl.experiments.experiment import (
    EXPERIMENT_KEYS,
    USED_TUNE_KEYS,
    Experiment,
    ExperimentError,
    batched_mode,
    nearest,
)

# Old configuration key -> its name in RLlib's AlgorithmConfig.
RENAMED = {
    "num_workers": "num_env_runners",
    "num_rollout_workers": "num_env_runners",
    "num_envs_per_worker": "num_envs_per_env_runner",
    "num_cpus_per_worker": "num_cpus_per_env_runner",
    "num_gpus_per_worker": "num_gpus_per_env_runner",
    "custom_resources_per_worker": "custom_resources_per_env_runner",
    "num_gpus": "num_gpus_per_learner",
    "num_sgd_iter": "num_epochs",
    "sgd_minibatch_size": "minibatch_size",
    "train_batch_size": "train_batch_size_per_learner",
    "lambda": "lambda_",
    "sample_batch_size": "rollout_fragment_length",
    "evaluation_num_workers": "evaluation_num_env_runners",
    "evaluation_num_episodes": "evaluation_duration",
    "metrics_smoothing_episodes": "metrics_num_episodes_for_smoothing",
    "timesteps_per_iteration": "min_sample_timesteps_per_iteration",
    "min_iter_time_s": "min_time_s_per_iteration",
    "recreate_failed_workers": "restart_failed_env_runners",
    "ignore_worker_failures": "ignore_env_runner_failures",
}

# Old configuration keys that RLlib no longer uses, and why.
WITHOUT_EFFECT = {
    "disable_env_checking": "environments are checked by abmarl",
    "simple_optimizer": "RLlib has one optimizer per policy",
    "postprocess_inputs": "RLlib has no postprocessing of samples any more",
    "eager_tracing": "that was for TensorFlow",
    "soft_horizon": "a world ends at its horizon",
    "no_done_at_end": "a time limit is reported as truncated",
    "monitor": "films come from abmarl visualize --record",
    "observation_filter": "RLlib wants a connector for that",
    "exploration_config": "policies explore by sampling from their distribution",
    "create_env_on_driver": "RLlib decides that itself",
}

# Keys that are no attributes of an AlgorithmConfig but are translated one by one.
SPECIAL = ("env", "env_config", "horizon", "multiagent", "model", "framework", "callbacks")


def settable(config: Any, key: str) -> bool:
    """Return whether an ``AlgorithmConfig`` has a setting of that name."""
    return (
        isinstance(key, str)
        and not key.startswith("_")
        and hasattr(config, key)
        and not callable(getattr(type(config), key, None))
    )


def setting_names(config: Any) -> list[str]:
    """Return the names of all settings of an ``AlgorithmConfig``."""
    return [one for one in vars(config) if one[0] != "_"]


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
        path, value = key.split("."), _parse(text.strip())
        if path[0] == "experiment":
            _set_experiment(experiment, path[1:], value, setting)
        elif path[0] in USED_TUNE_KEYS and path[0] != "config":
            _put(experiment.tune, path, value)
        elif experiment.old_style:
            _put(experiment.config, path, value)
        else:
            _set_attribute(experiment, path, value, setting)


def _set_experiment(experiment: Experiment, path: list[str], value: Any, setting: str) -> None:
    if path == ["batched"]:
        experiment.batched = batched_mode(value, f"--set {setting}")
        experiment.batched_by = f"--set {setting}"
    elif path == ["title"]:  # as it was written, also where it reads like a number
        experiment.title = setting.partition("=")[2].strip()
        if not experiment.title:
            raise ExperimentError(f"--set {setting}: the title must not be empty")
    else:
        known = [one for one in EXPERIMENT_KEYS if one != "sim_creator"]
        raise ExperimentError(f"--set {setting}: of the experiment, {known} can be set")


def _set_attribute(experiment: Experiment, path: list[str], value: Any, setting: str) -> None:
    config = experiment.config = experiment.config.copy(copy_frozen=False)
    key = RENAMED.get(path[0], path[0])
    if not settable(config, key):
        known = [*RENAMED, *setting_names(config)]
        raise ExperimentError(f"--set {setting}: there is no such key{nearest(path[0], known)}")
    if len(path) > 1:
        inner = dict(getattr(config, key) or {})
        _put(inner, path[1:], value)
        value = inner
    setattr(config, key, value)


def _put(into: dict[str, Any], path: list[str], value: Any) -> None:
    first, *rest = path
    if rest:
        inner = into.get(first)
        inner = dict(inner) if isinstance(inner, dict) else {}
        _put(inner, rest, value)
        value = inner
    into[first] = value


# As a text, "false" would count as true.
_WORDS = {"true": True, "false": False, "none": None, "null": None}


def _parse(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        return text
