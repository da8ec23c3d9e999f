"""The interface of every simulation: agents, reset and step, and getters for what came of them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from abmarl.sim.agents import ActingAgent, Agent, ObservingAgent, PrincipleAgent, is_agent


class AgentBasedSimulation(ABC):
    """A simulation whose observations, rewards and dones are part of its state.

    `reset` and `step` return nothing; a manager asks the getters. An implementation sets
    ``self.agents`` in its ``__init__`` and calls ``self.finalize()`` at the end of it. There is no
    ``__init__`` here, and nothing that needs one: implementations need not call it.
    """

    @property
    def agents(self) -> dict[str, Any]:
        """The agents by id. A bad dict is refused and the old one stays."""
        try:
            return self._agents
        except AttributeError:
            raise AttributeError(
                f"{type(self).__name__} has no agents yet: "
                f"set self.agents = {{agent.id: agent, ...}} in __init__"
            ) from None

    @agents.setter
    def agents(self, value: dict[str, Any]) -> None:
        _check_agents(value)
        self._agents = value

    def finalize(self) -> None:
        """Finalize every agent; nothing is changed when one of them is not configured.

        Raises:
            ValueError: an agent is not configured or has a null point outside its space.
            TypeError: an agent has something for a space that is none.
        """
        agents = self.agents
        # Again, because the dict may have been changed in place since it was set.
        _check_agents(agents)
        for agent in agents.values():
            agent.check_configured()
        for agent in agents.values():
            agent.finalize()

    def random_order(self, agent_ids: Iterable[str]) -> list[str]:
        """Return the ids in a fresh random order.

        Drawn from a stream made of fresh entropy. A simulation whose episodes are to be
        reproducible overrides this and draws from its own stream.

        Args:
            agent_ids: ids in any order.

        Returns:
            A list of the same ids.
        """
        generator = self.__dict__.get("_order_generator")
        if generator is None:
            generator = self._order_generator = np.random.default_rng()
        ids = list(agent_ids)
        generator.shuffle(ids)
        return ids

    def undo_random_order(self) -> None:  # noqa: B027 - most simulations have nothing to put back
        """Take back what the last `random_order` drew, because the step that it was for failed.

        Does nothing here. A simulation that draws from a stream of its own puts that back.
        """

    def action_masks(self) -> dict[str, Any]:
        """Return which actions would do something now, by agent id, as far as that is known.

        Nothing is known here. A mask is a bool array with an entry per choice, or masks nested as
        the action space.
        """
        return {}

    @abstractmethod
    def reset(self, **kwargs: Any) -> None:
        """Start an episode.

        Args:
            **kwargs: what the manager's reset was given, ``seed`` for example.
        """

    @abstractmethod
    def step(self, action_dict: dict[str, Any], **kwargs: Any) -> None:
        """Go one step forward.

        Args:
            action_dict: the actions by agent id, to be processed in this order.
            **kwargs: what the manager's step was given.
        """

    @abstractmethod
    def render(self, **kwargs: Any) -> Any:
        """Show the present state."""

    @abstractmethod
    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """Return the agent's observation, a point of its observation space."""

    @abstractmethod
    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        """Return the reward gathered since it was last asked for, and set it to 0."""

    @abstractmethod
    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Return whether the agent is done."""

    @abstractmethod
    def get_all_done(self, **kwargs: Any) -> bool:
        """Return whether the simulation is done."""

    @abstractmethod
    def get_info(self, agent_id: str, **kwargs: Any) -> Any:
        """Return whatever else there is to say about the agent."""

    def get_outputs(self, agent_ids: Iterable[str]) -> tuple[dict, dict, dict, dict]:
        """Ask the getters about several agents.

        A simulation that knows a faster way overrides this, with the same results.

        Args:
            agent_ids: whom to ask about; their rewards are 0 after that.

        Returns:
            Observations, rewards, dones and infos by id.
        """
        ids = tuple(agent_ids)
        # The loops over agents run inside dict, zip and map: half the time of written-out ones.
        obs = dict(zip(ids, map(self.get_obs, ids)))  # noqa: B905 - strict= costs time here
        rewards = dict(zip(ids, map(self.get_reward, ids)))  # noqa: B905
        dones = dict(zip(ids, map(self.get_done, ids)))  # noqa: B905
        infos = dict(zip(ids, map(self.get_info, ids)))  # noqa: B905
        return obs, rewards, dones, infos


class DynamicOrderSimulation(AgentBasedSimulation):
    """A simulation that names the next agents, for the `DynamicOrderManager`.

    An implementation sets ``self.next_agent`` in ``reset`` and in every ``step``. Unless the
    simulation is done, at least one of the agents named must not be done. An agent that is done
    should be named once after that, else its last reward is reported only at the end.
    """

    @property
    def next_agent(self) -> list[str]:
        """Ids of the agents that act next; set it to an id or to several."""
        try:
            return list(self._next_agent)
        except AttributeError:
            raise AttributeError(
                f"{type(self).__name__} has not said who acts next: "
                f"set self.next_agent to an id or to several in reset and step"
            ) from None

    @next_agent.setter
    def next_agent(self, value: str | Iterable[str]) -> None:
        self._next_agent = next_agents(value, self.agents)


def next_agents(value: Any, agents: dict[str, Any]) -> list[str]:
    """Return who acts next as a list of ids, each once.

    Args:
        value: an id or several; a set is brought into the order of `agents`, so that the order
            does not depend on the process.
        agents: the agents of the simulation by id.

    Raises:
        TypeError: `value` is neither an id nor several.
        ValueError: one of them is not in the simulation.
    """
    given = [value] if isinstance(value, str) else value
    ids: list[Any] = list(given) if isinstance(given, Iterable) else [None]
    if not all(isinstance(agent_id, str) for agent_id in ids):
        raise TypeError(f"next_agent must be an agent's id or several, got {value!r:.200}")
    for agent_id in ids:
        if agent_id not in agents:
            raise ValueError(
                f"next_agent names {agent_id!r}, which is not in the simulation; "
                f"there are {', '.join(map(repr, list(agents)[:8]))}"
                f"{', ...' if len(agents) > 8 else ''}"
            )
    if isinstance(value, (set, frozenset)):
        ids = [agent_id for agent_id in agents if agent_id in value]
    return list(dict.fromkeys(ids))


def _check_agents(agents: Any) -> None:
    if not isinstance(agents, dict):
        raise TypeError(
            f"agents must be a dict of id to agent, got {type(agents).__name__}; "
            f"write {{agent.id: agent for agent in agents}}"
        )
    for key, agent in agents.items():
        if not isinstance(agent, PrincipleAgent):
            raise TypeError(
                f"agents[{key!r}] must be a PrincipleAgent, "
                f"got {type(agent).__name__} {agent!r:.60}"
            )
        if agent.id != key:
            raise ValueError(
                f"agents[{key!r}] has the id {agent.id!r}; the key of an agent must be its id"
            )


__all__ = [
    "ActingAgent",
    "Agent",
    "AgentBasedSimulation",
    "DynamicOrderSimulation",
    "ObservingAgent",
    "PrincipleAgent",
    "is_agent",
    "next_agents",
]
