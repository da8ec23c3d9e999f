"""Policies that are written for one agent, acting for whole groups."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from abmarl.policies.policy import Policy
from abmarl.rollout.channels import at, channels_of, lowest, picked


class AgentPolicies:
    """Lets policies act for the agents of a group in all worlds.

    Whoever does not act is not asked for; its entry is the lowest point of the space.

    Args:
        policies: a policy for all agents of the group, or one for each.
    """

    def __init__(self, policies: Policy | Sequence[Policy]) -> None:
        self.policies = policies

    def bind(self, vec: Any, group_name: str) -> None:
        """Act for this group of this simulation.

        Raises:
            ValueError: The policies are not as many as the agents, or have other spaces.
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
        self.paths = [path for path, _ in channels_of(group.action_space).values()]
        self.action_space = group.action_space

    def __call__(self, observations: Any, active: np.ndarray) -> Any:
        """Actions of all agents of the group.

        Args:
            observations: arrays [B, n, ...], nested as the observation space.
            active: bool [B, n].

        Returns:
            Arrays [B, n, ...], nested as the action space.
        """
        actions = lowest(self.action_space, active.shape)
        for policy, columns in self.columns.items():
            worlds, which = np.nonzero(active[:, columns])
            rows = worlds, np.asarray(columns)[which]
            seen = picked(observations, rows)
            chosen = policy.compute_action_batch(seen, len(worlds))
            for path in self.paths:
                at(actions, path)[rows] = at(chosen, path)
        return actions


def check_spaces(policy: Policy, owner: Any, name: str) -> None:
    """Refuse a policy that has other spaces than the agent or group that it shall act for.

    Raises:
        ValueError: Names the owner, the space, and both of them.
    """
    for side in ("observation_space", "action_space"):
        ours, theirs = getattr(policy, side), getattr(owner, side)
        if ours != theirs:
            raise ValueError(
                f"the {side} of {name} is {theirs!r:.200}, its policy's is {ours!r:.200}; "
                f"they must be equal"
            )
