"""Policies that act for a whole group of agents in all worlds at once.

Those of `abmarl.policies` act for one agent; `AgentPolicies` lets them act for a group.
"""

import copy
import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from abmarl.policies.policy import Policy
from abmarl.rollout.heuristic import HeuristicPolicy
from abmarl.sim.layout import SpaceLayout, mapped

GroupPolicy = Callable[[Any, np.ndarray], Any]


class SampledActions:
    """Uniformly random actions from the simulation's own action sampling streams."""

    def bind(self, vec: Any, group_name: str) -> None:
        """Act for this group of this simulation."""
        self.vec, self.group_name = vec, group_name

    def __call__(self, observations: Any, active: np.ndarray) -> Any:
        """Return random actions; observations do not matter.

        Args:
            observations: channel -> [B, n, ...].
            active: bool [B, n].

        Returns:
            Arrays [B, n, ...], nested as the action space.
        """
        return self.vec.sample_actions()[self.group_name]


class AgentPolicies:
    """Policies of single agents, acting for a group in all worlds.

    They are not asked for agents that do not act, whose entries are the lowest point of the space.

    Args:
        policies: A policy for all agents of the group, or one for each.
    """

    def __init__(self, policies: Policy | Sequence[Policy]) -> None:
        self.policies = policies

    def bind(self, vec: Any, group_name: str) -> None:
        """Act for this group of this simulation.

        Raises:
            ValueError: When the policies are not as many as the agents, or have other spaces.
        """
        group = vec.groups[group_name]
        each = self.policies
        each = [each] * len(group) if isinstance(each, Policy) else list(each)
        if len(each) != len(group):
            raise ValueError(
                f"group {group_name!r} has {len(group)} agents, there are {len(each)} policies"
            )
        self.columns: dict[Policy, list[int]] = {}
        for column, policy in enumerate(each):
            check_spaces(policy, group, f"group {group_name!r}")
            self.columns.setdefault(policy, []).append(column)
        self.layout = SpaceLayout(group.action_space)

    def __call__(self, observations: Any, active: np.ndarray) -> Any:
        """Return the actions of all agents of the group.

        Args:
            observations: Arrays [B, n, ...], nested as the observation space.
            active: bool [B, n].

        Returns:
            Arrays [B, n, ...], nested as the action space.
        """
        actions = self.layout.lowest(active.shape)
        for policy, columns in self.columns.items():
            worlds, which = np.nonzero(active[:, columns])
            rows = worlds, np.asarray(columns)[which]
            seen = mapped(lambda array, at=rows: array[at], observations)
            chosen = policy.compute_action_batch(seen, len(worlds))
            for leaf in self.layout.leaves:
                leaf.value(actions)[rows] = leaf.value(chosen)
        return actions


# Policies that ship, by the name they are asked for.
SHIPPED: dict[str, Callable[[], Any]] = {"random": SampledActions, "heuristic": HeuristicPolicy}

_LOADER = "abmarl.external.load_policy(path)"


def bind_policies(vec: Any, policies: Any) -> dict[str, GroupPolicy]:
    """Bind a policy to every group.

    Args:
        vec: A vectorised simulation.
        policies: None, one entry for all groups, or a dict from group names to entries, where an
            entry is the name of a shipped policy, a `Policy` or a callable.

    Returns:
        group -> policy, for every group.

    Raises:
        ValueError: For a group or a name that does not exist.
        TypeError: For an entry that is none of these.
    """
    if policies is None:
        policies = {}
    elif not isinstance(policies, Mapping):
        policies = {name: _another(policies) for name in vec.groups}
    for name in policies:
        if name not in vec.groups:
            raise ValueError(
                f"no group {name!r}{_nearest(name, vec.groups)}; the groups are "
                f"{', '.join(map(repr, vec.groups))}"
            )
    taken: set[int] = set()
    bound = {}
    for name in vec.groups:
        entry = policies.get(name, "random")
        bound[name] = _bound(vec, name, _another(entry) if id(entry) in taken else entry)
        taken.add(id(entry))
    return bound


def _another(entry: Any) -> Any:
    """Return a copy of a policy that keeps the group it is bound to, else the policy itself."""
    is_bound = hasattr(entry, "bind") and not isinstance(entry, type)
    return copy.copy(entry) if is_bound else entry


def _bound(vec: Any, group: str, entry: Any) -> GroupPolicy:
    if isinstance(entry, str):
        if entry not in SHIPPED:
            hint = f"; read a checkpoint with {_LOADER}" if is_path(entry) else ""
            raise ValueError(
                f"no policy {entry!r} for group {group!r}{_nearest(entry, SHIPPED)}; there are "
                f"{', '.join(map(repr, SHIPPED))}{hint}"
            )
        entry = SHIPPED[entry]()
    if isinstance(entry, Policy):
        entry = AgentPolicies(entry)
    if isinstance(entry, type) or not callable(entry):
        hint = f"; save the model and give {_LOADER}" if hasattr(entry, "predict") else ""
        raise TypeError(
            f"the policy of group {group!r} must be a name, a Policy or a callable "
            f"(observations, active) -> actions, not {entry!r:.200}{hint}"
        )
    if hasattr(entry, "bind"):
        entry.bind(vec, group)
    return entry


def choose_actions(
    vec: Any, policies: dict[str, GroupPolicy], observations: dict, active: dict
) -> dict[str, dict[str, np.ndarray]]:
    """Return the actions of all groups.

    ``vec.sample_actions()`` draws for all groups at once, so it is asked once for all random ones.
    """
    sampled = None
    actions = {}
    for name, policy in policies.items():
        if type(policy) is SampledActions and policy.vec is vec:
            if sampled is None:
                sampled = vec.sample_actions()
            actions[name] = sampled[name]
        else:
            actions[name] = policy(observations[name], active[name])
    return actions


def check_spaces(policy: Policy, owner: Any, name: str) -> None:
    """Refuse a policy that has other spaces than the agent or group that it is to act for.

    Raises:
        ValueError: When it has; names the owner, the space, and both of them.
    """
    for side in ("observation_space", "action_space"):
        ours, theirs = getattr(policy, side), getattr(owner, side)
        if ours != theirs:
            raise ValueError(
                f"the {side} of {name} is {theirs!r:.200}, its policy's is {ours!r:.200}; "
                f"they must be equal"
            )


def is_path(name: str) -> bool:
    """Return whether the name of a policy looks like the path of a checkpoint, or is one."""
    return bool(os.path.dirname(name) or os.path.splitext(name)[1]) or os.path.exists(name)


def _nearest(name: Any, known: Any) -> str:
    close = difflib.get_close_matches(str(name), [str(k) for k in known], n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
