"""OpenSpiel: a manager as an environment of ``open_spiel.python.rl_environment``."""

import operator
from collections.abc import Container, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete

from abmarl.external import adapter
from abmarl.extras import load
from abmarl.managers import AllStepManager, SimulationManager, TurnBasedManager
from abmarl.sim.agents import Agent, PrincipleAgent
from abmarl.sim.conversion import MOST_CHOICES
from abmarl.sim.spaces import is_given

rl_environment = load("open_spiel.python.rl_environment", "openspiel", "abmarl.external.openspiel")
TimeStep, StepType = rl_environment.TimeStep, rl_environment.StepType

__all__ = ["ByPlayer", "OpenSpielWrapper", "Player"]


class ByPlayer(dict):
    """A value per player, by agent id in the order of the players, or by the player's number.

    Iteration, length and comparison are those of the dict by id.
    """

    def __missing__(self, player: Any) -> Any:
        try:
            number = operator.index(player)
        except TypeError:
            number = -1
        if not 0 <= number < len(self):
            raise KeyError(
                f"no player {player!r}: they are {', '.join(self)}, or 0..{len(self) - 1}"
            )
        return list(self.values())[number]


class Player(str):
    """The id of an agent that also counts as the number of the player.

    It equals both and serves as an index of a list. As a key of a dict it is the id.
    """

    number: int

    def __new__(cls, agent_id: str, number: int) -> "Player":
        self = super().__new__(cls, agent_id)
        self.number = number
        return self

    def __getnewargs__(self) -> tuple[str, int]:  # type: ignore[override]
        return str(self), self.number

    def __index__(self) -> int:
        return self.number

    __int__ = __index__
    __hash__ = str.__hash__

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, str):
            return str.__eq__(self, other)
        try:
            return self.number == operator.index(other)
        except TypeError:
            return False

    def __ne__(self, other: Any) -> bool:
        return not self == other


class OpenSpielWrapper:
    """An environment in which the agents of OpenSpiel's Python algorithms play a simulation.

    What a `TimeStep` holds per player is keyed by agent id and also answers to the player's number,
    which is how OpenSpiel's agents ask. Players are the learning agents in the order of the
    simulation.

    Args:
        sim: A `TurnBasedManager`, or an `AllStepManager` for simultaneous moves, of a simulation
            whose learning agents have `Discrete` spaces.
        discounts: A number in [0, 1] for all agents, or one per agent id.
        horizon: Steps after which an episode is cut off; None: never.
        one_hot: Whether an `info_state` is a list of floats, one per point of the observation
            space and 1 for the observation, as networks want it; else the observation, an int.

    Attributes:
        sim: The manager.

    Raises:
        TypeError: `sim` is not such a manager, a space is not `Discrete`, or a parameter is of the
            wrong kind.
        ValueError: No agent learns, an agent has too many actions, or a parameter is out of range.
    """

    def __init__(
        self,
        sim: SimulationManager,
        discounts: float | Mapping[str, float] = 1.0,
        horizon: int | None = None,
        one_hot: bool = False,
    ) -> None:
        if not isinstance(sim, TurnBasedManager | AllStepManager):
            raise TypeError(
                f"OpenSpielWrapper needs a TurnBasedManager or an AllStepManager, "
                f"got {type(sim).__name__}"
            )
        if not isinstance(one_hot, bool):
            raise TypeError(f"one_hot must be True or False, got {one_hot!r:.60}")
        self._learners = adapter.learning_agents(sim, "OpenSpielWrapper")
        for agent in self._learners.values():
            _check_spaces(agent, one_hot)
        self.sim = sim
        self.discounts = discounts
        self._horizon = adapter.check_horizon(horizon)
        self._one_hot = one_hot
        self._numbers = {agent_id: number for number, agent_id in enumerate(self._learners)}
        self._turn: Any = None
        self._length = 0
        self._time_step: Any = None
        self._seed: dict[str, Any] = {}
        # Agents that were done at the present time step, and the action masks of the others.
        self._done: frozenset[str] = frozenset()
        self._masks: Mapping[str, np.ndarray] = {}

    @property
    def discounts(self) -> ByPlayer:
        """The discount of every agent; may be set to a number or to a dict by agent id."""
        return ByPlayer(self._discounts)

    @discounts.setter
    def discounts(self, value: float | Mapping[str, float]) -> None:
        self._discounts = _discounts_of(value, list(self._learners))

    @property
    def agents(self) -> dict[str, PrincipleAgent]:
        """The agents of the simulation, those that do not learn included."""
        return self.sim.agents

    @property
    def num_players(self) -> int:
        """How many agents learn."""
        return len(self._learners)

    @property
    def is_turn_based(self) -> bool:
        """Whether one agent acts at a time."""
        return isinstance(self.sim, TurnBasedManager)

    @property
    def num_actions_per_step(self) -> int:
        """How many actions a step takes: one per player, or one where they take turns."""
        return 1 if self.is_turn_based else self.num_players

    @property
    def max_game_length(self) -> int | None:
        """Steps of the longest episode; None: there is no limit."""
        return self._horizon

    @property
    def current_player(self) -> Any:
        """The `Player` on turn; OpenSpiel's number for simultaneous moves where all act."""
        if not self.is_turn_based:
            return rl_environment.SIMULTANEOUS_PLAYER_ID
        return None if self._turn is None else Player(self._turn, self._numbers[self._turn])

    def seed(self, seed: Any = None) -> None:
        """Set the seed of the next `reset`; None: it goes on with the random streams."""
        self._seed = {} if seed is None else {"seed": seed}

    def get_time_step(self) -> Any:
        """Return the last `TimeStep` once more."""
        if self._time_step is None:
            raise ValueError("nothing has happened yet: call reset() before get_time_step()")
        return self._time_step

    def reset(self, **kwargs: Any) -> Any:
        """Start an episode.

        Args:
            **kwargs: For the manager's reset. With a ``seed``, turns begin with the first agent.

        Returns:
            The first `TimeStep`, without rewards and discounts.

        Raises:
            TypeError, ValueError: The seed is invalid; everything is as before.
        """
        kwargs = {**self._seed, **kwargs}
        adapter.prepare_seed(self.sim, kwargs.get("seed"))
        self._time_step = None
        obs = self.sim.reset(**kwargs)
        self._seed, self._length = {}, 0
        self._turn = next(iter(obs))
        self._time_step = TimeStep(self._observations(obs), None, None, StepType.FIRST)
        return self._time_step

    def step(self, actions: Sequence[int], **kwargs: Any) -> Any:
        """Play one step; after the last one, or before the first, start an episode instead.

        Args:
            actions: The actions of all players in their order, or in a turn-based simulation that
                of the one on turn. Those of agents that are done are ignored.
            **kwargs: For the manager's step.

        Returns:
            The `TimeStep`. At the end of an episode the discounts are 0, except those of agents
            that the horizon stopped.

        Raises:
            ValueError: There are too many or too few actions, or one is not in its space. Nothing
                has changed then.
            TypeError: `actions` is not a list.
        """
        if self._time_step is None or self._time_step.last():
            return self.reset(**kwargs)
        asked = {self._turn: self._learners[self._turn]} if self.is_turn_based else self._learners
        given = _actions_of(actions, asked, self._done)
        obs, rewards, dones, _ = self.sim.step(given, **kwargs)
        self._length += 1
        over, cut = dones["__all__"], self._length == self._horizon
        if not over:
            self._turn = next(reversed(obs))
        found = dict.fromkeys(self._learners, 0.0) | rewards
        discounts = self._discounts
        if over:
            discounts = dict.fromkeys(self._learners, 0.0)
        elif cut:
            # Those who would have been on turn later have rewards to get, and may have ended.
            waiting = self._learners.keys() - rewards.keys() - self.sim.done_agents
            found |= {agent_id: self.sim.sim.get_reward(agent_id) for agent_id in waiting}
            ended = self.sim.done_agents.union(filter(self.sim.sim.get_done, waiting))
            discounts = discounts | dict.fromkeys(ended, 0.0)
        self._time_step = TimeStep(
            self._observations(obs), ByPlayer(found), ByPlayer(discounts),
            StepType.LAST if over or cut else StepType.MID,
        )  # fmt: skip
        return self._time_step

    def observation_spec(self) -> dict[str, Any]:
        """Return the shapes of the observations as OpenSpiel has them, and for each agent by id.

        ``info_state``, ``legal_actions`` and ``current_player`` are large enough for every player.
        """
        sizes = {
            key: (one.observation_space.n if self._one_hot else 1, one.action_space.n)
            for key, one in self._learners.items()
        }
        largest = tuple(map(max, zip(*sizes.values(), strict=True)))

        def spec(info_state: int, num_actions: int) -> dict[str, tuple]:
            return {
                "info_state": (int(info_state),), "legal_actions": (int(num_actions),),
                "current_player": (),
            }  # fmt: skip

        return {**spec(*largest), **{key: spec(*pair) for key, pair in sizes.items()}}

    def action_spec(self) -> dict[str, Any]:
        """Return the bounds of the actions as OpenSpiel has them, and for each agent by id.

        ``num_actions``, ``min``, ``max`` and ``dtype`` are wide enough for every player.
        """

        def spec(count: int) -> dict[str, Any]:
            return {"num_actions": count, "min": 0, "max": count - 1, "dtype": int}

        counts = {key: int(one.action_space.n) for key, one in self._learners.items()}
        return {**spec(max(counts.values())), **{key: spec(n) for key, n in counts.items()}}

    def get_legal_actions(self, agent_id: str) -> list[int]:
        """Return the actions that an agent may choose from in the present `TimeStep`.

        These are the actions that would do something now, where the simulation makes action masks;
        else all. An agent that is done has its null action only, or 0. Subclasses may override it.
        """
        agent = self._learners[agent_id]
        if agent_id in self._done:
            return [int(agent.null_action) if is_given(agent.null_action) else 0]
        if agent_id in self._masks:
            return np.flatnonzero(self._masks[agent_id]).tolist()
        return list(range(agent.action_space.n))

    def render(self, **kwargs: Any) -> Any:
        """Render the simulation."""
        return self.sim.render(**kwargs)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sim!r})"

    def _observations(self, reported: Mapping[str, Any]) -> dict[str, Any]:
        self._done = self.sim.done_agents
        self._masks = self.sim.sim.action_masks()
        return {
            "info_state": ByPlayer(
                {key: self._info_state(key, reported) for key in self._learners}
            ),
            "legal_actions": ByPlayer({key: self.get_legal_actions(key) for key in self._learners}),
            "current_player": self.current_player,
        }

    def _info_state(self, agent_id: str, reported: Mapping[str, Any]) -> Any:
        agent = self._learners[agent_id]
        if agent_id in self._done - reported.keys() and is_given(agent.null_observation):
            obs = agent.null_observation
        else:
            obs = reported[agent_id] if agent_id in reported else self.sim.sim.get_obs(agent_id)
        if not self._one_hot:
            return int(obs)
        state = [0.0] * int(agent.observation_space.n)
        state[int(obs) - int(agent.observation_space.start)] = 1.0
        return state


def _discounts_of(value: float | Mapping[str, float], ids: list[str]) -> dict[str, float]:
    """Return a discount per agent, from one number for all or from a dict by id."""
    given = value if isinstance(value, Mapping) else dict.fromkeys(ids, value)
    if given.keys() != set(ids):
        raise ValueError(
            f"discounts must be for exactly the agents {', '.join(ids)}, "
            f"got {', '.join(map(str, given)) or 'none'}"
        )
    for agent_id, discount in given.items():
        if not isinstance(discount, Real) or isinstance(discount, bool):
            raise TypeError(f"the discount of {agent_id!r} must be a number, got {discount!r}")
        if not 0 <= discount <= 1:
            raise ValueError(f"the discount of {agent_id!r} must be in [0, 1], got {discount}")
    return {agent_id: float(given[agent_id]) for agent_id in ids}


def _actions_of(
    actions: Sequence[int], asked: Mapping[str, Agent], done: Container[str]
) -> dict[str, int]:
    """Return by id the actions of the agents that are asked, in their order, and not done.

    Actions of agents that are done are dropped, whatever they are.
    """
    if isinstance(actions, Mapping | str) or not hasattr(actions, "__len__"):
        raise TypeError(
            f"actions must be a list in the order of the players, got {type(actions).__name__}"
        )
    if len(actions) != len(asked):
        ids = ", ".join(list(asked)[:8]) + (", ..." if len(asked) > 8 else "")
        raise ValueError(f"actions must be a list of {len(asked)}, for {ids}, got {len(actions)}")
    found = {}
    for (agent_id, agent), action in zip(asked.items(), actions, strict=True):
        if agent_id in done:
            continue
        try:
            found[agent_id] = operator.index(action)
        except TypeError:
            found[agent_id] = -1
        if not 0 <= found[agent_id] < agent.action_space.n:
            raise ValueError(
                f"action of agent {agent_id!r} is {action!r}, not in {agent.action_space}"
            )
    return found


def _check_spaces(agent: Agent, one_hot: bool) -> None:
    """Refuse an agent whose spaces OpenSpiel does not support."""
    for side in ("observation", "action"):
        space = getattr(agent, f"{side}_space")
        if not isinstance(space, Discrete) or (side == "action" and space.start != 0):
            raise TypeError(
                f"OpenSpiel needs Discrete spaces, with actions from 0, and agent {agent.id!r} has "
                f"{side}_space {space!r:.120};\n"
                f"wrap the simulation in a RavelDiscreteWrapper, and where windows of the grid "
                f"have too many points for that, observe with AbsolutePositionObserver"
            )
        if int(space.n) > MOST_CHOICES and (side == "action" or one_hot):
            raise ValueError(
                f"agent {agent.id!r} has {space.n} {side}s and OpenSpiel wants them listed; "
                f"{MOST_CHOICES} are the most"
            )
