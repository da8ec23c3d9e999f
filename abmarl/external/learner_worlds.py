"""The worlds of a vectorised simulation as a learner sees them.

The agents that learn have a slot each in all worlds; the other groups are played by policies.
Adapters of vectorised simulations are made of the parts in this file.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.gridworld.vector.wrappers import VectorBase, mapped
from abmarl.rollout.policies import bind_policies, choose_actions
from abmarl.sim.conversion import RavelConversion, is_by_entry
from abmarl.sim.layout import Leaf, SpaceLayout


def check_vectorised(vec: Any, user: str, autoreset: bool | None = None) -> None:
    """Refuse what is not a vectorised simulation, or not one with this ``autoreset``.

    Raises:
        TypeError, ValueError: Says what the adapter `user` needs.
    """
    if not isinstance(vec, VectorBase):
        how = ", autoreset=False" if autoreset is False else ""
        raise TypeError(
            f"{user} needs a vectorised simulation, got {type(vec).__name__}; "
            f"make one with sim.vectorize(num_envs{how})"
        )
    if autoreset is not None and vec.autoreset is not autoreset:  # type: ignore[attr-defined]
        raise ValueError(
            f"{user} needs worlds that {'reset themselves' if autoreset else 'it resets itself'}: "
            f"make them with sim.vectorize(..., autoreset={autoreset})"
        )


def learning_group(vec: Any, group: str | None) -> str:
    """Return the name of the group that learns; None stands for the only one.

    Raises:
        ValueError: There is no such group.
    """
    if group is None and len(vec.groups) == 1:
        return next(iter(vec.groups))
    if group is None or group not in vec.groups:
        raise ValueError(
            f"group must say who learns, one of {', '.join(map(repr, vec.groups))}, got {group!r}"
        )
    return group


def only_group(vec: Any, user: str) -> str:
    """Return the name of the only group, which has one agent in each world.

    Raises:
        ValueError: There are several groups or agents.
    """
    if len(vec.groups) != 1 or len(next(iter(vec.groups.values()))) != 1:
        sizes = ", ".join(f"{name}: {len(group)}" for name, group in vec.groups.items())
        raise ValueError(
            f"{user} needs one learning agent per world, there are {sizes}; "
            f"use SB3VecEnv for groups of several, or vec.super_agents to make one of several"
        )
    return next(iter(vec.groups))


class Slots:
    """The agents of a group, or some of them, in all worlds.

    Slot ``world * n + k`` is agent k of the n. Arrays of a vectorised simulation are
    ``{group: [num_envs, agents, ...]}``, those of slots ``[num_slots, ...]``, both nested in dicts
    and tuples as their space is.

    Args:
        group: Name of the group.
        agent_ids: The ids of its agents.
        num_envs: How many worlds.
        columns: int64 [n], which agents of the group; None: all of them.

    Attributes:
        agent_ids: Ids of the agents that have slots.
        num_slots: How many slots there are.
    """

    def __init__(
        self,
        group: str,
        agent_ids: tuple[str, ...],
        num_envs: int,
        columns: np.ndarray | None = None,
    ) -> None:
        self.group = group
        if columns is not None:
            agent_ids = tuple(agent_ids[column] for column in columns)
        self.agent_ids, self.num_envs = tuple(agent_ids), num_envs
        self.num_slots = num_envs * len(agent_ids)
        self._columns = columns

    def rows(self, arrays: Mapping[str, Any]) -> Any:
        """Return the rows of the slots; views where the slots are those of the whole group."""
        return mapped(self._rows, arrays[self.group])

    def put(self, arrays: Mapping[str, np.ndarray], slots: np.ndarray, values: np.ndarray) -> None:
        """Write the values of some slots."""
        array = arrays[self.group]
        if self._columns is None:
            array.reshape(-1, *array.shape[2:])[slots] = values
        else:
            worlds, agents = np.divmod(slots, len(self.agent_ids))
            array[worlds, self._columns[agents]] = values

    def by_world(self, rows: np.ndarray) -> np.ndarray:
        """Return rows ``[num_slots, ...]`` as ``[num_envs, n, ...]``."""
        return rows.reshape(self.num_envs, len(self.agent_ids), *rows.shape[1:])

    def final_observations(self, slots: np.ndarray, obs: Mapping, infos: Mapping) -> Any:
        """Return what the agents of some slots, which have ended in this step, observed last.

        An agent that ends before its world has its last observation in the step itself; where the
        world has ended too, `obs` is of the next episode.

        Returns:
            Fresh arrays ``[len(slots), ...]``.
        """
        ended = infos["ended"][slots // len(self.agent_ids)]

        def choose(running: np.ndarray, final: np.ndarray) -> np.ndarray:
            seen = running[slots]
            seen[ended] = final[slots[ended]]
            return seen

        return mapped(choose, self.rows(obs), self.rows(infos["final_obs"]))

    def _rows(self, array: np.ndarray) -> np.ndarray:
        if self._columns is not None:
            array = array[:, self._columns]
        return array.reshape(-1, *array.shape[2:])


def separated(rows: Any) -> list:
    """Return the points of nested arrays ``[k, ...]`` one by one."""
    if isinstance(rows, dict):
        parts = [separated(part) for part in rows.values()]
        return [dict(zip(rows, point, strict=True)) for point in zip(*parts, strict=True)]
    if isinstance(rows, tuple):
        return list(zip(*map(separated, rows), strict=True))
    return list(rows)


class Opponents:
    """The policies of the groups that do not learn.

    Args:
        vec: A vectorised simulation.
        group: The group that learns.
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
        self.reset()

    def reset(self) -> None:
        """Bind the policies again, with random numbers from the present seed of the worlds."""
        bound = bind_policies(self.vec, self._entries)
        self._policies = {name: policy for name, policy in bound.items() if name != self.group}

    def actions(self, observations: dict, active: dict) -> dict[str, Any]:
        """Return the actions of all groups but the learning one."""
        return choose_actions(self.vec, self._policies, observations, active)


def slot_masks(vec: Any, group: str) -> "JointMasks | EntryMasks | None":
    """Return what makes the action masks of a group's slots; None where there are no choices."""
    source = vec
    while not isinstance(source.groups[group].action_space, spaces.Dict):
        source = source.vec
    space = vec.groups[group].action_space
    if isinstance(space, spaces.Discrete):
        return JointMasks(vec, group, source.groups[group].action_space)
    if isinstance(space, spaces.MultiDiscrete):
        return EntryMasks(source, group)
    return None


class JointMasks:
    """Action masks with one option per joint action, of ravelled `channels`."""

    def __init__(self, vec: Any, group: str, channels: spaces.Dict) -> None:
        self.vec, self.group = vec, group
        conversion = RavelConversion(channels)
        layout = conversion.layout
        self.idle = int((_idle_action(layout) - layout.low) @ conversion.weights)

    def now(self, active: np.ndarray) -> np.ndarray:
        """Return which actions would do something; agents that are not active can only idle.

        Args:
            active: bool [num_envs, n].

        Returns:
            bool [num_envs * n, number of actions].
        """
        masks = np.array(self.vec.action_masks()[self.group])
        masks[~active] = False
        masks[~active, self.idle] = True
        return masks.reshape(active.size, -1)


class EntryMasks:
    """Action masks with the options of every entry of a `MultiDiscrete`, side by side.

    An option of an entry is allowed if it is part of some allowed joint choice of its channel. In
    the vectorised simulation the group has channels.
    """

    def __init__(self, vec: Any, group: str) -> None:
        self.vec, self.group = vec, group
        self.layout = SpaceLayout(vec.groups[group].action_space)
        sizes = self.layout.high - self.layout.low + 1
        starts = np.cumsum(sizes) - sizes
        self.idle = starts + (_idle_action(self.layout) - self.layout.low)
        self.width = int(sizes.sum())

    def now(self, active: np.ndarray) -> np.ndarray:
        """Return bool [num_envs * n, options of all entries]; see `JointMasks.now`."""
        found = self.vec.action_masks()[self.group]
        parts = [part for leaf in self.layout.leaves for part in _by_entry(leaf, found, active)]
        masks = np.concatenate(parts, axis=1)
        waiting = np.flatnonzero(~active)
        masks[waiting] = False
        masks[waiting[:, None], self.idle] = True
        return masks


def _by_entry(leaf: Leaf, masks: Any, active: np.ndarray) -> list[np.ndarray]:
    """Return the masks bool [slots, options] of the entries of one channel."""
    num_slots = active.size
    sizes = (leaf.high - leaf.low + 1).tolist()
    for key in leaf.path:
        masks = masks.get(key) if masks is not None else None
    if masks is None:
        return [np.ones((num_slots, size), bool) for size in sizes]
    if is_by_entry(masks.shape[2:], leaf.shape):
        entries = masks.reshape(num_slots, leaf.width, -1)
        return [entries[:, entry] for entry in range(leaf.width)]
    joint = masks.reshape(num_slots, *sizes)
    axes = range(1, joint.ndim)
    return [joint.any(axis=tuple(other for other in axes if other != axis)) for axis in axes]


def _idle_action(layout: SpaceLayout) -> np.ndarray:
    """Return the entries of the action that does nothing: zeros, or what comes nearest."""
    return np.clip(0, layout.low, layout.high)
