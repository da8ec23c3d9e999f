"""From the keys of an experiment file to what RLlib understands."""

import os
from collections.abc import Mapping
from typing import Any

from abmarl.experiments.algorithms import make_config
from abmarl.experiments.environment import EnvCreator, codecs_of, learners_of
from abmarl.experiments.execute import ExperimentError
from abmarl.experiments.experiment import Experiment
from abmarl.experiments.install import for_scripts, install, settable
from abmarl.experiments.keys import (
    RENAMED,
    SPECIAL,
    UNUSED_TUNE_KEYS,
    WITHOUT_EFFECT,
    check_known,
    nearest,
)
from abmarl.experiments.plan import Plan, limit_runners
from abmarl.experiments.policies import Policies, policies_of
from abmarl.experiments.results import base_folder
from abmarl.experiments.stop import stop_criteria
from abmarl.experiments.values import check_values


def translate(experiment: Experiment) -> Plan:
    """Make a plan of an experiment.

    Raises:
        ExperimentError: a key or value of the file is not as it should be.
    """
    from ray import cloudpickle

    # Workers cannot import the file as a module: what it defines reaches them as it is.
    cloudpickle.register_pickle_by_value(experiment.module)
    name = os.path.basename(experiment.path)
    tune, lines = experiment.tune, []
    stop = stop_criteria(tune.get("stop", {}), f"{name}: params['ray_tune']['stop']", lines)
    for key in tune:
        if key in UNUSED_TUNE_KEYS:
            lines.append(f"{key}: has no effect, {UNUSED_TUNE_KEYS[key]}")
    plan = Plan(
        title=experiment.title,
        config=None,
        stop=stop,
        checkpoint_freq=_count(tune.get("checkpoint_freq", 0), "checkpoint_freq", name),
        checkpoint_at_end=bool(tune.get("checkpoint_at_end", True)),
        base=base_folder(tune.get("local_dir") or tune.get("storage_path")),
        lines=lines,
    )
    if experiment.old_style:
        _from_keys(experiment, plan)
    else:
        _from_config(experiment, plan)
    check_values(plan.config, experiment)
    limit_runners(plan)
    for policy_id in plan.config.algorithm_config_overrides_per_module:
        # RLlib keeps what it makes of them, and cannot make it once the configuration is frozen.
        plan.config.get_config_for_module(policy_id)
    if plan.config.log_level == "WARN":  # RLlib's default; None leaves the logs as they are
        plan.config.log_level = None
    return plan


def _from_keys(experiment: Experiment, plan: Plan) -> None:
    name = f"{os.path.basename(experiment.path)}: {experiment.where}"
    given = experiment.config
    algorithm = experiment.tune.get("run_or_experiment")
    if algorithm is None:
        raise ExperimentError(
            f"{os.path.basename(experiment.path)}: params['ray_tune'] has no 'run_or_experiment', "
            f"the name of an algorithm such as 'PPO' or 'PG'"
        )
    plan.config = config = make_config(algorithm)
    plan.horizon = _horizon(given.get("horizon"), name)
    for key, value in given.items():
        if key in SPECIAL:
            continue
        if key in WITHOUT_EFFECT:
            plan.lines.append(f"{key}: has no effect, {WITHOUT_EFFECT[key]}")
            continue
        new = RENAMED.get(key, key)
        if not settable(config, new):
            known = [*RENAMED, *SPECIAL, *(one for one in vars(config) if one[0] != "_")]
            raise ExperimentError(
                f"{name} has a key {key!r} that {algorithm} does not know{nearest(key, known)}"
            )
        if new != key:
            plan.lines.append(f"{key}={value!r} -> {new}={value!r}")
        setattr(config, new, value)
    _framework(given.get("framework"), plan)
    _model(given.get("model"), name, plan)
    if given.get("callbacks"):
        config.callbacks(given["callbacks"])
    creator = _creator(experiment, given.get("env"), plan)
    if plan.horizon is not None:
        plan.lines.append(f"horizon={plan.horizon} -> episodes are truncated after as many steps")
    multiagent = given.get("multiagent") or {}
    policies = _policies(experiment, multiagent, f"{name}['multiagent']")
    if multiagent:
        plan.lines.append(
            f"multiagent -> multi_agent(policies={sorted(policies.spaces)}), the mapping function "
            f"of an agent's id"
        )
    if "count_steps_by" in multiagent:
        config.count_steps_by = multiagent["count_steps_by"]
    install(experiment, plan, creator, policies, multiagent.get("policies_to_train"))


def _from_config(experiment: Experiment, plan: Plan) -> None:
    name = f"{os.path.basename(experiment.path)}: {experiment.where}"
    plan.config = config = experiment.config.copy(copy_frozen=False)
    if "run_or_experiment" in experiment.tune:
        plan.lines.append("run_or_experiment: has no effect, the AlgorithmConfig says what to run")
    if not (config.enable_rl_module_and_learner and config.enable_env_runner_and_connector_v2):
        raise ExperimentError(
            f"{name} asks for RLlib's old API stack; leave out config.api_stack(...)"
        )
    multiagent = {}
    if config.is_multi_agent:
        multiagent = {
            "policies": config.policies,
            "policy_mapping_fn": config.policy_mapping_fn,
        }
    policies = _policies(experiment, multiagent, f"{name}.multi_agent")
    if config.env is not None:
        # Whoever sets the environment also decides what its spaces look like.
        if experiment.batched:
            raise ExperimentError(
                f"{name} has an environment of its own, which cannot be run in batches: leave out "
                f"config.environment(...)\nor {experiment.batched_by}"
            )
        plan.multiagent = for_scripts(policies)
        return
    creator = EnvCreator(experiment.sim_creator, None)
    install(experiment, plan, creator, policies, config.policies_to_train)


def _policies(experiment: Experiment, multiagent: Mapping[str, Any], where: str) -> Policies:
    agents = learners_of(experiment.manager())
    return policies_of(multiagent, agents, codecs_of(agents), where)


def _creator(experiment: Experiment, env: Any, plan: Plan) -> EnvCreator:
    """The creator of the environment that the file registered, else its ``sim_creator``."""
    from ray.tune.registry import ENV_CREATOR, _global_registry

    if isinstance(env, str) and _global_registry.contains(ENV_CREATOR, env):
        return EnvCreator(_global_registry.get(ENV_CREATOR, env), plan.horizon)
    if env is not None:
        plan.lines.append(f"env={env!r:.60}: is not registered, sim_creator makes the simulation")
    return EnvCreator(experiment.sim_creator, plan.horizon)


def _framework(framework: Any, plan: Plan) -> None:
    if framework not in (None, "torch"):
        plan.lines.append(f"framework={framework!r} -> 'torch', the only one that RLlib still has")


def _model(model: Any, name: str, plan: Plan) -> None:
    if not model:
        return
    from dataclasses import fields

    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

    check_known(model, [one.name for one in fields(DefaultModelConfig)], f"{name}['model']")
    plan.lines.append(f"model -> rl_module(model_config={dict(model)!r:.80})")
    plan.config.rl_module(model_config=dict(model))


def _horizon(value: Any, name: str) -> int | None:
    if value is None or value == float("inf"):
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ExperimentError(f"{name}['horizon'] must be a number of steps, not {value!r:.60}")
    return value


def _count(value: Any, key: str, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ExperimentError(
            f"{name}: params['ray_tune'][{key!r}] must be a number of iterations, not {value!r:.60}"
        )
    return value
