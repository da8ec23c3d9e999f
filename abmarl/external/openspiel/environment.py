"""A manager as an environment of `open_spiel.python.rl_environment`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from abmarl.external.openspiel.players import ByPlayer, Player, actions_of, discounts_of
from abmarl.external.openspiel.specs import action_spec, check_spaces, observation_spec, one_hot
from abmarl.external.seeding import prepare_seed
from abmarl.extras import load
from abmarl.gridworld.fields import positive
from abmarl.managers import AllStepManager, SimulationManager, TurnBasedManager
from abmarl.sim.agent_based_simulation import PrincipleAgent, is_agent
from abmarl.sim.spaces import is_given

rl_environment = load("open_spiel.python.rl_environment", "openspiel", "abmarl.external.openspiel")
TimeStep, StepType = rl_environment.TimeStep, rl_environment.StepType


class OpenSpielWrapper:
    """Lets the agents of OpenSpiel's Python algorithms play a simulation.

    What a `TimeStep` holds per player is keyed by agent id and also answers to the player's number,
    which is how OpenSpiel's agents ask. Players are the learning agents in the order of the
    simulation.

    Args:
        sim: a `TurnBasedManager`, or an `AllStepManager` for simultaneous moves, of a simulation
            whose learning agents have `Discrete` spaces.
        discounts: a number in [0, 1] for all agents, or one per agent id.
        horizon: steps after which an episode is cut off; None: never.
        one_hot: whether an `info_state` is a list of floats, one per point of the observation
            space and 1 for the observation, as networks want it; else the observation, an int.

    Attributes:
        sim: the manager.

    Raises:
        TypeError: `sim` is no such manager, a space is not `Discrete`, or a parameter is of the
            wrong kind.
        ValueError: nobody learns, an agent has too many actions, or a parameter is out of range.
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
        self._learners = {key: agent for key, agent in sim.agents.items() if is_agent(agent)}
        if not self._learners:
            raise ValueError(f"no agent of {sim!r:.100} both observes and acts: nobody can play")
        for agent in self._learners.values():
            check_spaces(agent, one_hot)
        self.sim = sim
        self.discounts = discounts
        self._horizon = None if horizon is None else positive("horizon", horizon)
        self._one_hot = one_hot
        self._numbers = {agent_id: number for number, agent_id in enumerate(self._learners)}
        self._turn: str | None = None
        self._length = 0
        self._time_step: Any = None
        self._seed: dict[str, Any] = {}
        # Who was done at the present time step, and the action masks of the others.
        self._gone: frozenset[str] = frozenset()
        self._masks: Mapping[str, np.ndarray] = {}

    @property
    def discounts(self) -> ByPlayer:
        """The discount of every agent; may be set to a number or to a dict by agent id."""
        return ByPlayer(self._discounts)

    @discounts.setter
    def discounts(self, value: float | Mapping[str, float]) -> None:
        self._discounts = discounts_of(value, list(self._learners))

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
        """Choose the seed that the next `reset` starts with; None: it goes on as it would."""
        self._seed = {} if seed is None else {"seed": seed}

    def get_time_step(self) -> Any:
        """Return the last `TimeStep` once more.

        Raises:
            ValueError: there was none yet.
        """
        if self._time_step is None:
            raise ValueError("nothing has happened yet: call reset() before get_time_step()")
        return self._time_step

    def reset(self, **kwargs: Any) -> Any:
        """Start an episode.

        Args:
            **kwargs: for the manager's reset. With a ``seed``, turns begin with the first agent.

        Returns:
            The first `TimeStep`, without rewards and discounts.

        Raises:
            TypeError, ValueError: the seed is none; everything is as before.
        """
        kwargs = {**self._seed, **kwargs}
        prepare_seed(self.sim, kwargs.get("seed"))
        self._time_step = None
        obs = self.sim.reset(**kwargs)
        self._seed, self._length = {}, 0
        self._turn = next(iter(obs))
        self._time_step = TimeStep(self._observations(obs), None, None, StepType.FIRST)
        return self._time_step

    def step(self, actions: Sequence[int], **kwargs: Any) -> Any:
        """Play one step; after the last one, or before the first, start an episode instead.

        Args:
            actions: the actions of all players in their order, or in a turn-based simulation that
                of the one on turn. Those of agents that are done are ignored.
            **kwargs: for the manager's step.

        Returns:
            The `TimeStep`. At the end of an episode the discounts are 0, except those of agents
            that the horizon stopped.

        Raises:
            ValueError: there are too many or too few actions, or one is not in its space. Nothing
                has changed then.
            TypeError: `actions` is not a list.
        """
        if self._time_step is None or self._time_step.last():
            return self.reset(**kwargs)
        asked = {self._turn: self._learners[self._turn]} if self.is_turn_based else self._learners
        given = actions_of(actions, asked, self._gone)
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
        """Shapes of the observations, as OpenSpiel has them and by agent id.

        Returns:
            ``info_state``, ``legal_actions`` and ``current_player``, large enough for every player,
            and by agent id the same for each of them.
        """
        return observation_spec(self._learners, self._one_hot)

    def action_spec(self) -> dict[str, Any]:
        """Bounds of the actions, as OpenSpiel has them and by agent id.

        Returns:
            ``num_actions``, ``min``, ``max`` and ``dtype``, wide enough for every player, and by
            agent id the same for each of them.
        """
        return action_spec(self._learners)

    def get_legal_actions(self, agent_id: str) -> list[int]:
        """Return the actions that an agent may choose from in the present `TimeStep`.

        Those that would do something now, where the simulation makes action masks; else all. An
        agent that is done has its null action only, or 0. A subclass may know better.
        """
        agent = self._learners[agent_id]
        if agent_id in self._gone:
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
        self._gone = self.sim.done_agents
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
        if agent_id in self._gone - reported.keys() and is_given(agent.null_observation):
            obs = agent.null_observation
        else:
            obs = reported[agent_id] if agent_id in reported else self.sim.sim.get_obs(agent_id)
        return one_hot(agent.observation_space, obs) if self._one_hot else int(obs)
