"""The keys of experiment files: those of old RLlib versions, and what they are called now."""

import difflib
from collections.abc import Collection, Mapping
from typing import Any

from abmarl.experiments.execute import ExperimentError

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

# Old configuration key -> what it is called in RLlib's AlgorithmConfig.
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

# Old configuration keys that RLlib has no use for any more, and why.
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

# Keys that are no attributes of an AlgorithmConfig but are dealt with one by one.
SPECIAL = ("env", "env_config", "horizon", "multiagent", "model", "framework", "callbacks")

# Stop criterion -> where a result has it.
STOP = {
    "episodes_total": "env_runners/num_episodes_lifetime",
    "timesteps_total": "env_runners/num_env_steps_sampled_lifetime",
    "episode_reward_mean": "env_runners/episode_return_mean",
    "episode_len_mean": "env_runners/episode_len_mean",
    "training_iteration": "training_iteration",
    "time_total_s": "time_total_s",
}
POLICY_STOP = {"policy_reward_mean": "env_runners/module_episode_returns_mean"}


# What others call a key -> the key.
_MEANT = {
    "learning_rate": "lr",
    "discount": "gamma",
    "gae_lambda": "lambda",
    "batch_size": "train_batch_size",
    "epochs": "num_epochs",
    "workers": "num_workers",
    "entropy": "entropy_coeff",
}


def nearest(key: Any, known: Collection[str]) -> str:
    """``" (did you mean 'lr'?)"`` for a key like one that is known, else nothing."""
    words = {**{word: one for word, one in _MEANT.items() if one in known}, **{k: k for k in known}}
    close = difflib.get_close_matches(str(key), words, n=1)
    return f" (did you mean {words[close[0]]!r}?)" if close else ""


def check_known(given: Any, known: Collection[str], what: str) -> None:
    """Refuse what is no dict or has unknown keys.

    Raises:
        ExperimentError: so it is.
    """
    if not isinstance(given, Mapping):
        raise ExperimentError(f"{what} must be a dict, not {given!r:.60}")
    for key in given:
        if key not in known:
            raise ExperimentError(
                f"{what} has no key {key!r}{nearest(key, known)}; there are {', '.join(known)}"
            )
