"""Environments of gym and Gymnasium as simulations with one agent."""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from abmarl.gridworld.seeding import parse_seed
from abmarl.sim.agent_based_simulation import AgentBasedSimulation
from abmarl.sim.agents import Agent
from abmarl.sim.spaces import contains, to_gymnasium


def gym_to_abmarl(env: Any, agent_id: str = "agent") -> "EnvironmentSimulation":
    """Make a simulation with one agent of an environment.

    Args:
        env: An environment with the API of Gymnasium, or of gym 0.26; neither is imported.
        agent_id: The id of the agent.

    Raises:
        TypeError: `env` is not an environment, or has a space that cannot be converted.
    """
    return EnvironmentSimulation(env, agent_id)


class EnvironmentSimulation(AgentBasedSimulation):
    """An environment with one agent as a simulation.

    The agent is done when the environment has terminated or truncated the episode; its info says
    which, by ``terminated`` and ``truncated``.

    Attributes:
        env: The environment.
        metadata, render_mode: Those of the environment.
    """

    def __init__(self, env: Any, agent_id: str = "agent") -> None:
        for name in ("reset", "step", "action_space", "observation_space"):
            if not hasattr(env, name):
                raise TypeError(
                    f"gym_to_abmarl needs an environment of gymnasium or gym, "
                    f"got {type(env).__name__}, which has no {name}"
                )
        if hasattr(env, "single_action_space"):
            raise TypeError(
                f"gym_to_abmarl needs one environment, got {type(env).__name__}, which is a vector "
                f"of them; give it what gymnasium.make returns"
            )
        self.env = env
        self.metadata = getattr(env, "metadata", None) or {"render_modes": []}
        self.render_mode = getattr(env, "render_mode", None)
        agent = Agent(
            id=agent_id,
            action_space=to_gymnasium(env.action_space, "the environment's action_space"),
            observation_space=to_gymnasium(
                env.observation_space, "the environment's observation_space"
            ),
        )
        self.agents = {agent_id: agent}
        self._agent_id, self._action_space = agent_id, agent.action_space
        self._obs: Any = None
        self._reward: Any = 0.0
        self._terminated = self._truncated = self._started = False
        self._info: dict = {}
        self.finalize()

    def reset(self, seed: Any = None, options: dict | None = None, **kwargs: Any) -> None:
        """Reset the environment.

        Args:
            seed: An int for the environment; or (seed, world), of which the environment gets the
                seed for world 0, and a number derived from both for others. None goes on.
            options: For the environment.
            **kwargs: Ignored.

        Raises:
            TypeError: The environment has the API of gym before 0.26, or the seed is invalid.
            ValueError: The seed is invalid.
        """
        found = self.env.reset(seed=_as_int(seed), options=options)
        if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], Mapping)):
            self._started = False
            raise TypeError(
                f"reset of {type(self.env).__name__} must return (observation, info), as since "
                f"gym 0.26, got {type(found).__name__}; wrap the environment with "
                f"gym.wrappers.EnvCompatibility"
            )
        self._obs, self._info = found
        self._reward = 0.0
        self._terminated = self._truncated = False
        self._started = True

    def step(self, action_dict: dict[str, Any], **kwargs: Any) -> None:
        """Step the environment; without an action nothing happens.

        Args:
            action_dict: The action by the agent's id.
            **kwargs: Ignored.

        Raises:
            TypeError: The actions are not in a dict.
            ValueError: The action is not in its space, is of another agent, or no episode is
                running. Nothing has changed.
        """
        if not isinstance(action_dict, Mapping):
            raise TypeError(
                f"actions must be a dict of agent id to action, got {type(action_dict).__name__}"
            )
        for agent_id in action_dict:
            if agent_id != self._agent_id:
                raise ValueError(
                    f"action from agent {agent_id!r}, which is not in the simulation; "
                    f"there is {self._agent_id!r}"
                )
        if not self._started or self._terminated or self._truncated:
            raise ValueError("no episode is running, or it has ended: call reset() before step()")
        if not action_dict:
            return
        action = action_dict[self._agent_id]
        if not contains(self._action_space, action):
            raise ValueError(
                f"the action of agent {self._agent_id!r} is {action!r:.200}, "
                f"which does not lie in its action space {self._action_space!r:.200}"
            )
        self._obs, reward, terminated, truncated, self._info = self.env.step(action)
        self._reward = self._reward + reward
        self._terminated, self._truncated = bool(terminated), bool(truncated)

    def render(self, **kwargs: Any) -> Any:
        """Return what the environment renders."""
        return self.env.render()

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """Return the last observation, the caller's own."""
        if not self._started:
            raise ValueError("there is no observation yet: call reset() first")
        return copy.deepcopy(self._obs)

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        """Return the reward since it was last asked for, and set it to 0."""
        reward, self._reward = self._reward, 0.0
        return reward

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Return whether the episode was terminated or truncated."""
        return self._terminated or self._truncated

    def get_all_done(self, **kwargs: Any) -> bool:
        """Return whether the episode was terminated or truncated."""
        return self._terminated or self._truncated

    def get_info(self, agent_id: str, **kwargs: Any) -> dict:
        """Return the environment's info, with ``terminated`` and ``truncated``."""
        return {
            **copy.deepcopy(self._info),
            "terminated": self._terminated,
            "truncated": self._truncated,
        }


def _as_int(seed: Any) -> int | None:
    """Return a seed as environments take it."""
    if seed is None:
        return None
    entropy, world = parse_seed(seed)
    if world == 0:
        return entropy
    return int(np.random.SeedSequence(entropy, spawn_key=(world,)).generate_state(1)[0])
