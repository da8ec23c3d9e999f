"""What both kinds of PettingZoo environments have in common."""

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from abmarl.external import rendering
from abmarl.external.pettingzoo.masks import ActionMasks
from abmarl.external.pettingzoo.state import global_state
from abmarl.external.rendering import METADATA, check_render_mode
from abmarl.external.seeding import prepare_seed
from abmarl.gridworld.fields import positive
from abmarl.managers import AllStepManager, SimulationManager
from abmarl.render.modes import modes_of
from abmarl.sim.agent_based_simulation import AgentBasedSimulation, is_agent


class AdaptedManager:
    """A manager with the attributes that PettingZoo gives its environments.

    Args:
        sim: A manager, or a simulation, which gets an `AllStepManager`.
        horizon: Steps of the manager after which an episode is truncated; None: never.
        render_mode: None or one of ``metadata["render_modes"]``.
        action_masks: Whether infos have an ``action_mask``.

    Attributes:
        manager: The manager.
        sim: Its simulation.
        possible_agents: Ids of all learning agents.
        agents: Ids of those that have not left; empty before the first and after the last step.

    Raises:
        TypeError: `sim` is neither a simulation nor a manager, or another parameter is of the wrong
            kind, or there are no masks.
        ValueError: Nobody both observes and acts, or another parameter is out of its range.
    """

    metadata: ClassVar = {"name": "abmarl", **METADATA}

    def __init__(
        self,
        sim: AgentBasedSimulation | SimulationManager,
        horizon: int | None = None,
        render_mode: str | None = None,
        action_masks: bool = False,
    ) -> None:
        if not isinstance(sim, AgentBasedSimulation | SimulationManager):
            raise TypeError(
                f"{type(self).__name__} needs a simulation or a manager, got {type(sim).__name__}"
            )
        self.horizon = None if horizon is None else positive("horizon", horizon)
        render_modes = modes_of(sim)
        self.render_mode = check_render_mode(render_mode, render_modes)
        if not isinstance(action_masks, bool):
            raise TypeError(f"action_masks must be True or False, got {action_masks!r:.60}")
        self.manager = AllStepManager(sim) if isinstance(sim, AgentBasedSimulation) else sim
        self.sim = self.manager.sim
        learners = {name: agent for name, agent in self.sim.agents.items() if is_agent(agent)}
        if not learners:
            raise ValueError(
                f"{type(self).__name__} needs an agent that both observes and acts, "
                f"{type(self.sim).__name__} has none"
            )
        self.possible_agents = list(learners)
        self.agents: list[str] = []
        self.observation_spaces = {name: one.observation_space for name, one in learners.items()}
        self.action_spaces = {name: one.action_space for name, one in learners.items()}
        # PettingZoo wants points with the dtype of their space, also where they are plain numbers.
        self._scalars = {
            name: space.dtype.type
            for name, space in self.observation_spaces.items()
            if isinstance(space, spaces.Discrete)
        }
        self._begun = False
        # Last observations of agents that have left.
        self._last_seen: dict[str, Any] = {}
        self._masks = ActionMasks(self.sim, self.action_spaces) if action_masks else None
        self._steps = 0
        self._state = None
        inner = getattr(self.sim, "unwrapped", self.sim)
        self.metadata = {
            **type(self).metadata,
            "name": type(inner).__name__,
            "render_modes": list(render_modes),
            "is_parallelizable": isinstance(self.manager, AllStepManager),
        }

    def observation_space(self, agent: str) -> spaces.Space:
        """The observation space of an agent, the same object every time.

        Raises:
            ValueError: There is no such agent.
        """
        return self._space_of(agent, self.observation_spaces)

    def action_space(self, agent: str) -> spaces.Space:
        """The action space of an agent, the same object every time.

        Raises:
            ValueError: There is no such agent.
        """
        return self._space_of(agent, self.action_spaces)

    @property
    def state_space(self) -> spaces.Box:
        """The space of `state`."""
        try:
            return self._global_state().space
        except TypeError as error:
            # PettingZoo asks with hasattr, which only knows this one.
            raise AttributeError(f"there is no state_space: {error}") from error

    def state(self) -> np.ndarray:
        """The whole world at present, for critics that may see all of it.

        Returns:
            Of a grid world, float32 ``[agents, features]``: all its agents in their order, also
            those that do not learn, and zeros for those that are not active. The features are
            named by `state_features`. Of another simulation float64 ``[n]``: the observations of
            all learning agents, flat and side by side; an agent that has left shows its last one.

        Raises:
            ValueError: No episode has begun.
            TypeError: Observations cannot be made flat.
        """
        if not self._begun:
            raise ValueError("there is no state before the first episode: call reset() first")
        return self._global_state().read(self._last_seen)

    @property
    def state_features(self) -> tuple[str, ...]:
        """What the columns of the state of a grid world are; empty for other simulations."""
        return self._global_state().features

    def render(self) -> Any:
        """Show the world as the render mode says.

        Returns:
            For ``"rgb_array"`` uint8 ``[height, width, 3]``, for ``"ansi"`` text, else None.

        Raises:
            ValueError: There is no render mode.
        """
        return rendering.render(self.sim, self.render_mode)

    def close(self) -> None:
        """Close the window, if there is one."""
        rendering.close(self.sim)

    @staticmethod
    def _space_of(agent: str, known: dict[str, spaces.Space]) -> spaces.Space:
        if agent not in known:
            more = ", ..." if len(known) > 8 else ""
            raise ValueError(f"there is no agent {agent!r}; there are {list(known)[:8]}{more}")
        return known[agent]

    def _show(self) -> None:
        """Keep a window up to date."""
        if self.render_mode == "human":
            self.render()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.manager!r})"

    def _global_state(self):
        if self._state is None:
            self._state = global_state(self.sim, self.observation_spaces)
        return self._state

    # --- episodes ---

    def _begin(self, seed: Any, options: Any) -> dict[str, Any]:
        """Start an episode; returns the observations of those who act first."""
        given = {"seed": seed, "options": options}
        prepare_seed(self.manager, seed)
        self.agents = []
        obs = self.manager.reset(**{key: one for key, one in given.items() if one is not None})
        self.agents = list(self.possible_agents)
        self._steps, self._begun, self._last_seen = 0, True, {}
        self._show()
        return self._typed(obs)

    def _refuse_step(self) -> None:
        raise ValueError("no episode is running, or it has ended: call reset() before step()")

    def _is_late(self) -> bool:
        """Count a step; whether it is the last one that the horizon allows."""
        self._steps += 1
        return self.horizon is not None and self._steps >= self.horizon

    def _typed(self, obs: dict[str, Any]) -> dict[str, Any]:
        if self._scalars:
            scalars = self._scalars
            obs.update((key, scalars[key](obs[key])) for key in obs.keys() & scalars.keys())
        return obs

    def _masked(self, infos: dict[str, Any]) -> dict[str, Any]:
        """Infos with the masks of the present state, where these are wanted."""
        if self._masks is None:
            return infos
        masks = self._masks.present()
        return {name: {**info, "action_mask": masks[name]} for name, info in infos.items()}
