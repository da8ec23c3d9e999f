"""Policies that choose by a table of values."""

import os
from abc import abstractmethod
from typing import Any

import numpy as np

from abmarl.policies.base import Policy
from abmarl.policies.table import checked_table, empty_table, places, require_discrete
from abmarl.sim.spaces import contains


class QTablePolicy(Policy):
    """A policy that reads off a table how good each action is.

    Args:
        action_space, observation_space: `Discrete` spaces.
        q_table: float array [observations, actions], which is used as it is and not copied; None:
            a table of zeros.
        seed: as for `Policy`.

    Attributes:
        q_table: float64 [observations, actions], counted from the lowest point of each space. Of
            equally good actions the first one is the greedy one.

    Raises:
        TypeError: a space is not `Discrete`, or the table is not a float array.
        ValueError: the table has another shape than the spaces ask for.
        MemoryError: there is no room for the table.
    """

    def __init__(
        self,
        action_space: Any,
        observation_space: Any,
        q_table: np.ndarray | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(action_space, observation_space, seed)
        require_discrete("action_space", self.action_space)
        require_discrete("observation_space", self.observation_space)
        shape = (int(self.observation_space.n), int(self.action_space.n))
        self.q_table = empty_table(shape) if q_table is None else checked_table(q_table, shape)

    @abstractmethod
    def choose(self, rows: np.ndarray) -> np.ndarray:
        """Choose an action for each of some rows of the table.

        Args:
            rows: int [k], rows of the table.

        Returns:
            int [k], columns of the table.
        """

    def compute_action(self, obs: Any) -> int:
        """Choose an action.

        Raises:
            ValueError: the observation does not lie in its space.
        """
        if not contains(self.observation_space, obs):
            raise ValueError(
                f"the observation {obs!r:.200} does not lie in the policy's observation space "
                f"{self.observation_space}"
            )
        rows = np.array([int(obs) - int(self.observation_space.start)])
        return int(self.choose(rows)[0]) + int(self.action_space.start)

    def compute_action_batch(self, obs: np.ndarray, count: int) -> np.ndarray:
        """Choose an action for each of many observations, int64 [count].

        Does what as many calls of `compute_action` in a row do.

        Raises:
            ValueError: an observation does not lie in its space.
        """
        return self.choose(self.rows(obs)) + int(self.action_space.start)

    def rows(self, obs: Any) -> np.ndarray:
        """The rows of the table that observations stand for.

        Args:
            obs: a number or an int array.

        Raises:
            ValueError: an observation does not lie in its space.
        """
        return places(self.observation_space, obs, "observation")

    def columns(self, actions: Any) -> np.ndarray:
        """The columns of the table that actions stand for, as `rows` for observations."""
        return places(self.action_space, actions, "action")

    def save(self, path: str | os.PathLike) -> None:
        """Write the policy to a file, which `load` and `abmarl.external.load_policy` read.

        The random stream is not saved.

        Args:
            path: where to, ending in ``.npz``. An earlier file is replaced when the new one is
                whole.

        Raises:
            TypeError: the policy is of a class that a file cannot name.
            ValueError: the path does not end in ``.npz``.
            OSError: the file cannot be written.
        """
        from abmarl.rollout.table_file import save_table

        kind = type(self).__name__
        if _SAVED.get(kind) is not type(self):
            raise TypeError(
                f"a {kind} cannot be saved, only {' and '.join(_SAVED)} can; "
                f"save GreedyPolicy(action_space, observation_space, q_table) in its place"
            )
        save_table(path, kind, self, self._numbers())

    @classmethod
    def load(cls, path: str | os.PathLike, seed: int | None = None) -> "QTablePolicy":
        """Read a policy that `save` wrote. Reading executes nothing of the file.

        Args:
            path: the file.
            seed: of the policy's random stream, as for `Policy`.

        Returns:
            A policy of the class that was saved.

        Raises:
            ValueError: the file is no policy, is damaged, was written by a newer version, or holds
                a policy that is none of this class.
            OSError: it cannot be read.
        """
        from abmarl.rollout.table_file import read_table

        kind, arguments = read_table(path)
        made = _SAVED.get(kind)
        if made is None:
            raise ValueError(f"{path} holds a {kind!r:.60}; known are {' and '.join(_SAVED)}")
        if not issubclass(made, cls):
            raise ValueError(f"{path} holds a {kind}: read it with {kind}.load")
        try:
            return made(**arguments, seed=seed)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error

    def _numbers(self) -> dict[str, float]:
        """Further arguments of the class, for `save`."""
        return {}


class GreedyPolicy(QTablePolicy):
    """Always the best action of the table."""

    def choose(self, rows: np.ndarray) -> np.ndarray:
        """The best column of each row."""
        return self.q_table[rows].argmax(axis=-1)

    def probability(self, obs: Any, action: Any) -> Any:
        """Probability of choosing an action: 1 for the best one, else 0.

        Args:
            obs, action: numbers, or int arrays of one shape.

        Returns:
            float64 of that shape.

        Raises:
            ValueError: one of them does not lie in its space.
        """
        best = self.q_table[self.rows(obs)].argmax(axis=-1) == self.columns(action)
        return best.astype(float)[()]


class EpsilonSoftPolicy(QTablePolicy):
    """Any action at random with probability epsilon, else the best one of the table.

    Every action has a probability of at least epsilon divided by the number of actions
    (Sutton and Barto, Reinforcement Learning, 2nd edition, section 5.4).

    Args:
        action_space, observation_space, q_table, seed: as for `QTablePolicy`.
        epsilon: in [0, 1].

    Raises:
        TypeError: `epsilon` is not a number.
        ValueError: it does not lie in [0, 1].
    """

    def __init__(
        self,
        action_space: Any,
        observation_space: Any,
        q_table: np.ndarray | None = None,
        epsilon: float = 0.1,
        seed: int | None = None,
    ) -> None:
        super().__init__(action_space, observation_space, q_table, seed)
        self.epsilon = epsilon

    @property
    def epsilon(self) -> float:
        """How often the action is a random one, in [0, 1]."""
        return self._epsilon

    @epsilon.setter
    def epsilon(self, value: float) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise TypeError(f"epsilon must be a number, got {value!r:.60}")
        if not 0 <= value <= 1:
            raise ValueError(f"epsilon must lie in [0, 1], got {value}")
        self._epsilon = float(value)

    def choose(self, rows: np.ndarray) -> np.ndarray:
        """A random column with probability epsilon, else the best one."""
        columns = self.q_table[rows].argmax(axis=-1)
        if not self._epsilon:
            return columns
        # One draw decides on both, so that a batch draws what single calls draw one by one.
        drawn = self.rng.random(len(rows))
        explore = drawn < self._epsilon
        columns[explore] = drawn[explore] / self._epsilon * self.q_table.shape[1]
        return columns

    def probability(self, obs: Any, action: Any) -> Any:
        """Probability of choosing an action: epsilon / actions, and 1 - epsilon more for the best.

        Args:
            obs, action: numbers, or int arrays of one shape.

        Returns:
            float64 of that shape.

        Raises:
            ValueError: one of them does not lie in its space.
        """
        best = self.q_table[self.rows(obs)].argmax(axis=-1) == self.columns(action)
        return (self._epsilon / self.q_table.shape[1] + (1 - self._epsilon) * best)[()]

    def _numbers(self) -> dict[str, float]:
        return {"epsilon": self._epsilon}


_SAVED = {kind.__name__: kind for kind in (GreedyPolicy, EpsilonSoftPolicy)}
