"""The simulation and the policies of an experiment, put into RLlib's configuration."""

import os
from collections.abc import Mapping
from typing import Any

from abmarl.experiments.environment import EnvCreator, check_env
from abmarl.experiments.execute import ExperimentError, told_where
from abmarl.experiments.experiment import Experiment
from abmarl.experiments.keys import RENAMED, nearest
from abmarl.experiments.plan import Plan
from abmarl.experiments.policies import Policies
from abmarl.managers import AllStepManager

ENV_NAME = "abmarl experiment"
"""Under this name the simulation of the experiment is registered with Ray."""


def install(
    experiment: Experiment, plan: Plan, creator: EnvCreator, policies: Policies, to_train: Any
) -> None:
    """Put simulation and policies into the configuration of a plan.

    Args:
        experiment: whose they are.
        plan: is changed.
        creator: makes the environment.
        policies: of the agents.
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
    plan.multiagent = for_scripts(policies)
    if experiment.batched:
        _sample_in_batches(experiment, plan)


def for_scripts(policies: Policies) -> dict[str, Any]:
    """What analysis scripts look up in ``config["multiagent"]``."""
    return {"policies": sorted(policies.spaces), "policy_mapping_fn": policies.mapping}


def settable(config: Any, key: str) -> bool:
    """Whether an ``AlgorithmConfig`` has a setting of that name."""
    return (
        isinstance(key, str)
        and not key.startswith("_")
        and hasattr(config, key)
        and not callable(getattr(type(config), key, None))
    )


def _refuse_shared_simulation(creator: EnvCreator, experiment: Experiment, plan: Plan) -> None:
    """Several simulations in a process must not be one and the same."""
    config = plan.config
    evaluated = config.evaluation_interval and not config.evaluation_num_env_runners
    if (config.num_envs_per_env_runner == 1 and not evaluated) or experiment.batched:
        return
    one, other = (creator.make_sim(dict(experiment.env_config)) for _ in range(2))
    if not _share(one, other):
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


def _share(one: Any, other: Any) -> bool:
    """Whether two simulations are the same one, maybe in wrappers and managers of their own."""
    layers = _layers(one)
    return any(found is layer for found in _layers(other) for layer in layers)


def _layers(made: Any) -> list:
    """A simulation with all that is wrapped around it, the outermost first."""
    found: list = []
    while made is not None and not any(made is layer for layer in found):
        found.append(made)
        made = getattr(made, "sim", None)
    return found


def _sample_in_batches(experiment: Experiment, plan: Plan) -> None:
    """Let the engine step many worlds at once."""
    from abmarl.external.rllib import batched

    name = os.path.basename(experiment.path)
    manager = experiment.manager()
    if type(manager) is not AllStepManager:
        raise ExperimentError(
            f"{name}: {type(manager).__name__} cannot be run in batches, where everybody acts in "
            f"every step; use AllStepManager, or leave out {experiment.batched_by}"
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
            f"leave out {experiment.batched_by} to step one world at a time"
        ) from error
    plan.lines.append(
        f"batched={experiment.batched!r} -> {plan.config.num_envs_per_env_runner} worlds at once "
        f"per env runner"
    )


def _renamed(settings: Mapping[str, Any], policy_id: str, config: Any) -> dict[str, Any]:
    found = {RENAMED.get(key, key): value for key, value in settings.items()}
    for key in found:
        if not settable(config, key):
            raise ExperimentError(
                f"policy {policy_id!r} has a setting {key!r} that is unknown"
                f"{nearest(key, [one for one in vars(config) if one[0] != '_'])}"
            )
    return found
