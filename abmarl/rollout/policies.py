"""Who decides: policies that act for a whole group at once.

Those of `abmarl.policies` act for one agent; `AgentPolicies` lets them act for a group.
"""

import copy
import difflib
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from abmarl.policies.policy import Policy
from abmarl.rollout.agent_policies import AgentPolicies

GroupPolicy = Callable[[Any, np.ndarray], Any]


class SampledActions:
    """Uniformly random actions from the simulation's own action sampling streams."""

    def bind(self, vec: Any, group_name: str) -> None:
        """Act for this group of this simulation."""
        self.vec, self.group_name = vec, group_name

    def __call__(self, observations: Any, active: np.ndarray) -> Any:
        """Random actions; observations do not matter.

        Args:
            observations: channel -> [B, n, ...].
            active: bool [B, n].

        Returns:
            Arrays [B, n, ...], nested as the action space.
        """
        return self.vec.sample_actions()[self.group_name]


_LOADER = "abmarl.external.load_policy(path)"


def _heuristic() -> Any:
    from abmarl.rollout.heuristic import HeuristicPolicy

    return HeuristicPolicy()


# Policies that ship, by the name they are asked for.
SHIPPED: dict[str, Callable[[], Any]] = {"random": SampledActions, "heuristic": _heuristic}


def bind_policies(vec: Any, policies: Any) -> dict[str, GroupPolicy]:
    """One policy per group, bound to it.

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
    """Whoever learns which group it is bound to has to be somebody else for each."""
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
    _check_parameters(entry, group)
    return entry


def _check_parameters(policy: Any, group: str) -> None:
    try:
        signature = inspect.signature(policy)
    except (TypeError, ValueError):
        return  # some callables do not tell
    try:
        signature.bind({}, None)
    except TypeError as error:
        raise TypeError(
            f"the policy of group {group!r} must take (observations, active): {error}"
        ) from None


def choose_actions(
    vec: Any, policies: dict[str, GroupPolicy], observations: dict, active: dict
) -> dict[str, dict[str, np.ndarray]]:
    """The actions of all groups.

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


def is_path(name: str) -> bool:
    """Whether the name of a policy looks like the path of a checkpoint, or is one."""
    return bool(os.path.dirname(name) or os.path.splitext(name)[1]) or os.path.exists(name)


def _nearest(name: Any, known: Any) -> str:
    close = difflib.get_close_matches(str(name), [str(k) for k in known], n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
