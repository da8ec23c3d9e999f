"""Observations and actions of agents as the stock modules of RLlib take them."""

import math
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.sim.conversion import FlattenConversion, RavelConversion
from abmarl.sim.layout import SpaceLayout

# Beyond, a choice among all joint actions is one entry of the network's output too many; the
# entries of the action are chosen independently then.
MOST_JOINT_ACTIONS = 4096

# What RLlib's modules with action masks look for in an observation.
OBSERVATIONS, ACTION_MASK = "observations", "action_mask"


class ActionPoints:
    """Actions as one `Discrete`, or as a `MultiDiscrete` of all entries where that is too large.

    Args:
        space: the action space of an agent.
        name: what it is called in error messages.

    Attributes:
        space: the space for RLlib.
        ravelled: whether it is the `Discrete`.
        offset: what an entry that RLlib counts from 0 lacks.

    Raises:
        TypeError: the actions are not all integers within bounds.
    """

    def __init__(self, space: spaces.Space, name: str) -> None:
        layout = SpaceLayout(space, name)
        if not all(leaf.integer and leaf.bounded for leaf in layout.leaves):
            raise TypeError(f"{name} holds numbers that are no bounded integers: {space!r:.200}")
        choices = layout.high - layout.low + 1
        self.ravelled = math.prod(map(int, choices)) <= MOST_JOINT_ACTIONS
        self.offset: Any = 0
        if self.ravelled:
            self._conversion = RavelConversion(space, name)
            self.space = self._conversion.target
        else:
            self._conversion = FlattenConversion(space, name, one_hot=False)
            self.offset = self._conversion.target.low
            self.space = spaces.MultiDiscrete(choices)

    def restore(self, action: Any) -> Any:
        """The action of the agent that an action of RLlib stands for."""
        return self._conversion.restore(np.asarray(action) + self.offset)


class ObservationPoints:
    """Observations as one flat float32 `Box`; a `Discrete` becomes one entry per point.

    Args:
        space: the observation space of an agent.
        name: what it is called in error messages.

    Attributes:
        space: the space for RLlib.
    """

    def __init__(self, space: spaces.Space, name: str) -> None:
        self._conversion = FlattenConversion(space, name)
        self.space = as_floats(self._conversion.target)

    def convert(self, point: Any) -> np.ndarray:
        """The flat observation."""
        return self._conversion.convert(point).astype(np.float32)


def as_floats(box: spaces.Box) -> spaces.Box:
    """A flat `Box` with the dtype of networks."""
    return spaces.Box(box.low.astype(np.float32), box.high.astype(np.float32), dtype=np.float32)


def with_mask(space: spaces.Box, actions: spaces.Space) -> spaces.Dict:
    """The space of observations that hold the mask of the actions.

    Raises:
        ValueError: the actions are not one `Discrete`, so there is no mask.
    """
    if not isinstance(actions, spaces.Discrete):
        raise ValueError(
            f"masks need at most {MOST_JOINT_ACTIONS} joint actions per agent, these are "
            f"{actions!r:.200}; leave masks=False"
        )
    mask = spaces.Box(0.0, 1.0, (int(actions.n),), np.float32)
    return spaces.Dict({ACTION_MASK: mask, OBSERVATIONS: space})
