"""What a policy is, and the one that chooses at random."""

import copy
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

from abmarl.policies.table import require_discrete
from abmarl.sim.spaces import to_gymnasium


class Policy(ABC):
    """Maps observations to actions.

    Args:
        action_space: the space of the actions: a space, or a dict of spaces.
        observation_space: the space of the observations, likewise.
        seed: of the policy's own random stream; None draws it from the system.

    Attributes:
        action_space, observation_space: the spaces, as gymnasium's.
        rng: the policy's random stream.

    Raises:
        TypeError: something given for a space is none, or the seed is not an int.
        ValueError: the seed is negative.
    """

    def __init__(self, action_space: Any, observation_space: Any, seed: int | None = None) -> None:
        self.action_space = to_gymnasium(action_space, "action_space")
        self.observation_space = to_gymnasium(observation_space, "observation_space")
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer)):
            raise TypeError(f"the seed of a policy must be None or an int, got {seed!r:.60}")
        if seed is not None and seed < 0:
            raise ValueError(f"the seed of a policy must not be negative, got {seed}")
        self.rng = np.random.default_rng(seed)

    @abstractmethod
    def compute_action(self, obs: Any) -> Any:
        """Choose an action.

        Args:
            obs: a point of the observation space.

        Returns:
            A point of the action space.
        """

    def compute_action_batch(self, obs: Any, count: int) -> Any:
        """Choose an action for each of many observations, one after the other.

        Args:
            obs: array ``[count, *shape]``, or such arrays nested as the observation space.
            count: how many observations there are.

        Returns:
            Array ``[count, *shape]``, or such arrays nested as the action space.
        """
        out = create_empty_array(self.action_space, count)
        if not count:
            return out
        points = iterate(batch_space(self.observation_space, count), obs)
        actions = [self.compute_action(point) for point in points]
        return concatenate(self.action_space, actions, out)

    def update(self, *args: Any, **kwargs: Any) -> None:  # noqa: B027 - not every policy learns
        """Learn from experience, in whatever form a trainer hands it over.

        By default nothing is learned.
        """

    def reset(self) -> None:  # noqa: B027 - few policies remember anything
        """Get ready for an episode. Called at the start of each; by default nothing is done.

        What was learned and the random stream go on.
        """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.action_space}, {self.observation_space})"


class RandomPolicy(Policy):
    """Uniformly random actions, whatever is seen.

    Args:
        action_space, observation_space, seed: as for `Policy`.
    """

    def __init__(self, action_space: Any, observation_space: Any, seed: int | None = None) -> None:
        super().__init__(action_space, observation_space, seed)
        # A copy, because sampling from the agent's own space would disturb its stream.
        self._sampled = copy.deepcopy(self.action_space)
        self._sampled.seed(int(self.rng.integers(2**31)))

    def compute_action(self, obs: Any) -> Any:
        """Sample the action space; the observation does not matter."""
        return self._sampled.sample()

    def compute_action_batch(self, obs: Any, count: int) -> Any:
        """Sample the action space `count` times; see `Policy.compute_action_batch`."""
        out = create_empty_array(self.action_space, count)
        if not count:
            return out
        return concatenate(self.action_space, [self._sampled.sample() for _ in range(count)], out)

    def probability(self, obs: Any, action: Any) -> Any:
        """Probability of choosing an action of a `Discrete` space.

        Args:
            obs, action: numbers, or int arrays of one shape.

        Returns:
            float64 of that shape.

        Raises:
            TypeError: the action space is not `Discrete`.
        """
        require_discrete("action_space", self.action_space)
        return np.full(np.shape(action), 1 / int(self.action_space.n))[()]
