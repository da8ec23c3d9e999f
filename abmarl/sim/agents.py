"""Agents: who is in a simulation, what they see and what they can do. Data, no behaviour.

Agents are sums of capabilities by cooperative multiple inheritance: every ``__init__`` takes what
is its own and passes the rest on, every ``finalize`` calls the next one. What is left over of the
arguments arrives at `PrincipleAgent` and is ignored, as existing code relies on. It is also
remembered: when a parameter turns out to be missing, the error names the arguments that no class
took, because one of them may be the misspelt one.
"""

import copy
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Space

from abmarl.sim import spaces


class PrincipleAgent:
    """Something with an id in a simulation; it neither observes nor acts.

    Args:
        id: the name of the agent, also its key in the simulation's dict of agents.
        seed: seed of the agent's spaces; None leaves them unseeded.
        **kwargs: ignored.

    Attributes:
        required_parameters: names of the attributes that a class adds to those that may not be None
            in a configured agent. The classes it inherits from add theirs.
    """

    required_parameters: ClassVar[tuple[str, ...]] = ("id",)
    _all_required: ClassVar[tuple[str, ...]] = ("id",)
    # Bookkeeping that says nothing of what an agent is.
    _uncompared: ClassVar[frozenset[str]] = frozenset({"_ignored", "_seeded"})
    _ignored: tuple[str, ...] = ()
    _seeded: dict[str, Space] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        names = (
            name
            for base in reversed(cls.__mro__)
            for name in base.__dict__.get("required_parameters", ())
        )
        cls._all_required = tuple(dict.fromkeys(names))

    def __init__(self, id: str | None = None, seed: int | None = None, **kwargs: Any) -> None:
        self.id = id
        self.seed = seed
        self.active = True
        if kwargs:
            self._ignored = tuple(kwargs)

    @property
    def id(self) -> str:
        """The agent's name; not to be changed once the agent is in a set or a simulation."""
        return self._id

    @id.setter
    def id(self, value: str | None) -> None:
        if value is not None and not isinstance(value, str):
            raise TypeError(
                f"an agent's id must be a str, got {type(value).__name__} {value!r:.60}; "
                f"for a number write id=str(number)"
            )
        if value == "__all__":
            raise ValueError(
                "an agent's id cannot be '__all__': managers report the end of an episode under it"
            )
        self._id: Any = value

    @property
    def seed(self) -> int | None:
        """Seed of the agent's spaces: None or an int that is not negative."""
        return self._seed

    @seed.setter
    def seed(self, value: int | None) -> None:
        if value is not None:
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise TypeError(
                    f"the seed of agent {self.id!r} must be None or an int, "
                    f"got {type(value).__name__} {value!r:.60}"
                )
            if value < 0:
                raise ValueError(
                    f"the seed of agent {self.id!r} is {value}, but a seed must not be negative"
                )
            value = int(value)
        self._seed = value
        if self._seeded is not None:
            self._seeded = None

    @property
    def active(self) -> bool:
        """Whether the agent takes part in the simulation, True at first."""
        return self._active

    @active.setter
    def active(self, value: bool) -> None:
        if value is not True and value is not False:
            if not isinstance(value, np.bool_):
                raise TypeError(
                    f"active of agent {self.id!r} must be True or False, "
                    f"got {type(value).__name__} {value!r:.60}"
                )
            value = bool(value)
        self._active = value

    @property
    def configured(self) -> bool:
        """Whether the agent has all it needs. Subclasses add to ``super().configured``."""
        return not self.missing_parameters

    @property
    def missing_parameters(self) -> tuple[str, ...]:
        """Names of the required parameters that are still None."""
        return tuple([name for name in self._all_required if getattr(self, name, None) is None])

    def finalize(self, **kwargs: Any) -> None:
        """Make the agent ready for use. Doing it again changes nothing.

        Raises:
            ValueError: the agent is not configured.
        """
        self.check_configured()

    def check_configured(self) -> None:
        """Refuse an agent that is not configured.

        Raises:
            ValueError: names the agent, what is missing and which arguments nobody took.
        """
        if self.configured:
            return
        missing = self.missing_parameters
        if not missing:
            # A class that only overrides `configured` does not say what it needs.
            missing = tuple(
                name for name, value in vars(self).items() if value is None and name[0] != "_"
            )
        text = f"agent {self.id!r} ({type(self).__name__}) is not configured"
        if missing:
            text += f": {', '.join(missing)} missing"
        if self._ignored:
            text += f"; arguments that no class took: {', '.join(self._ignored)}"
        raise ValueError(text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PrincipleAgent):
            return NotImplemented
        return _same(self, other, set())

    def __hash__(self) -> int:
        # Equal agents have equal ids, and the id is the one attribute that does not change while an
        # agent lives: hashing anything else would lose agents from sets when they move.
        return hash(self._id)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(id={self.id!r})"

    def _compared(self) -> dict[str, Any]:
        """Return what equality looks at; a class that keeps attributes elsewhere adds them."""
        return {name: value for name, value in vars(self).items() if name not in self._uncompared}

    def _accepted_space(self, name: str, value: Any) -> Any:
        """Check a space on the way in; dicts stay as they are, for they may be extended later."""
        if value is None or isinstance(value, (Space, dict)):
            return value
        if spaces.is_space(value):
            return spaces.to_gymnasium(value, f"{name} of agent {self.id!r}")
        raise TypeError(
            f"{name} of agent {self.id!r} must be a space, a dict of spaces or None, "
            f"got {type(value).__name__} {value!r:.60}"
        )

    def _final_space(self, name: str, space: Any) -> Space:
        """Return `space` as a gymnasium space, seeded and the agent's own when there is a seed."""
        if not isinstance(space, Space):
            space = spaces.to_gymnasium(space, f"{name} of agent {self.id!r}")
        if self._seed is None:
            return space
        # Seeding twice would rewind the stream, hence only what has not been seeded yet.
        seeded = self._seeded or {}
        if seeded.get(name) is not space:
            space = copy.deepcopy(space)
            space.seed(self._seed)
            # A new dict, because a shallow copy of the agent shares the old one.
            self._seeded = {**seeded, name: space}
        return space

    def _check_null(self, name: str, point: Any, space_name: str, space: Space) -> None:
        if spaces.is_given(point) and not spaces.known_to_contain(space, point):
            raise ValueError(
                f"{name} of agent {self.id!r} is {point!r:.200}, "
                f"which does not lie in its {space_name} {space!r:.200}"
            )


class ActingAgent(PrincipleAgent):
    """An agent that can act.

    Args:
        action_space: a space (gymnasium's or old gym's), a (nested) dict of spaces, or None.
        null_action: the action that stands for doing nothing; None when there is none.
        **kwargs: for the other classes of the agent.
    """

    required_parameters: ClassVar[tuple[str, ...]] = ("action_space",)

    def __init__(self, action_space: Any = None, null_action: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.action_space = action_space
        self.null_action = null_action

    @property
    def action_space(self) -> Any:
        """The space of actions; a dict may be extended until `finalize` makes a `Dict` of it."""
        return self._action_space

    @action_space.setter
    def action_space(self, value: Any) -> None:
        self._action_space = self._accepted_space("action_space", value)

    def finalize(self, **kwargs: Any) -> None:
        """Make a gymnasium space of the action space, seed it, check the null action.

        Raises:
            TypeError: something in the dict of spaces is not a space.
            ValueError: the agent is not configured, or the null action is not in the space.
        """
        super().finalize(**kwargs)
        self._action_space = space = self._final_space("action_space", self._action_space)
        self._check_null("null_action", self.null_action, "action_space", space)


class ObservingAgent(PrincipleAgent):
    """An agent that can observe.

    Args:
        observation_space: a space (gymnasium's or old gym's), a (nested) dict of spaces, or None.
        null_observation: what an agent that is done is shown; None when there is none.
        **kwargs: for the other classes of the agent.
    """

    required_parameters: ClassVar[tuple[str, ...]] = ("observation_space",)

    def __init__(
        self, observation_space: Any = None, null_observation: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.observation_space = observation_space
        self.null_observation = null_observation

    @property
    def observation_space(self) -> Any:
        """The space of observations; a dict may be extended until `finalize`."""
        return self._observation_space

    @observation_space.setter
    def observation_space(self, value: Any) -> None:
        self._observation_space = self._accepted_space("observation_space", value)

    def finalize(self, **kwargs: Any) -> None:
        """Make a gymnasium space of the observation space, seed it, check the null observation.

        Raises:
            TypeError: something in the dict of spaces is not a space.
            ValueError: the agent is not configured, or the null observation is not in the space.
        """
        super().finalize(**kwargs)
        self._observation_space = space = self._final_space(
            "observation_space", self._observation_space
        )
        self._check_null("null_observation", self.null_observation, "observation_space", space)


class Agent(ObservingAgent, ActingAgent):
    """An agent that observes and acts, and so can learn."""


def is_agent(value: Any) -> bool:
    """Tell whether `value` is an agent that both observes and acts, of whatever class."""
    return isinstance(value, ObservingAgent) and isinstance(value, ActingAgent)


def _same(a: Any, b: Any, pairs: set[tuple[int, int]]) -> bool:
    """Equality that looks into arrays, dicts, sequences and agents.

    `pairs` holds the agents under comparison, so that agents which refer to each other end.
    """
    if a is b:
        return True
    if isinstance(a, PrincipleAgent) and isinstance(b, PrincipleAgent):
        if (id(a), id(b)) in pairs:
            return True
        pairs.add((id(a), id(b)))
        return _same(a._compared(), b._compared(), pairs)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        # An object array holds who knows what, agents for example: look at the items.
        if getattr(a, "dtype", None) == getattr(b, "dtype", None) == np.dtype(object):
            return a.shape == b.shape and _same(a.tolist(), b.tolist(), pairs)
        return np.array_equal(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key], pairs) for key in a)
    if isinstance(a, (list, tuple)) and type(a) is type(b):
        return len(a) == len(b) and all(_same(x, y, pairs) for x, y in zip(a, b, strict=True))
    return bool(a == b)
