"""Which joint actions are allowed where there are masks of their parts."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from abmarl.kernels.spaces import join_masks
from abmarl.sim.ravel import RavelConversion

# A joint mask of one agent; beyond, masks would take more memory than anything else.
MOST_CHOICES = 65_536


def is_by_entry(mask_shape: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether action masks of a channel speak of its entries one by one.

    They have the shape of an entry, with the options of each number behind it; other masks have a
    value per choice of the whole entry.
    """
    return tuple(mask_shape[:-1]) == tuple(shape)


def is_flattened(conversion: RavelConversion, masks: Any) -> bool:
    """Whether masks speak of channels that the actions, one flat array, no longer have."""
    return isinstance(masks, Mapping) and any(not leaf.path for leaf in conversion.layout.leaves)


def joint_masks(
    conversion: RavelConversion, masks: Any, lead: tuple[int, ...], whose: str
) -> np.ndarray:
    """Masks of ravelled actions, of the masks of their channels.

    Args:
        conversion: how the actions are ravelled.
        masks: bool arrays ``[*lead, ...]``, nested as the actions; what is missing is all allowed.
        lead: the dimensions before those of the actions.
        whose: whose actions they are, for messages.

    Returns:
        bool array ``[*lead, number of actions]``: an action is allowed when all its parts are.

    Raises:
        ValueError: there are too many actions for a mask, or they were flattened before.
    """
    if is_flattened(conversion, masks):
        raise ValueError(
            f"{whose} has masks of channels, and its actions were flattened before they were "
            f"ravelled. Flatten with actions=False, then ravel."
        )
    if conversion.num_points > MOST_CHOICES:
        raise ValueError(
            f"{whose} has {conversion.num_points} joint actions; masks are made for "
            f"{MOST_CHOICES} at most. Ask the simulation wrapped for the masks of its channels."
        )
    rows = math.prod(lead)
    joint = np.ones((rows, 1), bool)
    for leaf in conversion.layout.leaves:
        part = _at(masks, leaf.path)
        if part is None:
            part = np.ones((*lead, int(np.prod(leaf.high - leaf.low + 1))), bool)
        entries = leaf.width if is_by_entry(part.shape[len(lead) :], leaf.shape) else 1
        part = part.reshape(rows, entries, -1)
        for entry in range(entries):
            out = np.empty((rows, joint.shape[1] * part.shape[2]), bool)
            join_masks(joint, np.ascontiguousarray(part[:, entry]), out)
            joint = out
    return joint.reshape(*lead, -1)


def _at(masks: Any, path: tuple[Any, ...]) -> np.ndarray | None:
    """The mask of a channel, None when it has none."""
    for key in path:
        if not isinstance(masks, Mapping) or key not in masks:
            return None
        masks = masks[key]
    return masks
