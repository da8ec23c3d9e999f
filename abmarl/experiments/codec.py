"""Observations and actions of an agent as RLlib's networks want them, and back."""

from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.experiments.execute import ExperimentError
from abmarl.sim.flatten import FlattenConversion
from abmarl.sim.ravel import RavelConversion

MOST_CHOICES = 4096
"""Up to so many joint actions are one `Discrete`; more are a `MultiDiscrete` of their parts."""


class Codec:
    """How the points of an agent's spaces are handed to a network and taken from it.

    An observation becomes a flat `Box` of float32; a `Box` of three dimensions, a picture, stays
    as it is. Integer actions become one `Discrete` of all that the agent can do, or a
    `MultiDiscrete` where these are too many; actions of floats become a flat `Box`.

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
            self._observations = _observations(observation_space)
            self._actions = _actions(action_space)
        except (TypeError, ValueError) as error:
            raise ExperimentError(f"{owner}: {error}") from error
        self.observation_space = self._observations.target
        self.action_space = self._actions.target

    def observe(self, point: Any) -> np.ndarray:
        """An observation of the simulation as the network's.

        Raises:
            ValueError: it does not lie in the agent's observation space.
        """
        try:
            return self._observations.convert(point)
        except ValueError as error:
            raise ValueError(f"observation of {self.owner}: {error}") from None

    def act(self, value: Any) -> Any:
        """An action of the network as the simulation's."""
        return self._actions.restore(value)


class _AsIs:
    def __init__(self, space: Any) -> None:
        self.target = space

    def convert(self, point: Any) -> Any:
        return point

    restore = convert


class _Flat:
    """Observations as a flat `Box` of float32."""

    def __init__(self, space: Any) -> None:
        self._flatten = FlattenConversion(space, "observation_space")
        flat = self._flatten.target
        self.target = spaces.Box(flat.low.astype(np.float32), flat.high.astype(np.float32))

    def convert(self, point: Any) -> np.ndarray:
        return self._flatten.convert(point).astype(np.float32)


class _Amounts:
    """Actions of floats as a flat `Box` of float32."""

    def __init__(self, space: Any) -> None:
        self._flatten = FlattenConversion(space, "action_space")
        flat = self._flatten.target
        self.target = spaces.Box(flat.low.astype(np.float32), flat.high.astype(np.float32))

    def restore(self, value: Any) -> Any:
        flat = self._flatten.target
        # The bounds themselves may lie outside after rounding to float32.
        return self._flatten.restore(np.clip(value, flat.low, flat.high).astype(flat.dtype))


class _Choices:
    """Integer actions as one number each part, counted from 0."""

    def __init__(self, flatten: FlattenConversion) -> None:
        self._layout = flatten.layout
        self.target = spaces.MultiDiscrete(self._layout.high - self._layout.low + 1)

    def restore(self, value: Any) -> Any:
        return self._layout.point(self._layout.low + np.asarray(value, np.int64))


def _observations(space: Any) -> Any:
    if isinstance(space, spaces.Box) and len(space.shape) == 3:
        return _AsIs(space)
    return _Flat(space)


def _actions(space: Any) -> Any:
    if isinstance(space, spaces.Discrete) and not space.start:
        return _AsIs(space)
    flatten = FlattenConversion(space, "action_space", one_hot=False)
    integer = [leaf.integer for leaf in flatten.layout.leaves]
    if not any(integer):
        return _Amounts(space)
    if not all(integer):
        raise TypeError(
            f"its action_space mixes integers and floats, which RLlib's networks cannot choose "
            f"together: {space!r:.200}"
        )
    sizes = flatten.layout.high - flatten.layout.low + 1.0
    if all(leaf.bounded for leaf in flatten.layout.leaves) and np.prod(sizes) > MOST_CHOICES:
        return _Choices(flatten)
    return RavelConversion(space, "its action_space")
