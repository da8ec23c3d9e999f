"""What the batched env runner cannot do: looked at by `batched`, and once more at the start."""

from typing import Any

from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.policy.policy import PolicySpec
from ray.rllib.utils import force_list

from abmarl.external.rllib.columns import columns_connector
from abmarl.external.rllib.env_runner import BatchedEnvRunner
from abmarl.external.rllib.saved_worlds import attach
from abmarl.external.rllib.setting import KEY

_EPISODE_CALLBACKS = ("on_episode_created", "on_episode_start", "on_episode_step", "on_episode_end")


def check_columns(config: AlgorithmConfig) -> None:
    """Refuse what columns cannot do."""
    problem = None
    if not isinstance(config, PPOConfig):
        problem = f"are made for PPO and its like, got {type(config).__name__}"
    elif config.num_learners > 1:
        # RLlib would shard a batch by the steps of worlds, and drop most of the rows.
        problem = f"go to one learner at most, got num_learners={config.num_learners}"
    elif config._learner_connector not in (None, columns_connector):
        problem = "take the place of the learner connectors, and the config has some of its own"
    if problem:
        raise ValueError(f'columns {problem}; use mode="episodes"')


def needs_stock_runner(config: AlgorithmConfig) -> str | None:
    """Why the batched env runner cannot do what is asked for, None if it can."""
    for side in ("env_to_module", "module_to_env"):
        default = getattr(config, f"add_default_connectors_to_{side}_pipeline")
        if getattr(config, f"_{side}_connector") is not None or not default:
            return f"the config has {side.replace('_', '-')} connectors of its own"
    for name in _EPISODE_CALLBACKS:
        classes = force_list(config.callbacks_class)
        overridden = any(getattr(one, name) is not getattr(RLlibCallback, name) for one in classes)
        if overridden or getattr(config, f"callbacks_{name}") is not None:
            return f"the config has a callback {name}"
    return None


def recurrent(config: AlgorithmConfig, policies: dict[str, PolicySpec], masks: bool) -> str | None:
    """Why the modules cannot be played in batches: some of them have states."""
    spaces: dict = {
        key: (spec.observation_space, spec.action_space) for key, spec in policies.items()
    }
    asked = config.copy(copy_frozen=False).multi_agent(policies=policies)
    try:
        modules = asked.get_multi_rl_module_spec(spaces=spaces, inference_only=True).build()
    except ValueError as error:
        if not masks:
            raise
        raise ValueError(
            "masks=True needs modules that take masks: set module_class to RLlib's "
            "ActionMaskingTorchRLModule, or the like, in config.rl_module"
        ) from error
    return _with_states(modules)


def _with_states(modules: Any) -> str | None:
    """Which of some modules, by policy, is recurrent."""
    stateful = [key for key, module in modules.items() if module.is_stateful()]
    return f"the module of policy {stateful[0]!r} is recurrent" if stateful else None


def start(algorithm: Any, **kwargs: Any) -> None:
    """Callback at the start of an algorithm: look at the config again, which may have been changed.

    Raises:
        ValueError: now the env runner cannot do what is asked for.
    """
    config, runner = algorithm.config, algorithm.env_runner
    if isinstance(runner, BatchedEnvRunner):
        reason = _with_states(runner.module or {}) or needs_stock_runner(config)
        if reason:
            raise ValueError(
                f"{reason}, since batched(...) was called, which cannot do that; call it last"
            )
        if config.env_config[KEY].mode == "columns":
            check_columns(config)
    attach(algorithm)
