"""A simulation with one learning agent as a Gymnasium environment."""

from typing import Any

import gymnasium

from abmarl.external.rendering import METADATA
from abmarl.external.single_agent import SingleAgent
from abmarl.sim.agent_based_simulation import AgentBasedSimulation


class GymnasiumWrapper(gymnasium.Env):
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

    metadata = METADATA

    def __init__(
        self, sim: Any, render_mode: str | None = None, horizon: int | None = None
    ) -> None:
        self._agent = SingleAgent(sim, type(self).__name__, render_mode, horizon)
        self.sim = sim
        self.agent_id = self._agent.agent_id
        self.action_space = self._agent.action_space
        self.observation_space = self._agent.observation_space
        self.metadata, self.render_mode = self._agent.metadata, self._agent.render_mode

    @property
    def simulation(self) -> AgentBasedSimulation:
        """The simulation within the manager and all wrappers."""
        return self._agent.unwrapped

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict]:
        """Start an episode.

        Args:
            seed: starts the random streams anew, as ``sim.reset(seed=seed)`` does; None goes on
                with them.
            options: for the simulation's reset.

        Returns:
            The observation and the info.

        Raises:
            ValueError, TypeError: the seed is no int >= 0; everything is as before.
        """
        before = self._np_random, self._np_random_seed
        super().reset(seed=seed)
        try:
            return self._agent.reset(seed, options)
        except BaseException:
            self._np_random, self._np_random_seed = before
            raise

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict]:
        """Let the agent act.

        Args:
            action: a point of the action space.

        Returns:
            Observation, reward, terminated, truncated and info. Terminated wins when an agent is
            done at the horizon.

        Raises:
            ValueError: the action is not in its space, or no episode is running; nothing has
                changed.
        """
        return self._agent.step(action)

    def render(self) -> Any:
        """Show the present state in the render mode; a simulation without a grid shows itself.

        Raises:
            ValueError: there is no render mode.
        """
        return self._agent.render()

    def close(self) -> None:
        """Close the simulation, if it is one that can be closed."""
        self._agent.close()
