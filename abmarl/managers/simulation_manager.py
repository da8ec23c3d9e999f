"""What all managers have in common."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NoReturn

from abmarl.sim.agent_based_simulation import AgentBasedSimulation, is_agent

# Observations, rewards, dones and infos by agent id.
Output = tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]


class SimulationManager(ABC):
    """Stands between a trainer and a simulation and decides who acts next.

    Agents in the output act in the next step, except those that are done: these are reported
    once and never again. Only agents that both observe and act appear.

    Args:
        sim: the simulation.

    Attributes:
        sim: the simulation.

    Raises:
        TypeError: `sim` is not an AgentBasedSimulation.
    """

    def __init__(self, sim: AgentBasedSimulation) -> None:
        if not isinstance(sim, AgentBasedSimulation):
            raise TypeError(
                f"{type(self).__name__} needs an AgentBasedSimulation, got {type(sim).__name__}"
            )
        self.sim = sim
        self._running = False
        self._done: set[str] = set()

    @property
    def agents(self) -> dict[str, Any]:
        """The agents of the simulation, those that do not learn included."""
        return self.sim.agents

    @property
    def done_agents(self) -> frozenset[str]:
        """Ids of the agents that have been reported done in this episode."""
        return frozenset(self._done)

    def render(self, **kwargs: Any) -> Any:
        """Render the simulation."""
        return self.sim.render(**kwargs)

    @abstractmethod
    def reset(self, **kwargs: Any) -> dict[str, Any]:
        """Start an episode.

        Args:
            **kwargs: for the simulation's reset, ``seed`` for example.

        Returns:
            The first observations, by id, of the agents that act first.
        """

    @abstractmethod
    def step(self, action_dict: dict[str, Any], **kwargs: Any) -> Output:
        """Go one step forward.

        Args:
            action_dict: actions by agent id. It is not changed.
            **kwargs: for the simulation's step.

        Returns:
            Observations, rewards, dones and infos by id. The dones hold '__all__' too.
        """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sim!r})"

    def _learning_ids(self) -> list[str]:
        return [agent_id for agent_id, agent in self.sim.agents.items() if is_agent(agent)]

    def _refuse_step(self) -> NoReturn:
        # `_running` is False before the first reset, after the end, and when a reset has failed.
        raise ValueError("no episode is running, or it has ended: call reset() before step()")

    def _refuse_actions(self, action_dict: Any, may_act: Mapping[str, Any]) -> NoReturn:
        """Say what is wrong with actions that are not all from agents in `may_act`."""
        if not isinstance(action_dict, Mapping):
            raise TypeError(
                f"actions must be a dict of agent id to action, got {type(action_dict).__name__}"
            )
        agent_id = next(key for key in action_dict if key not in may_act)
        turn = ", ".join(map(repr, list(may_act)[:8])) + (", ..." if len(may_act) > 8 else "")
        if agent_id not in self.sim.agents:
            reason = "which is not in the simulation"
        elif agent_id in self._done:
            reason = "which is done"
        elif not is_agent(self.sim.agents[agent_id]):
            reason = "which does not both observe and act"
        else:
            reason = "whose turn it is not"
        raise ValueError(
            f"action from agent {agent_id!r}, {reason}; may act now: {turn or 'nobody'}"
        )
