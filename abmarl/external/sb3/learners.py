"""Who learns, and who plays the others."""

from collections.abc import Mapping
from typing import Any

from abmarl.gridworld.vector.wrappers import VectorBase
from abmarl.rollout.policies import bind_policies, choose_actions


def learning_group(vec: Any, group: str | None) -> str:
    """The name of the group that learns.

    Args:
        vec: A vectorised simulation.
        group: Its name; None: the only one.

    Raises:
        TypeError: `vec` is something else.
        ValueError: There is no such group, or worlds that end stand still.
    """
    if not isinstance(vec, VectorBase):
        raise TypeError(
            f"SB3VecEnv needs a vectorised simulation, got {type(vec).__name__}; "
            f"make one with sim.vectorize(num_envs)"
        )
    if not vec.autoreset:
        raise ValueError("SB3VecEnv needs worlds that start anew: vectorize(..., autoreset=True)")
    if group is None and len(vec.groups) == 1:
        return next(iter(vec.groups))
    if group not in vec.groups:
        raise ValueError(
            f"group must say who learns, one of {', '.join(map(repr, vec.groups))}, got {group!r}"
        )
    return group


class Opponents:
    """The policies of the groups that do not learn.

    Args:
        vec: A vectorised simulation.
        group: Who learns.
        policies: None, one entry for all other groups, or a dict by group; see `bind_policies`.

    Raises:
        TypeError, ValueError: An entry or a name is wrong, or the learning group has a policy.
    """

    def __init__(self, vec: Any, group: str, policies: Any) -> None:
        self.vec, self.group = vec, group
        others = [name for name in vec.groups if name != group]
        if policies is not None and not isinstance(policies, Mapping):
            policies = dict.fromkeys(others, policies)
        self._entries = dict(policies or {})
        if group in self._entries:
            raise ValueError(
                f"group {group!r} learns, so it cannot have a policy; "
                f"others are {', '.join(map(repr, others)) or 'not there'}"
            )
        self.begin()

    def begin(self) -> None:
        """Start anew, with random numbers from the present seed of the worlds."""
        bound = bind_policies(self.vec, self._entries)
        self._policies = {name: policy for name, policy in bound.items() if name != self.group}

    def actions(self, observations: dict, active: dict) -> dict[str, Any]:
        """The actions of all groups but the learning one."""
        return choose_actions(self.vec, self._policies, observations, active)
