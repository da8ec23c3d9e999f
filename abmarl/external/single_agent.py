"""A simulation with one learning agent, spoken to in points instead of dicts by agent id."""

from typing import Any

from abmarl.external import rendering
from abmarl.external.learners import only_learner
from abmarl.external.rendering import METADATA, check_render_mode
from abmarl.external.seeding import prepare_seed
from abmarl.managers import AllStepManager, SimulationManager
from abmarl.sim.agent_based_simulation import AgentBasedSimulation
from abmarl.sim.spaces import contains


class SingleAgent:
    """The only learning agent of a simulation, as gym and Gymnasium have it.

    Args:
        sim: a simulation or a manager.
        user: what needs it, for messages.
        render_mode: one of the modes of rendering, or None.
        horizon: steps after which an episode is truncated; None: never.

    Attributes:
        manager: the manager; a simulation is put into an `AllStepManager`.
        agent_id: the agent's id.
        render_mode: the mode in which `render` shows the simulation.
        metadata: the render modes that there are, and the frames per second.

    Raises:
        TypeError: `sim` is neither a simulation nor a manager, or the horizon is no int.
        ValueError: there is not just one learning agent, the horizon is below 1, or there is no
            such render mode.
    """

    def __init__(
        self, sim: Any, user: str, render_mode: str | None = None, horizon: int | None = None
    ) -> None:
        self.agent_id = only_learner(sim, user)
        self.manager = sim if isinstance(sim, SimulationManager) else AllStepManager(sim)
        if horizon is not None:
            if isinstance(horizon, bool) or not isinstance(horizon, int):
                raise TypeError(f"horizon must be an int or None, got {horizon!r:.60}")
            if horizon < 1:
                raise ValueError(f"horizon must be 1 or more, or None for no end, got {horizon}")
        self.horizon = horizon
        self._over = False
        self._steps = 0
        self._set_rendering(render_mode, user)

    @property
    def unwrapped(self) -> AgentBasedSimulation:
        """The simulation within the manager and all wrappers."""
        sim = self.manager.sim
        return getattr(sim, "unwrapped", sim)

    @property
    def action_space(self) -> Any:
        """The agent's action space."""
        return self.manager.agents[self.agent_id].action_space

    @property
    def observation_space(self) -> Any:
        """The agent's observation space."""
        return self.manager.agents[self.agent_id].observation_space

    def reset(self, seed: Any = None, options: dict | None = None) -> tuple[Any, dict]:
        """Start an episode.

        Args:
            seed: for the simulation; None goes on with its random stream.
            options: handed to the simulation's reset, unless there are none.

        Returns:
            The observation and the info.

        Raises:
            TypeError, ValueError: the seed is none; everything is as before.
        """
        prepare_seed(self.manager, seed)
        kwargs = {} if seed is None else {"seed": seed}
        if options:
            kwargs["options"] = options
        obs = self.manager.reset(**kwargs)
        self._over, self._steps = False, 0
        _, _, info = _ends(self.manager.sim.get_info(self.agent_id), False)
        self._show()
        return obs[self.agent_id], info

    def step(self, action: Any, **kwargs: Any) -> tuple[Any, Any, bool, bool, dict]:
        """Let the agent act.

        Args:
            action: a point of its action space.
            **kwargs: for the simulation's step.

        Returns:
            Observation, reward, terminated, truncated and info. An agent that is done is
            terminated, unless its info says otherwise by the keys ``terminated`` and ``truncated``,
            which are taken out of it then. It is truncated when only the horizon has ended it.

        Raises:
            ValueError: the action is not in its space, or no episode is running. Nothing has
                changed.
        """
        if self._over:
            raise ValueError("the episode has ended at the horizon: call reset() before step()")
        # A grid world takes actions without some of their channels, which gym and Gymnasium do not.
        if not contains(self.action_space, action):
            raise ValueError(
                f"the action of agent {self.agent_id!r} is {action!r:.200}, which is not in "
                f"{self.action_space!r:.300}"
            )
        found = self.manager.step({self.agent_id: action}, **kwargs)
        obs, reward, done, info = (one[self.agent_id] for one in found)
        self._steps += 1
        terminated, truncated, info = _ends(info, done or found[2]["__all__"])
        if self.horizon is not None and self._steps >= self.horizon:
            self._over = True
            truncated = truncated or not terminated
        self._show()
        return obs, reward, terminated, truncated, info

    def render(self) -> Any:
        """Show the simulation in the render mode; one that is no grid world shows itself.

        Raises:
            ValueError: there is no render mode.
            ImportError: what draws is not installed.
        """
        if self._shows_itself:
            return self.manager.render()
        return rendering.render(self.manager, self.render_mode)

    def _show(self) -> None:
        """Keep a window up to date, as Gymnasium asks for in the mode "human"."""
        if self.render_mode == "human" and not self._shows_itself:
            self.render()

    def close(self) -> None:
        """Close the window, and the simulation, if it is one that can be closed."""
        close = getattr(self.unwrapped, "close", None)
        if close is not None:
            close()

    def _set_rendering(self, mode: str | None, user: str) -> None:
        sim = self.unwrapped
        self._shows_itself = not hasattr(sim, "grid")
        if not self._shows_itself:
            # A copy, because Gymnasium's vector environments write into it.
            self.metadata, self.render_mode = dict(METADATA), check_render_mode(mode)
            return
        # An environment in the form of a simulation has a mode that it was made with.
        self.metadata = dict(getattr(sim, "metadata", {"render_modes": []}))
        self.render_mode = getattr(sim, "render_mode", None)
        if mode not in (None, self.render_mode):
            raise ValueError(
                f"{user} cannot show {type(sim).__name__}, which is no grid world, in the "
                f"render_mode {mode!r}; leave it out, render() calls the simulation's own render"
            )


class SingleAgentEnv:
    """What environments of gym and Gymnasium have in common; comes before their `Env` in bases."""

    metadata = METADATA

    def _take(self, sim: Any, render_mode: str | None, horizon: int | None) -> None:
        self._agent = SingleAgent(sim, type(self).__name__, render_mode, horizon)
        self.sim = sim
        self.agent_id = self._agent.agent_id
        self.action_space = self._agent.action_space
        self.observation_space = self._agent.observation_space
        self.metadata, self.render_mode = self._agent.metadata, self._agent.render_mode

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

    def close(self) -> None:
        """Close the simulation, if it is one that can be closed."""
        self._agent.close()


def _ends(info: Any, done: bool) -> tuple[bool, bool, dict]:
    """Terminated, truncated, and the info without what it said about that."""
    info = dict(info or {})
    if "terminated" in info and "truncated" in info:
        terminated, truncated = bool(info.pop("terminated")), bool(info.pop("truncated"))
        # The manager lets nobody act who is done, whatever the info says.
        return terminated or (bool(done) and not truncated), truncated, info
    return bool(done), False, info
