"""Policies of single agents: the base class, random ones, and those with a table of values."""

import copy
import os
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

import abmarl
from abmarl.archive import (
    archive_path,
    reading_archive,
    save_archive,
    space_from_json,
    space_to_json,
)
from abmarl.resources import check_memory
from abmarl.sim.spaces import contains, to_gymnasium

FORMAT = "abmarl-policy"
FORMAT_VERSION = 1


class Policy(ABC):
    """A mapping of observations to actions.

    Args:
        action_space: The space of the actions: a space, or a dict of spaces.
        observation_space: The space of the observations, likewise.
        seed: Seed of the policy's own random stream; None draws it from the system.

    Attributes:
        action_space: The space of the actions, as gymnasium's.
        observation_space: The space of the observations, as gymnasium's.
        rng: The policy's random stream.

    Raises:
        TypeError: When something given for a space is none, or the seed is not an int.
        ValueError: When the seed is negative.
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
            obs: A point of the observation space.

        Returns:
            A point of the action space.
        """

    def compute_action_batch(self, obs: Any, count: int) -> Any:
        """Choose an action for each of many observations, one after the other.

        Args:
            obs: Array ``[count, *shape]``, or such arrays nested as the observation space.
            count: Number of observations.

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
        """Prepare for an episode. Called at the start of each; by default nothing is done.

        What was learned and the random stream go on.
        """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.action_space}, {self.observation_space})"


class RandomPolicy(Policy):
    """Uniformly random actions, whatever is observed.

    Args:
        action_space: As for `Policy`.
        observation_space: As for `Policy`.
        seed: As for `Policy`.
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
        """Sample the action space ``count`` times; see `Policy.compute_action_batch`."""
        out = create_empty_array(self.action_space, count)
        if not count:
            return out
        return concatenate(self.action_space, [self._sampled.sample() for _ in range(count)], out)

    def probability(self, obs: Any, action: Any) -> Any:
        """Return the probability of choosing an action of a `Discrete` space.

        Args:
            obs: A number, or an int array.
            action: A number, or an int array of the same shape.

        Returns:
            float64 of that shape.

        Raises:
            TypeError: When the action space is not `Discrete`.
        """
        space = require_discrete("action_space", self.action_space)
        return np.full(np.shape(action), 1 / int(space.n))[()]


class QTablePolicy(Policy):
    """A policy that chooses by a table with the value of every action.

    Args:
        action_space: A `Discrete` space.
        observation_space: A `Discrete` space.
        q_table: float array [observations, actions], which is used as it is and not copied; None:
            a table of zeros.
        seed: As for `Policy`.

    Attributes:
        q_table: float64 [observations, actions], counted from the lowest point of each space. Of
            equally good actions the first one is the greedy one.

    Raises:
        TypeError: When a space is not `Discrete`, or the table is not a float array.
        ValueError: When the table has another shape than the spaces ask for.
        MemoryError: When there is no room for the table.
    """

    action_space: spaces.Discrete
    observation_space: spaces.Discrete

    def __init__(
        self,
        action_space: Any,
        observation_space: Any,
        q_table: np.ndarray | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(action_space, observation_space, seed)
        self.action_space = require_discrete("action_space", self.action_space)
        self.observation_space = require_discrete("observation_space", self.observation_space)
        shape = (int(self.observation_space.n), int(self.action_space.n))
        self.q_table = _zeros(shape) if q_table is None else _checked(q_table, shape)

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
            ValueError: When the observation does not lie in its space.
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
            ValueError: When an observation does not lie in its space.
        """
        return self.choose(self.rows(obs)) + int(self.action_space.start)

    def rows(self, obs: Any) -> np.ndarray:
        """Return the rows of the table that observations stand for.

        Args:
            obs: A number or an int array.

        Raises:
            ValueError: When an observation does not lie in its space.
        """
        return _offsets(self.observation_space, obs, "observation")

    def columns(self, actions: Any) -> np.ndarray:
        """Return the columns of the table that actions stand for, as `rows` for observations."""
        return _offsets(self.action_space, actions, "action")

    def save(self, path: str | os.PathLike) -> None:
        """Write the policy to a file, which `load` and `abmarl.external.load_policy` read.

        The random stream is not saved.

        Args:
            path: Where to, ending in ``.npz``. An earlier file is replaced when the new one is
                complete.

        Raises:
            TypeError: When the policy is of a class that a file cannot name.
            ValueError: When the path does not end in ``.npz``, or exists and is not a file.
            OSError: When the file cannot be written.
        """
        kind = type(self).__name__
        if _SAVED.get(kind) is not type(self):
            raise TypeError(
                f"a {kind} cannot be saved, only {' and '.join(_SAVED)} can; "
                f"save GreedyPolicy(action_space, observation_space, q_table) in its place"
            )
        metadata = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "kind": kind,
            "numbers": self._numbers(),
            "observation_space": space_to_json(self.observation_space),
            "action_space": space_to_json(self.action_space),
            "versions": {"abmarl": abmarl.__version__},
        }
        save_archive(archive_path(path, "a policy"), metadata, {("q_table",): self.q_table})

    @classmethod
    def load(cls, path: str | os.PathLike, seed: int | None = None) -> "QTablePolicy":
        """Read a policy that `save` wrote. Reading executes nothing of the file.

        Args:
            path: The file.
            seed: Seed of the policy's random stream, as for `Policy`.

        Returns:
            A policy of the class that was saved.

        Raises:
            ValueError: When the file is no policy, is damaged, was written by a newer version, or
                holds a policy that is none of this class.
            MemoryError: When it does not fit.
            OSError: When it cannot be read.
        """
        path = os.fspath(path)
        with reading_archive(path, "a policy", FORMAT, FORMAT_VERSION) as (metadata, arrays):
            numbers = {str(name): float(value) for name, value in metadata["numbers"].items()}
            given: dict[str, Any] = {
                side: _read_space(metadata[side], side, path)
                for side in ("action_space", "observation_space")
            }
            table, kind = arrays["q_table",], str(metadata["kind"])
        made = _SAVED.get(kind)
        if made is None:
            raise ValueError(f"{path} holds a {kind!r:.60}; known are {' and '.join(_SAVED)}")
        if not issubclass(made, cls):
            raise ValueError(f"{path} holds a {kind}: read it with {kind}.load")
        try:
            return made(**given, q_table=table, seed=seed, **numbers)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error

    def _numbers(self) -> dict[str, float]:
        """Return further arguments of the class, for `save`."""
        return {}


class GreedyPolicy(QTablePolicy):
    """The best action of the table, always."""

    def choose(self, rows: np.ndarray) -> np.ndarray:
        """Return the best column of each row."""
        return self.q_table[rows].argmax(axis=-1)

    def probability(self, obs: Any, action: Any) -> Any:
        """Return the probability of choosing an action: 1 for the best one, else 0.

        Args:
            obs: A number, or an int array.
            action: A number, or an int array of the same shape.

        Returns:
            float64 of that shape.

        Raises:
            ValueError: When one of them does not lie in its space.
        """
        best = self.q_table[self.rows(obs)].argmax(axis=-1) == self.columns(action)
        return best.astype(float)[()]


class EpsilonSoftPolicy(QTablePolicy):
    """A random action with probability epsilon, else the best one of the table.

    Every action has a probability of at least epsilon divided by the number of actions
    (Sutton and Barto, Reinforcement Learning, 2nd edition, section 5.4).

    Args:
        action_space: As for `QTablePolicy`.
        observation_space: As for `QTablePolicy`.
        q_table: As for `QTablePolicy`.
        epsilon: A number in [0, 1].
        seed: As for `Policy`.

    Raises:
        TypeError: When ``epsilon`` is not a number.
        ValueError: When it does not lie in [0, 1].
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
        """Return a random column with probability epsilon, else the best one."""
        columns = self.q_table[rows].argmax(axis=-1)
        if not self._epsilon:
            return columns
        # One draw decides on both, so that a batch draws what single calls draw one by one.
        drawn = self.rng.random(len(rows))
        explore = drawn < self._epsilon
        columns[explore] = drawn[explore] / self._epsilon * self.q_table.shape[1]
        return columns

    def probability(self, obs: Any, action: Any) -> Any:
        """Return the probability of an action: epsilon / actions, 1 - epsilon more for the best.

        Args:
            obs: A number, or an int array.
            action: A number, or an int array of the same shape.

        Returns:
            float64 of that shape.

        Raises:
            ValueError: When one of them does not lie in its space.
        """
        best = self.q_table[self.rows(obs)].argmax(axis=-1) == self.columns(action)
        return (self._epsilon / self.q_table.shape[1] + (1 - self._epsilon) * best)[()]

    def _numbers(self) -> dict[str, float]:
        return {"epsilon": self._epsilon}


# The classes that a file can name.
_SAVED = {kind.__name__: kind for kind in (GreedyPolicy, EpsilonSoftPolicy)}


def require_discrete(name: str, space: spaces.Space) -> spaces.Discrete:
    """Return a space if it is `Discrete`.

    Raises:
        TypeError: When it is not; says what it is.
    """
    if not isinstance(space, spaces.Discrete):
        raise TypeError(
            f"{name} must be Discrete, got {space!r:.200}; "
            f"RavelDiscreteWrapper(sim) and vec.ravel() make Discrete spaces of others"
        )
    return space


def _offsets(space: spaces.Discrete, values: Any, kind: str) -> np.ndarray:
    """Return how far values lie above the lowest point of their space, int64."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise ValueError(f"{kind}s must be integers of {space}, got {array.dtype}")
    offsets = array.astype(np.int64) - int(space.start)
    outside = (offsets < 0) | (offsets >= int(space.n))
    if outside.any():
        raise ValueError(
            f"the {kind} {array[outside].flat[0]} does not lie in the policy's space {space}"
        )
    return offsets


def _zeros(shape: tuple[int, int]) -> np.ndarray:
    check_memory(
        8 * shape[0] * shape[1],
        f"a table of {shape[0]} observations and {shape[1]} actions takes",
        "coarser observations have fewer points",
    )
    return np.zeros(shape)


def _checked(table: Any, shape: tuple[int, int]) -> np.ndarray:
    if not isinstance(table, np.ndarray) or table.dtype != np.float64:
        raise TypeError(
            f"q_table must be a float64 array, got {getattr(table, 'dtype', type(table).__name__)}"
        )
    if table.shape != shape:
        raise ValueError(
            f"q_table must have shape {shape}, observations by actions, got {table.shape}"
        )
    return table


def _read_space(description: Any, side: str, path: str) -> spaces.Discrete:
    space = space_from_json(description)
    if not isinstance(space, spaces.Discrete):
        raise ValueError(f"{path} is damaged: its {side} is {space!r:.100}, it must be Discrete")
    return space
