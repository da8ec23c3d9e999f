"""Wrappers that turn complex discrete spaces into plain numbers, as tabular methods want them."""

from typing import Any

from gymnasium.spaces import Discrete

from abmarl.sim.agent_based_simulation import AgentBasedSimulation
from abmarl.sim.conversion import MOST_CHOICES, RavelConversion, is_flattened, joint_masks
from abmarl.sim.wrappers.sar_wrapper import ConversionWrapper


class RavelDiscreteWrapper(ConversionWrapper):
    """Turns observation and action spaces into `Discrete` ones; see `RavelConversion`.

    Null observations and null actions become numbers too.

    Args:
        sim: the simulation to wrap.
        actions, observations: whether these are ravelled; the other side stays as it is.

    Raises:
        TypeError: `sim` is not a simulation, or a space is of a kind that cannot be ravelled.
        ValueError: a space is not of integers, not bounded, or has too many points.
    """

    def _conversion(self, space: Any, name: str) -> RavelConversion:
        return RavelConversion(space, name)

    def action_masks(self) -> dict[str, Any]:
        """Return which actions would do something now, where the inner simulation knows.

        Returns:
            bool array ``[number of actions]`` by agent id: an action is there when it is in the
            masks of all its channels. Agents with more than 65,536 actions are left out, and
            those whose actions were flattened before. Where actions are not ravelled, the masks
            are those of the inner simulation.
        """
        masks = self.sim.action_masks()
        if not self.converts_actions:
            return masks
        return {
            agent_id: joint_masks(self._actions[agent_id], mask, (), f"agent {agent_id!r}")
            for agent_id, mask in masks.items()
            if self._actions[agent_id].num_points <= MOST_CHOICES
            and not is_flattened(self._actions[agent_id], mask)
        }

    def vectorize(self, num_envs: int, **kwargs: Any) -> Any:
        """Return many worlds of the inner simulation at once, ravelled in the same way."""
        inner = self.sim.vectorize(num_envs, **kwargs)
        return inner.ravel(self.converts_actions, self.converts_observations)


class RavelDiscreteActionWrapper(RavelDiscreteWrapper):
    """Turns action spaces into `Discrete` ones and leaves observations alone.

    Args:
        sim: the simulation to wrap.
    """

    def __init__(self, sim: AgentBasedSimulation) -> None:
        super().__init__(sim, observations=False)


def ravel_space(space: Any) -> Discrete:
    """Return the `Discrete` space that a space is ravelled to.

    Raises:
        TypeError, ValueError: see `RavelConversion`.
    """
    return RavelConversion(space).target


def ravel(space: Any, point: Any) -> int:
    """Return the number of a point of a space.

    Raises:
        TypeError, ValueError: the space cannot be ravelled, or the point does not lie in it.
    """
    return RavelConversion(space).convert(point)


def unravel(space: Any, point: int) -> Any:
    """Return the point of a space that has the given number.

    Raises:
        TypeError, ValueError: the space cannot be ravelled, or has no point of that number.
    """
    return RavelConversion(space).restore(point)
