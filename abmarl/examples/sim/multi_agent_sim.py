"""Small plain simulations with all kinds of spaces, to try managers, wrappers and learners with."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Tuple

from abmarl.sim import Agent, AgentBasedSimulation

# Observations that an agent goes through, one after the other.
_LAP = 7
# Steps after which the first agent is done; the others follow one by one.
_STEPS = 10


class EmptyABS(AgentBasedSimulation):
    """Nothing happens, and it never ends: a start for simulations of one's own.

    Args:
        agents: ``{id: agent}``; by default there are none.
    """

    def __init__(self, agents: dict[str, Any] | None = None) -> None:
        self.agents = {} if agents is None else agents
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        """Start an episode."""

    def step(self, action_dict: Mapping[str, Any], **kwargs: Any) -> None:
        """Ignore the actions."""

    def render(self, **kwargs: Any) -> None:
        """Show nothing."""

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """Return the null observation of the agent."""
        return self.agents[agent_id].null_observation

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        """Return 0."""
        return 0.0

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Return False."""
        return False

    def get_all_done(self, **kwargs: Any) -> bool:
        """Return False."""
        return False

    def get_info(self, agent_id: str, **kwargs: Any) -> dict:
        """Return nothing."""
        return {}


class MultiAgentSim(EmptyABS):
    """Agents walk through observations that do not depend on what they do.

    The first agent is done after 10 steps, the second one after 11, and so on; the simulation is
    done with the last one. An agent is rewarded with 1 for every step in which it acts.

    Actions and observations are ``Discrete(3)`` and ``Discrete(5)`` here; the simulations derived
    from this one have other spaces.

    Args:
        num_agents: how many there are, ``agent0``, ``agent1``, ...

    Raises:
        TypeError, ValueError: `num_agents` is not an int above 0.
    """

    def __init__(self, num_agents: int = 5) -> None:
        if isinstance(num_agents, bool) or not isinstance(num_agents, int | np.integer):
            raise TypeError(f"num_agents must be an int, got {num_agents!r}")
        if num_agents < 1:
            raise ValueError(f"num_agents must be 1 or more, got {num_agents}")
        spaces = [self.spaces(number) for number in range(num_agents)]
        super().__init__(
            {
                f"agent{number}": Agent(
                    id=f"agent{number}", observation_space=observed, action_space=acted
                )
                for number, (observed, acted) in enumerate(spaces)
            }
        )
        self._last = {key: _STEPS + k for k, key in enumerate(self.agents)}
        self._laps = {}
        for number, (key, agent) in enumerate(self.agents.items()):
            space = agent.observation_space
            space.seed(number)
            self._laps[key] = [space.sample() for _ in range(_LAP)]
        self.reset()

    @staticmethod
    def spaces(number: int) -> tuple[Space, Space]:
        """Return the observation and the action space of an agent by its number."""
        return Discrete(5), Discrete(3)

    def reset(self, **kwargs: Any) -> None:
        """Start an episode."""
        self._count = 0
        self._rewards = dict.fromkeys(self.agents, 0.0)

    def step(self, action_dict: Mapping[str, Any], **kwargs: Any) -> None:
        """Go on by one step and reward those who act.

        Raises:
            ValueError: an agent is unknown, or its action is not in its space; nothing has changed.
        """
        for key, action in action_dict.items():
            if key not in self.agents:
                raise ValueError(f"there is no agent {key!r}; there are {list(self.agents)}")
            if action not in self.agents[key].action_space:
                space = self.agents[key].action_space
                raise ValueError(f"action of agent {key!r} is {action!r}, which is not in {space}")
        self._count += 1
        for key in action_dict:
            self._rewards[key] += 1.0

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """Return what the agent sees in this step."""
        return self._laps[agent_id][self._count % _LAP]

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        """Return the reward since it was asked for last."""
        reward, self._rewards[agent_id] = self._rewards[agent_id], 0.0
        return reward

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Return whether the agent's time is up."""
        return self._count >= self._last[agent_id]

    def get_all_done(self, **kwargs: Any) -> bool:
        """Return whether everybody's time is up."""
        return all(self.get_done(key) for key in self.agents)


class MultiAgentGymSpacesSim(MultiAgentSim):
    """`MultiAgentSim` with discrete spaces of all kinds, nested and different for every agent."""

    @staticmethod
    def spaces(number: int) -> tuple[Space, Space]:
        """Return the observation and the action space of an agent by its number."""
        kinds = [
            MultiBinary(4),
            MultiDiscrete([2, 6, 3]),
            Box(-1, 2, (2, 2), np.int64),
            Tuple((Discrete(3), MultiDiscrete([10, 10]), Discrete(2))),
            Dict({"first": Discrete(4), "second": Box(-3, 3, (2,), np.int64)}),
        ]
        return kinds[number % len(kinds)], kinds[(number + 2) % len(kinds)]


class MultiAgentContinuousGymSpaceSim(MultiAgentSim):
    """`MultiAgentSim` with float boxes, alone and beside discrete spaces."""

    @staticmethod
    def spaces(number: int) -> tuple[Space, Space]:
        """Return the observation and the action space of an agent by its number."""
        box = Box(-1.0, 1.0, (number + 1,), np.float64)
        return Dict({"place": box, "lamp": Discrete(2)}), box


class MultiAgentSameSpacesSim(MultiAgentSim):
    """`MultiAgentSim` with nested spaces that are the same for everybody."""

    @staticmethod
    def spaces(number: int) -> tuple[Space, Space]:
        """Return the observation and the action space of an agent by its number."""
        observed = Tuple((Box(0, 4, (2,), np.int64), Discrete(2)))
        return observed, MultiDiscrete([3, 2])
