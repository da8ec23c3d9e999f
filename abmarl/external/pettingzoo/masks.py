"""Action masks of a single world, as the agents' action spaces take them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.gridworld.vector.wrapping import mapped
from abmarl.sim.agent_based_simulation import AgentBasedSimulation


class ActionMasks:
    """Asks a vectorised twin of one world, which is brought to the state of the simulation.

    Args:
        sim: The simulation.
        action_spaces: The action space of every learning agent.

    Raises:
        TypeError: The simulation cannot be vectorised, so nobody knows its masks.
        ValueError: No action space takes a mask, or there are too many actions for one.
    """

    def __init__(self, sim: AgentBasedSimulation, action_spaces: Mapping[str, Any]) -> None:
        if not hasattr(sim, "vectorize"):
            raise TypeError(
                f"{type(sim).__name__} has no action masks: they are made for declared grid worlds"
            )
        self._store = getattr(sim, "unwrapped", sim).store
        self._twin = sim.vectorize(1, seed=0)
        self._spaces = action_spaces
        self._twin.reset()
        if all(map(_is_blank, self._all().values())):
            raise ValueError(
                "no action space here takes a mask, gymnasium has them for Discrete and "
                "MultiDiscrete; use CrossMoveActor, or RavelDiscreteActionWrapper(sim)"
            )

    def present(self) -> dict[str, Any]:
        """The mask of every agent by id, fresh arrays that ``action_space.sample`` takes.

        Raises:
            ValueError: There are too many actions for a mask.
        """
        getattr(self._twin, "unwrapped", self._twin).store.load(self._store.state())
        return self._all()

    def _all(self) -> dict[str, Any]:
        found = self._twin.action_masks()
        masks = dict.fromkeys(self._spaces)
        for name, group in self._twin.groups.items():
            for k, agent_id in enumerate(group.agent_ids):
                rows = mapped(lambda array, k=k: array[0, k], found.get(name, {}))
                masks[agent_id] = as_mask(self._spaces[agent_id], rows)
        return masks


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


def _is_blank(mask: Any) -> bool:
    return all(map(_is_blank, mask.values())) if isinstance(mask, dict) else mask is None
