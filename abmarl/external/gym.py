"""Simulations with one learning agent for libraries that still want the old gym package."""

from typing import Any

from abmarl.external.gym_spaces import to_gym
from abmarl.external.rendering import METADATA
from abmarl.external.single_agent import SingleAgent
from abmarl.extras import load
from abmarl.sim.agent_based_simulation import AgentBasedSimulation

gym = load("gym", "gym", "abmarl.external.gym")


def _kept_by_unwrapped(name: str) -> property:
    def get(self: "GymWrapper") -> Any:
        return getattr(self.unwrapped, name, None)

    def put(self: "GymWrapper", value: Any) -> None:
        setattr(self.unwrapped, name, value)

    return property(get, put, doc=f"What gym keeps as ``{name}`` of the unwrapped environment.")


class GymWrapper(gym.Env):
    """A `gym.Env` (0.26) around a simulation in which one agent learns.

    Args:
        sim: a simulation or a manager; others may be in it that do not learn.
        render_mode: ``"human"``, ``"rgb_array"``, ``"ansi"``, or None: `render` forwards to the
            simulation.
        horizon: steps after which an episode is truncated; None: never.

    Attributes:
        sim: what was given.
        agent_id: the id of the learning agent.

    Raises:
        TypeError: `sim` is neither a simulation nor a manager, a space is of a kind that gym does
            not have, or the horizon is no int.
        ValueError: there is not just one learning agent, the horizon is below 1, or there is no
            such render mode.
    """

    metadata = METADATA
    # `unwrapped` is the simulation, so that is where gym puts these and looks for them.
    spec = _kept_by_unwrapped("spec")
    _np_random = _kept_by_unwrapped("_np_random")

    def __init__(
        self, sim: Any, render_mode: str | None = None, horizon: int | None = None
    ) -> None:
        self._agent = SingleAgent(sim, type(self).__name__, render_mode, horizon)
        self.sim = sim
        self.agent_id = self._agent.agent_id
        self.action_space = to_gym(self._agent.action_space, "action_space")
        self.observation_space = to_gym(self._agent.observation_space, "observation_space")
        self.metadata, self.render_mode = self._agent.metadata, self._agent.render_mode

    @property
    def unwrapped(self) -> AgentBasedSimulation:
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
        before = self._np_random
        super().reset(seed=seed)
        try:
            return self._agent.reset(seed, options)
        except BaseException:
            self._np_random = before
            raise

    def step(self, action: Any, **kwargs: Any) -> tuple[Any, Any, bool, bool, dict]:
        """Let the agent act.

        Args:
            action: a point of the action space.
            **kwargs: for the simulation's step.

        Returns:
            Observation, reward, terminated, truncated and info. Terminated wins when an agent is
            done at the horizon.

        Raises:
            ValueError: the action is not in its space, or no episode is running; nothing has
                changed.
        """
        return self._agent.step(action, **kwargs)

    def render(self, **kwargs: Any) -> Any:
        """Show the present state in the render mode, or as the simulation itself does.

        Args:
            **kwargs: for the simulation's render, where there is no render mode.
        """
        if self.render_mode is None:
            return self.sim.render(**kwargs)
        return self._agent.render()

    def close(self) -> None:
        """Close the simulation, if it is one that can be closed."""
        self._agent.close()
