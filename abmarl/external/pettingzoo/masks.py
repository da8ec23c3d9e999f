"""Action masks of a single world, as the agents' action spaces take them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.sim.agent_based_simulation import AgentBasedSimulation


class ActionMasks:
    """Asks a simulation for the masks of its agents.

    Args:
        sim: The simulation.
        action_spaces: The action space of every learning agent.

    Raises:
        TypeError: The simulation does not know any masks.
        ValueError: No action space takes a mask.
    """

    def __init__(self, sim: AgentBasedSimulation, action_spaces: Mapping[str, Any]) -> None:
        kind = type(getattr(sim, "unwrapped", sim))
        if kind.action_masks is AgentBasedSimulation.action_masks:
            raise TypeError(
                f"{kind.__name__} has no action masks: they are made for declared grid worlds"
            )
        if not any(map(_takes_masks, action_spaces.values())):
            raise ValueError(
                "no action space here takes a mask, gymnasium has them for Discrete and "
                "MultiDiscrete; use CrossMoveActor, or RavelDiscreteActionWrapper(sim)"
            )
        self._sim, self._spaces = sim, action_spaces

    def present(self) -> dict[str, Any]:
        """The mask of every agent by id, fresh arrays that ``action_space.sample`` takes."""
        found = self._sim.action_masks()
        return {key: as_mask(space, found.get(key)) for key, space in self._spaces.items()}


def as_mask(space: spaces.Space, mask: Any) -> Any:
    """A mask of the engine as ``space.sample(mask)`` takes it.

    Args:
        space: The action space.
        mask: Bool arrays by channel, or one: a value per choice, or ``[entries, options]``.

    Returns:
        int8 ``[n]`` for a `Discrete`, a tuple of such for a `MultiDiscrete`, a dict of masks for a
        `Dict`; None where the space takes no mask or the engine has none.
    """
    if isinstance(space, spaces.Dict):
        if isinstance(mask, np.ndarray):  # the parts of a channel, side by side
            mask = dict(zip(space.spaces, mask, strict=True))
        return {key: as_mask(part, (mask or {}).get(key)) for key, part in space.spaces.items()}
    if not isinstance(mask, np.ndarray):
        return None
    if isinstance(space, spaces.Discrete):
        return mask.astype(np.int8)
    if isinstance(space, spaces.MultiDiscrete) and mask.ndim == 2:
        return tuple(mask.astype(np.int8))
    return None


def _takes_masks(space: spaces.Space) -> bool:
    if isinstance(space, spaces.Dict):
        return any(map(_takes_masks, space.values()))
    return isinstance(space, spaces.Discrete | spaces.MultiDiscrete)
