"""A simulation with one learning agent, as gym and Gymnasium have environments."""

from typing import Any

from abmarl.external import adapter
from abmarl.external.adapter import METADATA
from abmarl.managers import SimulationManager
from abmarl.sim.agent_based_simulation import AgentBasedSimulation, is_agent
from abmarl.sim.spaces import contains


def only_learner(sim: Any, user: str) -> str:
    """Return the id of the only agent of a simulation or manager that both observes and acts.

    Raises:
        TypeError: `sim` is neither a simulation nor a manager.
        ValueError: There is no such agent, or there are several.
    """
    if not isinstance(sim, AgentBasedSimulation | SimulationManager):
        raise TypeError(f"{user} needs a simulation or a manager, got {type(sim).__name__}")
    ids = [agent_id for agent_id, agent in sim.agents.items() if is_agent(agent)]
    if len(ids) != 1:
        raise ValueError(
            f"{user} needs exactly one learning agent, {type(sim).__name__} has {len(ids)}"
            f"{': ' + ', '.join(ids[:4]) + (', ...' if len(ids) > 4 else '') if ids else ''}; "
            f"use PettingZooParallelWrapper, or SuperAgentWrapper to make one of several"
        )
    return ids[0]


class SingleAgentEnv:
    """What environments of gym and Gymnasium share; comes before their ``Env`` in bases."""

    metadata = METADATA
    # Of gym's and Gymnasium's ``Env``.
    _np_random: Any
    _np_random_seed: Any

    def __init__(
        self, sim: Any, render_mode: str | None = None, horizon: int | None = None
    ) -> None:
        user = type(self).__name__
        self.agent_id = only_learner(sim, user)
        self.sim, self._manager = sim, adapter.managed(sim, user)
        self._horizon = adapter.check_horizon(horizon)
        self._truncated = False
        self._steps = 0
        agent = self._manager.agents[self.agent_id]
        self.action_space, self.observation_space = agent.action_space, agent.observation_space
        self._action_space = agent.action_space
        self._set_rendering(render_mode, user)

    @property
    def simulation(self) -> AgentBasedSimulation:
        """The simulation within the manager and all wrappers."""
        sim = self._manager.sim
        return getattr(sim, "unwrapped", sim)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict]:
        """Start an episode.

        Args:
            seed: Restarts the random streams, as ``sim.reset(seed=seed)`` does; None goes on with
                them.
            options: Handed to the simulation's reset as ``options``, unless it is empty.

        Returns:
            The observation and the info.

        Raises:
            ValueError, TypeError: The seed is not an int >= 0; everything is as before.
        """
        before = self._np_random, self._np_random_seed
        super().reset(seed=seed)  # type: ignore[misc]
        try:
            adapter.prepare_seed(self._manager, seed)
            kwargs: dict[str, Any] = {} if seed is None else {"seed": seed}
            if options:
                kwargs["options"] = options
            obs = self._manager.reset(**kwargs)
            self._truncated, self._steps = False, 0
            _, _, info = _ends(self._manager.sim.get_info(self.agent_id), False)
            self._update_window()
            return obs[self.agent_id], info
        except BaseException:
            self._np_random, self._np_random_seed = before
            raise

    def step(self, action: Any, **kwargs: Any) -> tuple[Any, Any, bool, bool, dict]:
        """Let the agent act.

        Args:
            action: A point of the action space.
            **kwargs: For the simulation's step.

        Returns:
            Observation, reward, terminated, truncated and info. An agent that is done is
            terminated, unless its info says otherwise by the keys ``terminated`` and ``truncated``,
            which are removed from it then. It is truncated where only the horizon has ended it.

        Raises:
            ValueError: The action is not in its space, or no episode is running; nothing has
                changed.
        """
        if self._truncated:
            raise ValueError("the episode has ended at the horizon: call reset() before step()")
        # A grid world takes actions without some of their channels, gym and Gymnasium do not.
        if not contains(self._action_space, action):
            raise ValueError(
                f"the action of agent {self.agent_id!r} is {action!r:.200}, which is not in "
                f"{self._action_space!r:.300}"
            )
        results = self._manager.step({self.agent_id: action}, **kwargs)
        obs, reward, done, info = (one[self.agent_id] for one in results)
        self._steps += 1
        terminated, truncated, info = _ends(info, done or results[2]["__all__"])
        if self._horizon is not None and self._steps >= self._horizon:
            self._truncated = True
            truncated = truncated or not terminated
        self._update_window()
        return obs, reward, terminated, truncated, info

    def render(self) -> Any:
        """Show the present state in the render mode; a simulation without a grid shows itself."""
        if self._shows_itself:
            return self._manager.render()
        return adapter.render(self._manager, self.render_mode)

    def close(self) -> None:
        """Close the window, and the simulation, if it can be closed."""
        close = getattr(self.simulation, "close", None)
        if close is not None:
            close()

    def _update_window(self) -> None:
        """Show every state in the mode "human", as Gymnasium asks for."""
        if self.render_mode == "human" and not self._shows_itself:
            self.render()

    def _set_rendering(self, mode: str | None, user: str) -> None:
        sim = self.simulation
        self._shows_itself = not hasattr(sim, "grid")
        if not self._shows_itself:
            # A copy, because Gymnasium's vector environments write into it.
            self.metadata, self.render_mode = dict(METADATA), adapter.check_render_mode(mode)
            return
        # An environment that was made a simulation has the mode that it was made with.
        self.metadata = dict(getattr(sim, "metadata", {"render_modes": []}))
        self.render_mode = getattr(sim, "render_mode", None)
        if mode not in (None, self.render_mode):
            raise ValueError(
                f"{user} cannot show {type(sim).__name__}, which is no grid world, in the "
                f"render_mode {mode!r}; leave it out, render() calls the simulation's own render"
            )


def _ends(info: Any, done: bool) -> tuple[bool, bool, dict]:
    """Return terminated, truncated, and the info without what it said about them."""
    info = dict(info or {})
    if "terminated" in info and "truncated" in info:
        terminated, truncated = bool(info.pop("terminated")), bool(info.pop("truncated"))
        # The manager does not let a done agent act, whatever the info says.
        return terminated or (bool(done) and not truncated), truncated, info
    return bool(done), False, info
