"""The root of all wrappers: a simulation that passes everything on to another one."""

import copy
from collections.abc import Iterable
from typing import Any

from abmarl.sim.agent_based_simulation import AgentBasedSimulation, PrincipleAgent


class Wrapper(AgentBasedSimulation):
    """A simulation around another one.

    By itself it changes nothing. Its agents are copies, so that a subclass can give them other
    spaces and leave those of the inner simulation as they are; an agent of a grid world still
    shows its present position, health and so on. A subclass ends its ``__init__`` with
    ``self.finalize()``.

    Args:
        sim: the simulation to wrap, which may be a wrapper too.

    Attributes:
        sim: the simulation wrapped.

    Raises:
        TypeError: `sim` is not an AgentBasedSimulation.
    """

    def __init__(self, sim: AgentBasedSimulation) -> None:
        if not isinstance(sim, AgentBasedSimulation):
            raise TypeError(
                f"{type(self).__name__} wraps an AgentBasedSimulation, got {type(sim).__name__}"
            )
        self.sim: Any = sim
        self.agents = {agent_id: copy.copy(agent) for agent_id, agent in sim.agents.items()}

    @property
    def unwrapped(self) -> AgentBasedSimulation:
        """The simulation within all wrappers."""
        return self.sim.unwrapped if isinstance(self.sim, Wrapper) else self.sim

    @property
    def next_agent(self) -> Any:
        """Who acts next, where the inner simulation says so (a DynamicOrderSimulation)."""
        return self.sim.next_agent

    def reset(self, **kwargs: Any) -> None:
        """Start an episode of the inner simulation."""
        self.sim.reset(**kwargs)

    def step(self, action_dict: dict[str, Any], **kwargs: Any) -> None:
        """Hand the actions to the inner simulation."""
        self.sim.step(action_dict, **kwargs)

    def render(self, **kwargs: Any) -> Any:
        """Render the inner simulation."""
        return self.sim.render(**kwargs)

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """Return the agent's observation."""
        return self.sim.get_obs(agent_id, **kwargs)

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        """Return the reward gathered since it was last asked for."""
        return self.sim.get_reward(agent_id, **kwargs)

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Return whether the agent is done."""
        return self.sim.get_done(agent_id, **kwargs)

    def get_all_done(self, **kwargs: Any) -> bool:
        """Return whether the simulation is done."""
        return self.sim.get_all_done(**kwargs)

    def get_info(self, agent_id: str, **kwargs: Any) -> Any:
        """Return whatever else there is to say about the agent."""
        return self.sim.get_info(agent_id, **kwargs)

    def action_masks(self) -> dict[str, Any]:
        """Return which actions would do something now, as the inner simulation has them."""
        return self.sim.action_masks()

    def random_order(self, agent_ids: Iterable[str]) -> list[str]:
        """Return the ids in a random order, drawn as the inner simulation draws it."""
        return self.sim.random_order(agent_ids)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sim!r})"

    def _inner_agent(self, agent_id: str) -> PrincipleAgent:
        """Return the agent of the inner simulation.

        Raises:
            ValueError: there is none of this id.
        """
        try:
            return self.sim.agents[agent_id]
        except KeyError:
            raise ValueError(f"there is no agent {agent_id!r} in this simulation") from None
