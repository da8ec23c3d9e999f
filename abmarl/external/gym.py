"""Simulations with one learning agent for libraries that still want the old gym package."""

from typing import Any

from abmarl.external.gym_spaces import to_gym
from abmarl.external.single_agent import SingleAgentEnv
from abmarl.extras import load
from abmarl.sim.agent_based_simulation import AgentBasedSimulation

gym = load("gym", "gym", "abmarl.external.gym")


def _kept_by_unwrapped(name: str) -> property:
    def get(self: "GymWrapper") -> Any:
        return getattr(self.unwrapped, name, None)

    def put(self: "GymWrapper", value: Any) -> None:
        setattr(self.unwrapped, name, value)

    return property(get, put, doc=f"What gym keeps as ``{name}`` of the unwrapped environment.")


class GymWrapper(SingleAgentEnv, gym.Env):
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

    # `unwrapped` is the simulation, so that is where gym puts these and looks for them.
    spec = _kept_by_unwrapped("spec")
    _np_random = _kept_by_unwrapped("_np_random")
    _np_random_seed = None  # gym, unlike Gymnasium, does not keep it

    def __init__(
        self, sim: Any, render_mode: str | None = None, horizon: int | None = None
    ) -> None:
        self._take(sim, render_mode, horizon)
        self.action_space = to_gym(self.action_space, "action_space")
        self.observation_space = to_gym(self.observation_space, "observation_space")

    @property
    def unwrapped(self) -> AgentBasedSimulation:
        """The simulation within the manager and all wrappers."""
        return self._agent.unwrapped

    def render(self, **kwargs: Any) -> Any:
        """Show the present state in the render mode, or as the simulation itself does.

        Args:
            **kwargs: for the simulation's render, where there is no render mode.
        """
        if self.render_mode is None:
            return self.sim.render(**kwargs)
        return self._agent.render()
