"""Wrappers that change observations, actions and rewards one by one."""

from collections.abc import Mapping
from typing import Any

from abmarl.sim.agent_based_simulation import ActingAgent, PrincipleAgent
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
