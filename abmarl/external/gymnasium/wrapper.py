"""A simulation with one learning agent as a Gymnasium environment."""

from typing import Any

import gymnasium

from abmarl.external.single_agent import SingleAgentEnv
from abmarl.sim.agent_based_simulation import AgentBasedSimulation


class GymnasiumWrapper(SingleAgentEnv, gymnasium.Env):
    """A `gymnasium.Env` around a simulation in which one agent learns.

    Args:
        sim: a simulation or a manager; others may be in it that do not learn.
        render_mode: None, ``"human"`` (a window), ``"rgb_array"`` (arrays) or ``"ansi"`` (text).
        horizon: steps after which an episode is truncated; None: never.

    Attributes:
        sim: what was given.
        agent_id: the id of the learning agent.

    Raises:
        TypeError: `sim` is neither a simulation nor a manager, or the horizon is no int.
        ValueError: there is not just one learning agent, the horizon is below 1, or there is no
            such render mode.
    """

    def __init__(
        self, sim: Any, render_mode: str | None = None, horizon: int | None = None
    ) -> None:
        self._take(sim, render_mode, horizon)

    @property
    def simulation(self) -> AgentBasedSimulation:
        """The simulation within the manager and all wrappers."""
        return self._agent.unwrapped

    def render(self) -> Any:
        """Show the present state in the render mode; a simulation without a grid shows itself.

        Raises:
            ValueError: there is no render mode.
        """
        return self._agent.render()
