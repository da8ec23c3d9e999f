"""Simulations that decide themselves who acts next."""

from collections.abc import Iterable
from typing import Any

from abmarl.sim.agent_based_simulation import AgentBasedSimulation


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
    """Who acts next as a list of ids, each once.

    Args:
        value: an id or several; a set is brought into the order of `agents`, so that the order
            does not depend on the process.
        agents: the agents of the simulation by id.

    Raises:
        TypeError: `value` is neither an id nor several.
        ValueError: one of them is not in the simulation.
    """
    given = [value] if isinstance(value, str) else value
    ids = list(given) if isinstance(given, Iterable) else [None]
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


__all__ = ["DynamicOrderSimulation", "next_agents"]
