"""From an experiment to RLlib's configuration: a `Plan` of what is to be run."""

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from abmarl.experiments.environment import EnvCreator, check_env, codecs_of, learners_of
from abmarl.experiments.experiment import (
    UNUSED_TUNE_KEYS,
    Experiment,
    ExperimentError,
    check_known,
    layers_of,
    located_errors,
    nearest,
)
from abmarl.experiments.policies import AgentMapping, Policies, policies_of
from abmarl.experiments.results import base_folder
from abmarl.experiments.settings import RENAMED, SPECIAL, WITHOUT_EFFECT, settable, setting_names
from abmarl.experiments.stop import stop_criteria
from abmarl.managers import AllStepManager
from abmarl.resources import available_cpus

ENV_NAME = "abmarl experiment"
"""The name under which the simulation of the experiment is registered with Ray."""
OWN_ALGORITHMS = ("PG", "A2C")
_SHARES = ("gamma", "lambda_")
_GPUS = ("num_gpus_per_learner", "num_gpus_per_env_runner")


@dataclass
class Plan:
    """A run of an experiment.

    Attributes:
        title: title of the experiment.
        config: RLlib's ``AlgorithmConfig``, complete.
        stop: path in a result -> value at which training stops.
        checkpoint_freq: iterations between two checkpoints; 0 for none in between.
        checkpoint_at_end: whether there is one at the end.
        base: the folder in which the results folder is made.
        horizon: time limit of an episode, None for none.
        lines: what was translated, a line for each key.
    """

    title: str
    config: Any
    stop: dict[str, float]
    checkpoint_freq: int
    checkpoint_at_end: bool
    base: Path
    horizon: int | None = None
    lines: list[str] = field(default_factory=list)

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return type(self.config).__name__.removesuffix("Config")

    @property
    def num_processes(self) -> int:
        """How many processors Ray must have: for the workers, and one for the rest."""
        config = self.config
        runners = config.num_env_runners + (config.evaluation_num_env_runners or 0)
        return math.ceil(runners * config.num_cpus_per_env_runner) + config.num_learners + 1


def translate(experiment: Experiment) -> Plan:
    """Return the plan of an experiment.

    Raises:
        ExperimentError: a key or value of the file is wrong.
    """
    from ray import cloudpickle

    # Workers cannot import the file as a module: what it defines is sent to them by value.
    cloudpickle.register_pickle_by_value(experiment.module)
    where = f"{experiment.file_name}: params['ray_tune']"
    tune = experiment.tune
    lines: list[str] = []
    stop = stop_criteria(tune.get("stop", {}), f"{where}['stop']", lines)
    for key in tune:
        if key in UNUSED_TUNE_KEYS:
            lines.append(f"{key}: has no effect, {UNUSED_TUNE_KEYS[key]}")
    freq = tune.get("checkpoint_freq", 0)
    if isinstance(freq, bool) or not isinstance(freq, int) or freq < 0:
        raise ExperimentError(
            f"{where}['checkpoint_freq'] must be a number of iterations, not {freq!r:.60}"
        )
    plan = Plan(
        title=experiment.title,
        config=None,
        stop=stop,
        checkpoint_freq=freq,
        checkpoint_at_end=bool(tune.get("checkpoint_at_end", True)),
        base=base_folder(experiment.local_dir),
        lines=lines,
    )
    if experiment.old_style:
        _from_keys(experiment, plan)
    else:
        _from_config(experiment, plan)
    _check_values(plan.config, experiment)
    _limit_runners(plan)
    for policy_id in plan.config.algorithm_config_overrides_per_module:
        # RLlib caches these configurations, and cannot make them once its own is frozen.
        plan.config.get_config_for_module(policy_id)
    if plan.config.log_level == "WARN":  # RLlib's default; None leaves the logs as they are
        plan.config.log_level = None
    return plan


def make_config(name: Any) -> Any:
    """Return the default settings of an algorithm, an ``AlgorithmConfig``.

    Args:
        name: name of an algorithm of RLlib, ``"PG"`` or ``"A2C"``; or the class of an algorithm.

    Raises:
        ExperimentError: there is none of that name.
    """
    from ray.rllib.algorithms.registry import ALGORITHMS

    if hasattr(name, "get_default_config"):
        return name.get_default_config()
    if name in OWN_ALGORITHMS:
        from abmarl.external.rllib import algorithms

        return getattr(algorithms, f"{name}Config")()
    if name not in ALGORITHMS:
        known = sorted([*OWN_ALGORITHMS, *ALGORITHMS])
        raise ExperimentError(
            f"there is no algorithm {name!r:.60}{nearest(name, known)}; "
            f"there are {', '.join(known)}"
        )
    try:
        return ALGORITHMS[name]()[1]
    except ImportError as error:
        raise ExperimentError(f"algorithm {name}: {error}") from error


def mapping_of(experiment: Experiment) -> Callable[..., str]:
    """Return the function of an agent's id that returns the id of its policy."""
    if not experiment.old_style and experiment.config.is_multi_agent:
        return AgentMapping(experiment.config.policy_mapping_fn)
    multiagent = experiment.config.get("multiagent") or {} if experiment.old_style else {}
    return _policies(experiment, multiagent, f"{experiment.where}['multiagent']").mapping


# ---- the two ways to write a configuration ----


def _from_keys(experiment: Experiment, plan: Plan) -> None:
    where = f"{experiment.file_name}: {experiment.where}"
    given = experiment.config
    algorithm = experiment.tune.get("run_or_experiment")
    if algorithm is None:
        raise ExperimentError(
            f"{experiment.file_name}: params['ray_tune'] has no 'run_or_experiment', "
            f"the name of an algorithm such as 'PPO' or 'PG'"
        )
    plan.config = config = make_config(algorithm)
    plan.horizon = _horizon(given.get("horizon"), where)
    for key, value in given.items():
        if key in SPECIAL:
            continue
        if key in WITHOUT_EFFECT:
            plan.lines.append(f"{key}: has no effect, {WITHOUT_EFFECT[key]}")
            continue
        new = RENAMED.get(key, key)
        if not settable(config, new):
            known = [*RENAMED, *SPECIAL, *setting_names(config)]
            raise ExperimentError(
                f"{where} has a key {key!r} that {algorithm} does not know{nearest(key, known)}"
            )
        if new != key:
            plan.lines.append(f"{key}={value!r} -> {new}={value!r}")
        setattr(config, new, value)
    framework = given.get("framework")
    if framework not in (None, "torch"):
        plan.lines.append(f"framework={framework!r} -> 'torch', the only one that RLlib still has")
    _set_model(given.get("model"), where, plan)
    if given.get("callbacks"):
        config.callbacks(given["callbacks"])
    creator = _creator(experiment, given.get("env"), plan)
    if plan.horizon is not None:
        plan.lines.append(f"horizon={plan.horizon} -> episodes are truncated after as many steps")
    multiagent = given.get("multiagent") or {}
    policies = _policies(experiment, multiagent, f"{where}['multiagent']")
    if multiagent:
        plan.lines.append(
            f"multiagent -> multi_agent(policies={sorted(policies.spaces)}), the mapping function "
            f"of an agent's id"
        )
    if "count_steps_by" in multiagent:
        config.count_steps_by = multiagent["count_steps_by"]
    _install(experiment, plan, creator, policies, multiagent.get("policies_to_train"))


def _from_config(experiment: Experiment, plan: Plan) -> None:
    where = f"{experiment.file_name}: {experiment.where}"
    plan.config = config = experiment.config.copy(copy_frozen=False)
    if "run_or_experiment" in experiment.tune:
        plan.lines.append("run_or_experiment: has no effect, the AlgorithmConfig says what to run")
    if not (config.enable_rl_module_and_learner and config.enable_env_runner_and_connector_v2):
        raise ExperimentError(
            f"{where} asks for RLlib's old API stack; leave out config.api_stack(...)"
        )
    multiagent = {}
    if config.is_multi_agent:
        multiagent = {"policies": config.policies, "policy_mapping_fn": config.policy_mapping_fn}
    policies = _policies(experiment, multiagent, f"{where}.multi_agent")
    if config.env is None:
        creator = EnvCreator(experiment.sim_creator, None)
        _install(experiment, plan, creator, policies, config.policies_to_train)
    elif experiment.batched:  # whoever sets the environment also decides on its spaces
        raise ExperimentError(
            f"{where} has an environment of its own, which cannot be run in batches: leave out "
            f"config.environment(...)\nor {experiment.batched_by}"
        )


def _policies(experiment: Experiment, multiagent: Mapping[str, Any], where: str) -> Policies:
    agents = learners_of(experiment.manager())
    return policies_of(multiagent, agents, codecs_of(agents), where)


def _creator(experiment: Experiment, env: Any, plan: Plan) -> EnvCreator:
    """Return the environment's creator that the file registered, else its ``sim_creator``."""
    from ray.tune.registry import ENV_CREATOR, _global_registry

    if isinstance(env, str) and _global_registry.contains(ENV_CREATOR, env):
        return EnvCreator(_global_registry.get(ENV_CREATOR, env), plan.horizon)
    if env is not None:
        plan.lines.append(f"env={env!r:.60}: is not registered, sim_creator makes the simulation")
    return EnvCreator(experiment.sim_creator, plan.horizon)


def _set_model(model: Any, where: str, plan: Plan) -> None:
    if not model:
        return
    from dataclasses import fields

    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

    check_known(model, [one.name for one in fields(DefaultModelConfig)], f"{where}['model']")
    plan.lines.append(f"model -> rl_module(model_config={dict(model)!r:.80})")
    plan.config.rl_module(model_config=dict(model))


def _horizon(value: Any, where: str) -> int | None:
    if value is None or value == float("inf"):
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ExperimentError(f"{where}['horizon'] must be a number of steps, not {value!r:.60}")
    return value


# ---- the simulation and the policies in RLlib's configuration ----


def _install(
    experiment: Experiment, plan: Plan, creator: EnvCreator, policies: Policies, to_train: Any
) -> None:
    """Put simulation and policies into the configuration of a plan.

    Args:
        experiment: the experiment.
        plan: is changed.
        creator: makes the environment.
        policies: policies of the agents.
        to_train: the policies that learn, or a function of their ids; None for all.

    Raises:
        ExperimentError: they do not go together, or the simulation fails when it is tried.
    """
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.policy.policy import PolicySpec
    from ray.tune.registry import register_env

    config = plan.config
    for policy_id in policies.unused:
        plan.lines.append(f"policy {policy_id!r}: is left out, no agent is mapped to it")
    if isinstance(to_train, list | tuple | set):
        for policy_id in to_train:
            if policy_id not in policies.spaces:
                raise ExperimentError(
                    f"policies_to_train names {policy_id!r}{nearest(policy_id, policies.spaces)}; "
                    f"the policies are {', '.join(map(repr, policies.spaces))}"
                )
    if not experiment.batched:
        _refuse_shared_simulation(creator, experiment, config)
        with located_errors(experiment.path):
            check_env(creator(experiment.env_config))
    register_env(ENV_NAME, creator)
    config.environment(ENV_NAME, env_config={} if experiment.batched else experiment.env_config)
    config.multi_agent(
        policies={
            policy_id: PolicySpec(None, *spaces, {})
            for policy_id, spaces in policies.spaces.items()
        },
        policy_mapping_fn=policies.mapping,
        policies_to_train=to_train,
    )
    if policies.settings:
        config.rl_module(
            algorithm_config_overrides_per_module={
                policy_id: type(config).overrides(**_renamed(settings, policy_id, config))
                for policy_id, settings in policies.settings.items()
            }
        )
    if policies.modules:
        config.rl_module(
            rl_module_spec=MultiRLModuleSpec(
                rl_module_specs={
                    policy_id: RLModuleSpec(module_class=module)
                    for policy_id, module in policies.modules.items()
                }
            )
        )
    if experiment.batched:
        _sample_in_batches(experiment, plan)


def _renamed(settings: Mapping[str, Any], policy_id: str, config: Any) -> dict[str, Any]:
    found = {RENAMED.get(key, key): value for key, value in settings.items()}
    for key in found:
        if not settable(config, key):
            raise ExperimentError(
                f"policy {policy_id!r} has a setting {key!r} that is unknown"
                f"{nearest(key, setting_names(config))}"
            )
    return found


def _refuse_shared_simulation(creator: EnvCreator, experiment: Experiment, config: Any) -> None:
    """Refuse a creator that returns one simulation to several environments of a process."""
    num_envs = config.num_envs_per_env_runner
    evaluated = config.evaluation_interval and not config.evaluation_num_env_runners
    if num_envs == 1 and not evaluated:
        return
    one, other = (layers_of(creator.make_sim(dict(experiment.env_config))) for _ in range(2))
    if not any(found is layer for found in other for layer in one):
        return
    name = experiment.file_name
    if num_envs > 1:
        raise ExperimentError(
            f"{name}: {num_envs} simulations per worker, but the creator "
            f"returns the same one each time: set num_envs_per_worker to 1,\nmake the simulation "
            f"inside of the creator, or set params['experiment']['batched'] for many at once"
        )
    raise ExperimentError(
        f"{name}: evaluation needs a simulation of its own, but the creator returns the same one "
        f"each time;\nmake the simulation inside of the creator, or set "
        f"evaluation_num_env_runners to 1"
    )


def _sample_in_batches(experiment: Experiment, plan: Plan) -> None:
    """Let the engine step many worlds at once."""
    from abmarl.external.rllib import batched

    manager, config = experiment.manager(), plan.config
    if type(manager) is not AllStepManager:
        raise ExperimentError(
            f"{experiment.file_name}: {type(manager).__name__} cannot be run in batches, where "
            f"everybody acts in every step; use AllStepManager, or leave out "
            f"{experiment.batched_by}"
        )
    worlds = config.num_envs_per_env_runner
    try:
        batched(
            config,
            manager.sim,
            mode=experiment.batched,
            horizon=plan.horizon or getattr(experiment.make_sim(), "horizon", None),
            order="random" if manager.randomize_action_input else "fixed",
            **({"num_envs": worlds} if worlds > 1 else {}),
        )
    except (TypeError, ValueError, NotImplementedError) as error:
        raise ExperimentError(
            f"{experiment.file_name}: cannot be run in batches: {error}\n"
            f"leave out {experiment.batched_by} to step one world at a time"
        ) from error
    plan.lines.append(
        f"batched={experiment.batched!r} -> {config.num_envs_per_env_runner} worlds at once "
        f"per env runner"
    )


# ---- checks of the finished configuration ----


def _check_values(config: Any, experiment: Experiment) -> None:
    """Refuse values that RLlib would fail on later, or never notice.

    Raises:
        ExperimentError: a value cannot be trained with.
    """
    where = f"{experiment.file_name}: {experiment.where}"
    given = experiment.config if experiment.old_style else {}
    names = {RENAMED.get(key, key): key for key in given}

    def refuse(key: str, what: str) -> None:
        name = names.get(key, key)
        raise ExperimentError(f"{where}: {name}={getattr(config, key)!r:.60} {what}")

    for key, value in vars(config).items():
        if _is_search(value):
            name = names.get(key, key)
            refuse(key, f"asks for several runs: a file is one run; use --set {name}=...")
    for key, default in vars(type(config)()).items():
        value = getattr(config, key)
        if _is_number(default) and isinstance(value, str) and value != "auto":
            refuse(key, f"is no number; RLlib's default is {default!r}")
    for key in _SHARES:
        value = getattr(config, key, None)
        if value is not None and not (_is_number(value) and 0 <= value <= 1):
            refuse(key, "must be a number from 0 to 1")
    whole, part = config.train_batch_size_per_learner, config.minibatch_size
    if _is_number(whole) and _is_number(part) and part > whole:
        name = names.get("train_batch_size_per_learner", "train_batch_size_per_learner")
        refuse("minibatch_size", f"is more than {name}={whole}: set it to {whole} or less")
    import torch

    for key in _GPUS:
        elsewhere = os.environ.get("RAY_ADDRESS")
        if getattr(config, key) and not elsewhere and not torch.cuda.is_available():
            refuse(key, "needs a GPU that torch can use, and there is none here: set it to 0")


def _is_search(value: Any) -> bool:
    """Return whether a value is one of Ray Tune's ways to ask for many values, or contains one."""
    if isinstance(value, Mapping):
        return set(value) == {"grid_search"} or any(map(_is_search, value.values()))
    return type(value).__module__.startswith("ray.tune.search")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _limit_runners(plan: Plan) -> None:
    """Allow no more workers on this machine than it has processors for."""
    if os.environ.get("RAY_ADDRESS"):
        return
    cpus = available_cpus()
    wanted, most = plan.config.num_env_runners, max(1, cpus - 1)
    if isinstance(wanted, int) and wanted > most:
        plan.config.num_env_runners = most
        plan.lines.append(
            f"num_env_runners={wanted} -> {most}: this machine has {cpus} processors; more would "
            f"be slower"
        )
