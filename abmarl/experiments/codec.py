"""Observations and actions of an agent as RLlib's networks want them, and back."""

from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.experiments.execute import ExperimentError
from abmarl.external.rllib.points import ActionPoints, ObservationPoints, as_floats
from abmarl.sim.conversion import FlattenConversion


class Codec:
    """How the points of an agent's spaces are handed to a network and taken from it.

    The same for worlds that are stepped one by one and in batches, so what was trained in one way
    is played in the other: see `ObservationPoints` and `ActionPoints`. Actions of floats, which
    batches do not have, become a flat `Box`.

    Args:
        observation_space, action_space: spaces of the agent.
        owner: whose they are, for messages.

    Attributes:
        observation_space, action_space: what the network sees of them.

    Raises:
        ExperimentError: a space cannot be converted.
    """

    def __init__(self, observation_space: Any, action_space: Any, owner: str) -> None:
        self.owner = owner
        try:
            self._observations = ObservationPoints(observation_space, "observation_space")
            flatten = FlattenConversion(action_space, "action_space", one_hot=False)
            floats = not any(leaf.integer for leaf in flatten.layout.leaves)
            self._actions = (
                _Amounts(flatten) if floats else ActionPoints(action_space, "action_space")
            )
        except (TypeError, ValueError) as error:
            raise ExperimentError(f"{owner}: {error}") from error
        self.observation_space = self._observations.space
        self.action_space = self._actions.space

    def observe(self, point: Any) -> np.ndarray:
        """An observation of the simulation as the network's, float32 [width].

        Raises:
            ValueError: it does not lie in the agent's observation space.
        """
        try:
            return self._observations.convert(point)
        except ValueError as error:
            raise ValueError(f"{self.owner}: {error}") from None

    def act(self, value: Any) -> Any:
        """An action of the network as the simulation's."""
        return self._actions.restore(value)


class _Amounts:
    """Actions of floats as a flat `Box` of float32."""

    def __init__(self, flatten: FlattenConversion) -> None:
        self._flatten = flatten
        self.space: spaces.Box = as_floats(flatten.target)

    def restore(self, value: Any) -> Any:
        flat = self._flatten.target
        # Rounding to float32 may have moved the bounds outwards.
        return self._flatten.restore(np.clip(value, flat.low, flat.high).astype(flat.dtype))
