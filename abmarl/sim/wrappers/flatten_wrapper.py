"""Wrappers that turn complex spaces into flat boxes, as neural networks want them."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box

from abmarl.sim.agent_based_simulation import AgentBasedSimulation
from abmarl.sim.conversion import FlattenConversion
from abmarl.sim.wrappers.sar_wrapper import ConversionWrapper


class FlattenWrapper(ConversionWrapper):
    """Turns observation and action spaces into flat `Box` ones; see `FlattenConversion`.

    Null observations and null actions are flattened too. For flat observations and one number per
    action: ``RavelDiscreteActionWrapper(FlattenWrapper(sim, actions=False))``.

    Args:
        sim: the simulation to wrap.
        one_hot: whether a `Discrete` becomes one entry for each of its points; else it becomes one
            entry that counts from 0.
        actions, observations: whether these are flattened; the other side stays as it is.

    Raises:
        TypeError: `sim` is not a simulation, or a space is of a kind that cannot be flattened.
    """

    def __init__(
        self,
        sim: AgentBasedSimulation,
        one_hot: bool = True,
        actions: bool = True,
        observations: bool = True,
    ) -> None:
        self.one_hot = one_hot
        super().__init__(sim, actions, observations)

    def _conversion(self, space: Any, name: str) -> FlattenConversion:
        return FlattenConversion(space, name, self.one_hot)

    def action_masks(self) -> dict[str, Any]:
        """Return the inner masks, none where actions are flat: entries of those are no choices."""
        return {} if self.converts_actions else super().action_masks()

    def vectorize(self, num_envs: int, **kwargs: Any) -> Any:
        """Return many worlds of the inner simulation at once, flattened in the same way."""
        inner = self.sim.vectorize(num_envs, **kwargs)
        return inner.flatten(self.converts_actions, self.converts_observations, self.one_hot)


class FlattenActionWrapper(FlattenWrapper):
    """Turns action spaces into flat `Box` ones and leaves observations alone.

    Args:
        sim: the simulation to wrap.
        one_hot: see `FlattenWrapper`.
    """

    def __init__(self, sim: AgentBasedSimulation, one_hot: bool = True) -> None:
        super().__init__(sim, one_hot, observations=False)


def flatten_space(space: Any, one_hot: bool = True) -> Box:
    """Return the `Box` that a space is flattened to.

    Raises:
        TypeError, ValueError: see `FlattenConversion`.
    """
    return FlattenConversion(space, one_hot=one_hot).target


def flatten(space: Any, point: Any, one_hot: bool = True) -> np.ndarray:
    """Return a point of a space as a flat array.

    Raises:
        TypeError, ValueError: the space cannot be flattened, or the point does not lie in it.
    """
    return FlattenConversion(space, one_hot=one_hot).convert(point)


def unflatten(space: Any, point: np.ndarray, one_hot: bool = True) -> Any:
    """Return the point of a space that a flat array stands for.

    Raises:
        TypeError, ValueError: the space cannot be flattened, or the array is not in the flat space.
    """
    return FlattenConversion(space, one_hot=one_hot).restore(point)
