"""Action masks slot by slot, as MaskablePPO wants them."""

from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.sim.conversion import RavelConversion, is_by_entry
from abmarl.sim.layout import Leaf, SpaceLayout


def masks_for(vec: Any, group: str) -> "JointMasks | EntryMasks | None":
    """What makes the masks for the actions of a group; None where there are no choices.

    Args:
        vec: A vectorised simulation whose group has `Discrete` or `MultiDiscrete` actions.
        group: The name of the group.
    """
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
    """One option per joint action.

    Args:
        vec: A vectorised simulation in which the group's actions are ravelled.
        group: The name of the group.
        channels: The group's action space before that.
    """

    def __init__(self, vec: Any, group: str, channels: spaces.Dict) -> None:
        self.vec, self.group = vec, group
        conversion = RavelConversion(channels)
        layout = conversion.layout
        self.nothing = int((_nothing(layout) - layout.low) @ conversion.weights)

    def now(self, active: np.ndarray) -> np.ndarray:
        """Which actions would do something; who does not act can only do nothing.

        Args:
            active: bool [B, n].

        Returns:
            bool [B * n, number of actions].
        """
        masks = np.array(self.vec.action_masks()[self.group])
        masks[~active] = False
        masks[~active, self.nothing] = True
        return masks.reshape(active.size, -1)


class EntryMasks:
    """The options of every entry of a `MultiDiscrete`, side by side.

    An option of an entry is there when it is in some joint choice of its channel that is there.

    Args:
        vec: A vectorised simulation in which the group has channels.
        group: The name of the group.
    """

    def __init__(self, vec: Any, group: str) -> None:
        self.vec, self.group = vec, group
        self.layout = SpaceLayout(vec.groups[group].action_space)
        sizes = self.layout.high - self.layout.low + 1
        starts = np.cumsum(sizes) - sizes
        self.nothing = starts + (_nothing(self.layout) - self.layout.low)
        self.width = int(sizes.sum())

    def now(self, active: np.ndarray) -> np.ndarray:
        """See `JointMasks.now`; bool [B * n, options of all entries]."""
        found = self.vec.action_masks()[self.group]
        parts = [part for leaf in self.layout.leaves for part in _by_entry(leaf, found, active)]
        masks = np.concatenate(parts, axis=1)
        idle = np.flatnonzero(~active)
        masks[idle] = False
        masks[idle[:, None], self.nothing] = True
        return masks


def _by_entry(leaf: Leaf, masks: Any, active: np.ndarray) -> list[np.ndarray]:
    """Masks bool [slots, options] of the entries of one channel."""
    slots = active.size
    sizes = (leaf.high - leaf.low + 1).tolist()
    for key in leaf.path:
        masks = masks.get(key) if masks is not None else None
    if masks is None:
        return [np.ones((slots, size), bool) for size in sizes]
    if is_by_entry(masks.shape[2:], leaf.shape):
        entries = masks.reshape(slots, leaf.width, -1)
        return [entries[:, entry] for entry in range(leaf.width)]
    joint = masks.reshape(slots, *sizes)
    axes = range(1, joint.ndim)
    return [joint.any(axis=tuple(other for other in axes if other != axis)) for axis in axes]


def _nothing(layout: SpaceLayout) -> np.ndarray:
    """The entries of the action that does nothing: zeros, or what comes nearest."""
    return np.clip(0, layout.low, layout.high)
