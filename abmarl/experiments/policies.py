"""Policies of an experiment: who learns what, checked against the agents."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from abmarl.experiments.environment import Codec
from abmarl.experiments.experiment import ExperimentError, check_known, nearest
from abmarl.sim.spaces import to_gymnasium

ONLY_POLICY = "policy"
"""The policy of all agents where the file names none."""
MULTIAGENT_KEYS = ("policies", "policy_mapping_fn", "policies_to_train", "count_steps_by")


class AgentMapping:
    """A mapping function of an agent's id, however many arguments the file's function takes.

    Args:
        function: function of the agent's id, or also of the episode and the worker.
    """

    def __init__(self, function: Callable[..., str]) -> None:
        self.function = function
        needed = [
            one
            for one in inspect.signature(function).parameters.values()
            if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
            and one.default is one.empty
        ]
        self.num_arguments = len(needed)

    def __call__(self, agent_id: str, episode: Any = None, *args: Any, **kwargs: Any) -> str:
        """Return the id of the agent's policy."""
        others = (episode, None)[: self.num_arguments - 1]
        return self.function(agent_id, *others)


class OnePolicy:
    """The mapping function where there is one policy."""

    def __init__(self, policy_id: str) -> None:
        self.policy_id = policy_id

    def __call__(self, agent_id: str, *args: Any, **kwargs: Any) -> str:
        """Return the id of the policy."""
        return self.policy_id


@dataclass
class Policies:
    """The policies that agents are mapped to.

    Attributes:
        spaces: policy id -> observation space and action space of its network.
        mapping: function of an agent's id that returns the id of its policy.
        settings: policy id -> its own settings, keys of an ``AlgorithmConfig``.
        modules: policy id -> the class of its ``RLModule``, where the file gives one.
        unused: ids of policies that no agent is mapped to; they are in none of the others.
    """

    spaces: dict[str, tuple[Any, Any]]
    mapping: Callable[..., str]
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    modules: dict[str, type] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)


def policies_of(
    multiagent: Mapping[str, Any],
    agents: Mapping[str, tuple[Any, Any]],
    codecs: Mapping[str, Codec],
    where: str,
) -> Policies:
    """Read the old key ``multiagent``.

    Args:
        multiagent: its value; empty where there is one policy for all agents.
        agents: agent id -> observation space and action space in the simulation.
        codecs: agent id -> how these are converted.
        where: name of the key in the file, for messages.

    Raises:
        ExperimentError: a policy is wrong or does not fit an agent, or an agent has none.
    """
    check_known(multiagent, MULTIAGENT_KEYS, where)
    specs = _specs(multiagent.get("policies", {ONLY_POLICY: None}), f"{where}['policies']")
    mapping = _mapping(multiagent.get("policy_mapping_fn"), specs, where)
    found = Policies({}, mapping)
    first_agents: dict[str, str] = {}
    for agent_id, own in agents.items():
        policy_id = _policy_id(mapping, agent_id, specs, where)
        for side, given, space in zip(
            ("observation_space", "action_space"), specs[policy_id][1:3], own, strict=True
        ):
            if given is not None and not _equal(given, space):
                raise ExperimentError(
                    f"{where}: policy {policy_id!r} has the {side} {given!r:.160}\n"
                    f"but agent {agent_id!r}, which is mapped to it, has {space!r:.160}"
                )
        first = first_agents.setdefault(policy_id, agent_id)
        if not all(map(_equal, agents[first], own)):
            raise ExperimentError(
                f"{where}: agents {first!r} and {agent_id!r} have different spaces and are both "
                f"mapped to policy {policy_id!r}; give them policies of their own"
            )
        codec = codecs[agent_id]
        found.spaces[policy_id] = (codec.observation_space, codec.action_space)
    for policy_id, (policy_class, _, _, settings) in specs.items():
        if policy_id not in found.spaces:
            found.unused.append(policy_id)
            continue
        if policy_class is not None:
            found.modules[policy_id] = _module(policy_class, policy_id, where)
        if settings:
            found.settings[policy_id] = dict(settings)
    return found


def _specs(given: Any, where: str) -> dict[str, tuple[Any, Any, Any, Any]]:
    if isinstance(given, list | tuple | set | frozenset):
        given = dict.fromkeys(sorted(given))
    if not isinstance(given, Mapping) or not given:
        raise ExperimentError(
            f"{where} must be a dict of id to (None, observation_space, action_space, {{}}), not "
            f"{given!r:.80}"
        )
    return {
        str(policy_id): _spec(spec, f"{where}[{policy_id!r}]") for policy_id, spec in given.items()
    }


def _spec(spec: Any, where: str) -> tuple[Any, Any, Any, Any]:
    if spec is None:
        return None, None, None, {}
    if isinstance(spec, list | tuple) and len(spec) == 4:
        return tuple(spec)
    if hasattr(spec, "policy_class"):  # RLlib's PolicySpec
        return spec.policy_class, spec.observation_space, spec.action_space, spec.config
    raise ExperimentError(
        f"{where} must be (None, observation_space, action_space, {{}}), not {spec!r:.80}"
    )


def _mapping(function: Any, specs: Mapping[str, Any], where: str) -> Callable[..., str]:
    if function is None and len(specs) == 1:
        (only,) = specs
        return OnePolicy(only)
    if not callable(function):
        raise ExperimentError(
            f"{where}['policy_mapping_fn'] must be a function of an agent's id that returns the id "
            f"of its policy, not {function!r:.80}"
        )
    return AgentMapping(function)


def _policy_id(mapping: Any, agent_id: str, specs: Mapping[str, Any], where: str) -> str:
    try:
        policy_id = mapping(agent_id)
    except Exception as error:
        raise ExperimentError(
            f"{where}['policy_mapping_fn'] fails for agent {agent_id!r}: "
            f"{type(error).__name__}: {error}"
        ) from error
    if policy_id not in specs:
        raise ExperimentError(
            f"{where}['policy_mapping_fn'] maps agent {agent_id!r} to {policy_id!r}"
            f"{nearest(policy_id, specs)}; the policies are {', '.join(map(repr, specs))}"
        )
    return policy_id


def _module(policy_class: Any, policy_id: str, where: str) -> type:
    from ray.rllib.core.rl_module.rl_module import RLModule

    if not (isinstance(policy_class, type) and issubclass(policy_class, RLModule)):
        raise ExperimentError(
            f"{where}: policy {policy_id!r} is to be a {policy_class!r:.80}; RLlib now takes a "
            f"subclass of RLModule there, or None for a network of its own"
        )
    return policy_class


def _equal(one: Any, other: Any) -> bool:
    return one is other or to_gymnasium(one) == to_gymnasium(other)
