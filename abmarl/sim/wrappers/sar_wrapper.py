"""Wrappers that change observations, actions and rewards one by one.

`SARWrapper` is the base of users' own; `ConversionWrapper` that of those which ravel and flatten.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from abmarl.sim.agent_based_simulation import (
    ActingAgent,
    AgentBasedSimulation,
    ObservingAgent,
    PrincipleAgent,
)
from abmarl.sim.conversion import Conversion
from abmarl.sim.spaces import is_given
from abmarl.sim.wrappers.wrapper import Wrapper


class SARWrapper(Wrapper):
    """Base of wrappers of states (observations), actions and rewards.

    A ``wrap_`` method works the way the data goes: on observations and rewards from the inner
    simulation, and on actions for it. The ``unwrap_`` method of the same name undoes it. By
    default nothing is changed; override the ones you need.

    Args:
        sim: the simulation to wrap.

    Raises:
        TypeError: `sim` is not an AgentBasedSimulation.
    """

    def step(self, action_dict: Mapping[str, Any], **kwargs: Any) -> None:
        """Wrap all actions, then hand them to the inner simulation in the same order.

        Raises:
            TypeError: the actions are not in a dict.
            ValueError: an agent is unknown or does not act; nothing has changed.
        """
        if not isinstance(action_dict, Mapping):
            raise TypeError(
                f"actions must be a dict of agent id to action, got {type(action_dict).__name__}"
            )
        wrapped = {}
        for agent_id, action in action_dict.items():
            agent = self._inner_agent(agent_id)
            if not isinstance(agent, ActingAgent):
                raise ValueError(f"action from agent {agent_id!r}, which does not act")
            wrapped[agent_id] = self.wrap_action(agent, action)
        self.sim.step(wrapped, **kwargs)

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """Return the agent's observation, wrapped."""
        agent = self._inner_agent(agent_id)
        return self.wrap_observation(agent, self.sim.get_obs(agent_id, **kwargs))

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        """Return the agent's reward, wrapped."""
        return self.wrap_reward(self.sim.get_reward(agent_id, **kwargs))

    def wrap_observation(self, from_agent: PrincipleAgent, observation: Any) -> Any:
        """Change an observation of the inner simulation.

        Args:
            from_agent: the inner simulation's agent.
            observation: a point of its observation space.

        Returns:
            A point of the observation space of this wrapper's agent.
        """
        return observation

    def unwrap_observation(self, from_agent: PrincipleAgent, observation: Any) -> Any:
        """Undo `wrap_observation`."""
        return observation

    def wrap_action(self, from_agent: PrincipleAgent, action: Any) -> Any:
        """Change an action into one for the inner simulation.

        Args:
            from_agent: the inner simulation's agent.
            action: a point of the action space of this wrapper's agent.

        Returns:
            A point of `from_agent`'s action space.
        """
        return action

    def unwrap_action(self, from_agent: PrincipleAgent, action: Any) -> Any:
        """Undo `wrap_action`."""
        return action

    def wrap_reward(self, reward: float) -> float:
        """Change a reward of the inner simulation."""
        return reward

    def unwrap_reward(self, reward: float) -> float:
        """Undo `wrap_reward`."""
        return reward


class ConversionWrapper(SARWrapper):
    """Converts actions and observations, or one side of them, null points included.

    Args:
        sim: the simulation to wrap.
        actions: whether these are converted.
        observations: likewise.

    Attributes:
        converts_actions: as given.
        converts_observations: as given.

    Raises:
        TypeError: `actions` or `observations` is no bool, or as below.
        TypeError, ValueError: an agent's space cannot be converted.
    """

    def __init__(
        self, sim: AgentBasedSimulation, actions: bool = True, observations: bool = True
    ) -> None:
        super().__init__(sim)
        for name, value in (("actions", actions), ("observations", observations)):
            if not isinstance(value, bool):
                raise TypeError(f"{name} must be True or False, got {value!r:.60}")
        self.converts_actions, self.converts_observations = actions, observations
        self._actions: dict[str, Any] = {}
        self._observations: dict[str, Any] = {}
        made: dict[int, Conversion] = {}
        for agent in self.agents.values():
            if isinstance(agent, ActingAgent) and actions:
                self._actions[agent.id] = self._convert_side(agent, "action", made)
            if isinstance(agent, ObservingAgent) and observations:
                self._observations[agent.id] = self._convert_side(agent, "observation", made)
        self.finalize()

    def wrap_observation(self, from_agent: PrincipleAgent, observation: Any) -> Any:
        """Convert an observation of the inner simulation.

        Raises:
            ValueError: it does not lie in the agent's observation space.
        """
        return self._call(self._observations, from_agent, "convert", observation)

    def unwrap_observation(self, from_agent: PrincipleAgent, observation: Any) -> Any:
        """Turn a converted observation back.

        Raises:
            ValueError: it does not lie in the converted space.
        """
        return self._call(self._observations, from_agent, "restore", observation)

    def wrap_action(self, from_agent: PrincipleAgent, action: Any) -> Any:
        """Turn a converted action back into one for the inner simulation.

        Raises:
            ValueError: it does not lie in the converted space.
        """
        return self._call(self._actions, from_agent, "restore", action)

    def unwrap_action(self, from_agent: PrincipleAgent, action: Any) -> Any:
        """Convert an action of the inner simulation.

        Raises:
            ValueError: it does not lie in the agent's action space.
        """
        return self._call(self._actions, from_agent, "convert", action)

    @abstractmethod
    def _conversion(self, space: Any, name: str) -> Conversion:
        """Return how points of a space are converted."""

    def _convert_side(
        self, agent: PrincipleAgent, side: str, made: dict[int, Conversion]
    ) -> Conversion:
        space = getattr(agent, f"{side}_space")
        # Agents that are alike share a space object, and then the conversion too.
        if id(space) not in made:
            made[id(space)] = self._conversion(space, f"{side}_space of agent {agent.id!r}")
            made[id(space)].name = f"the {side}_space"
        conversion = made[id(space)]
        setattr(agent, f"{side}_space", conversion.target)
        null = getattr(agent, f"null_{side}")
        setattr(agent, f"null_{side}", conversion.convert(null) if is_given(null) else None)
        return conversion

    @staticmethod
    def _call(
        conversions: dict[str, Conversion], agent: PrincipleAgent, method: str, point: Any
    ) -> Any:
        conversion = conversions.get(agent.id)
        if conversion is None:
            return point
        try:
            return getattr(conversion, method)(point)
        except ValueError as error:
            raise ValueError(f"agent {agent.id!r}: {error}") from None
