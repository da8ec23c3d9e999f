"""From the keys of an experiment file to what RLlib understands."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from abmarl.experiments.algorithms import make_config
from abmarl.experiments.environment import EnvCreator, check_env, codecs_of, learners_of
from abmarl.experiments.execute import ExperimentError, told_where
from abmarl.experiments.experiment import Experiment
from abmarl.experiments.keys import (
    RENAMED,
    SPECIAL,
    UNUSED_TUNE_KEYS,
    WITHOUT_EFFECT,
    check_known,
    nearest,
)
from abmarl.experiments.policies import Policies, policies_of
from abmarl.experiments.results import base_folder
from abmarl.experiments.stop import stop_criteria
from abmarl.managers import AllStepManager

ENV_NAME = "abmarl experiment"
"""Under this name the simulation of the experiment is registered with Ray."""


@dataclass
class Plan:
    """A run of an experiment.

    Attributes:
        title: of the experiment.
        config: RLlib's ``AlgorithmConfig``, complete.
        stop: path in a result -> value at which training stops.
        checkpoint_freq: iterations between two checkpoints; 0 for none in between.
        checkpoint_at_end: whether there is one at the end.
        base: the folder in which the results folder is made.
        horizon: time limit of an episode, None for none.
        multiagent: the policies and the mapping function, as analysis scripts ask for them.
        lines: what was translated, a line for each key.
    """

    title: str
    config: Any
    stop: dict[str, float]
    checkpoint_freq: int
    checkpoint_at_end: bool
    base: Path
    horizon: int | None = None
    multiagent: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


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
    _limit_runners(plan)
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
    _install(experiment, plan, creator, policies, multiagent.get("policies_to_train"))


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
        plan.multiagent = _for_scripts(policies)
        return
    creator = EnvCreator(experiment.sim_creator, None)
    _install(experiment, plan, creator, policies, config.policies_to_train)


def settable(config: Any, key: str) -> bool:
    """Whether an ``AlgorithmConfig`` has a setting of that name."""
    return (
        isinstance(key, str)
        and not key.startswith("_")
        and hasattr(config, key)
        and not callable(getattr(type(config), key, None))
    )


def _policies(experiment: Experiment, multiagent: Mapping[str, Any], where: str) -> Policies:
    agents = learners_of(experiment.manager())
    return policies_of(multiagent, agents, codecs_of(agents), where)


def _install(
    experiment: Experiment, plan: Plan, creator: EnvCreator, policies: Policies, to_train: Any
) -> None:
    """Put simulation and policies into the configuration."""
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.policy.policy import PolicySpec
    from ray.tune.registry import register_env

    config = plan.config
    if isinstance(to_train, list | tuple | set):
        for policy_id in to_train:
            if policy_id not in policies.spaces:
                raise ExperimentError(
                    f"policies_to_train names {policy_id!r}{nearest(policy_id, policies.spaces)}; "
                    f"the policies are {', '.join(map(repr, policies.spaces))}"
                )
    _refuse_shared_simulation(creator, experiment, plan)
    if not experiment.batched:
        with told_where(experiment.path):
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
                if policy_id in policies.spaces
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
    plan.multiagent = _for_scripts(policies)
    if experiment.batched:
        _sample_in_batches(experiment, plan)


def _sample_in_batches(experiment: Experiment, plan: Plan) -> None:
    """Let the engine step many worlds at once."""
    from abmarl.external.rllib import batched

    name = os.path.basename(experiment.path)
    manager = experiment.manager()
    if type(manager) is not AllStepManager:
        raise ExperimentError(
            f"{name}: {type(manager).__name__} cannot be run in batches, where everybody acts in "
            f"every step; use AllStepManager, or leave out params['experiment']['batched']"
        )
    worlds = plan.config.num_envs_per_env_runner
    horizon = plan.horizon or getattr(experiment.make_sim(), "horizon", None)
    try:
        batched(
            plan.config,
            manager.sim,
            mode=experiment.batched,
            horizon=horizon,
            order="random" if manager.randomize_action_input else "fixed",
            **({"num_envs": worlds} if worlds > 1 else {}),
        )
    except (TypeError, ValueError, NotImplementedError) as error:
        raise ExperimentError(
            f"{name}: cannot be run in batches: {error}\n"
            f"leave out params['experiment']['batched'] to step one world at a time"
        ) from error
    plan.lines.append(
        f"batched={experiment.batched!r} -> {plan.config.num_envs_per_env_runner} worlds at once "
        f"per env runner"
    )


def _for_scripts(policies: Policies) -> dict[str, Any]:
    return {"policies": sorted(policies.spaces), "policy_mapping_fn": policies.mapping}


def _renamed(settings: Mapping[str, Any], policy_id: str, config: Any) -> dict[str, Any]:
    found = {RENAMED.get(key, key): value for key, value in settings.items()}
    for key in found:
        if not settable(config, key):
            raise ExperimentError(
                f"policy {policy_id!r} has a setting {key!r} that is unknown"
                f"{nearest(key, [one for one in vars(config) if one[0] != '_'])}"
            )
    return found


def _creator(experiment: Experiment, env: Any, plan: Plan) -> EnvCreator:
    """The creator of the environment that the file registered, else its ``sim_creator``."""
    from ray.tune.registry import ENV_CREATOR, _global_registry

    if isinstance(env, str) and _global_registry.contains(ENV_CREATOR, env):
        return EnvCreator(_global_registry.get(ENV_CREATOR, env), plan.horizon)
    if env is not None:
        plan.lines.append(f"env={env!r:.60}: is not registered, sim_creator makes the simulation")
    return EnvCreator(experiment.sim_creator, plan.horizon)


def _refuse_shared_simulation(creator: EnvCreator, experiment: Experiment, plan: Plan) -> None:
    """Several simulations in a process must not be one and the same."""
    config = plan.config
    evaluated = config.evaluation_interval and not config.evaluation_num_env_runners
    if (config.num_envs_per_env_runner == 1 and not evaluated) or experiment.batched:
        return
    if creator.make_sim(dict(experiment.env_config)) is not creator.make_sim(
        dict(experiment.env_config)
    ):
        return
    name = os.path.basename(experiment.path)
    if config.num_envs_per_env_runner > 1:
        raise ExperimentError(
            f"{name}: {config.num_envs_per_env_runner} simulations per worker, but the creator "
            f"returns the same one each time: set num_envs_per_worker to 1,\nmake the simulation "
            f"inside of the creator, or set params['experiment']['batched'] for many at once"
        )
    raise ExperimentError(
        f"{name}: evaluation needs a simulation of its own, but the creator returns the same one "
        f"each time;\nmake the simulation inside of the creator, or set "
        f"evaluation_num_env_runners to 1"
    )


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


def _limit_runners(plan: Plan) -> None:
    """No more processes on this machine than it has processors for."""
    if os.environ.get("RAY_ADDRESS"):
        return
    cpus = len(os.sched_getaffinity(0))
    wanted, most = plan.config.num_env_runners, max(1, cpus - 1)
    if isinstance(wanted, int) and wanted > most:
        plan.config.num_env_runners = most
        plan.lines.append(
            f"num_env_runners={wanted} -> {most}: this machine has {cpus} processors; more would "
            f"be slower"
        )


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


def processes(plan: Plan) -> int:
    """How many processors Ray has to have for a plan: its workers, and one for the rest."""
    config = plan.config
    runners = config.num_env_runners + (config.evaluation_num_env_runners or 0)
    return math.ceil(runners * config.num_cpus_per_env_runner) + config.num_learners + 1
