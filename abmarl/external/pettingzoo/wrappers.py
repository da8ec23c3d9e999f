"""PettingZoo's two kinds of environments: all agents act at once, or one after the other."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.external import adapter
from abmarl.external.pettingzoo.state import GridState, JointObservations, global_state
from abmarl.extras import load
from abmarl.managers import AllStepManager, SimulationManager
from abmarl.render.modes import modes_of
from abmarl.sim.agent_based_simulation import AgentBasedSimulation
from abmarl.sim.spaces import contains

pettingzoo = load("pettingzoo", "pettingzoo", "abmarl.external.pettingzoo")

Step = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]


class PettingZooEnv:
    """What both kinds of environments have in common; comes before PettingZoo's class in bases.

    Attributes:
        manager: The manager.
        sim: Its simulation.
        possible_agents: Ids of all learning agents.
        agents: Ids of those that have not left; empty before the first and after the last step.
    """

    metadata: dict[str, Any] = {"name": "abmarl", **adapter.METADATA}  # noqa: RUF012 - as PettingZoo's

    def __init__(
        self,
        sim: AgentBasedSimulation | SimulationManager,
        horizon: int | None = None,
        render_mode: str | None = None,
        action_masks: bool = False,
    ) -> None:
        user = type(self).__name__
        self.manager = adapter.managed(sim, user)
        self.sim = self.manager.sim
        self.horizon = adapter.check_horizon(horizon)
        render_modes = modes_of(sim)
        self.render_mode = adapter.check_render_mode(render_mode, render_modes)
        if not isinstance(action_masks, bool):
            raise TypeError(f"action_masks must be True or False, got {action_masks!r:.60}")
        learners = adapter.learning_agents(self.manager, user)
        self.possible_agents = list(learners)
        self.agents: list[str] = []
        self.observation_spaces = {name: one.observation_space for name, one in learners.items()}
        self.action_spaces = {name: one.action_space for name, one in learners.items()}
        # PettingZoo wants observations with the dtype of their space, also plain numbers.
        self._scalars = {
            name: np.dtype(space.dtype).type
            for name, space in self.observation_spaces.items()
            if isinstance(space, spaces.Discrete)
        }
        self._begun = False
        # Last observations of agents that have left.
        self._last_seen: dict[str, Any] = {}
        self._masked = action_masks
        if action_masks:
            _check_masks(self.sim, self.action_spaces)
        self._steps = 0
        self._state_reader: GridState | JointObservations | None = None
        inner = getattr(self.sim, "unwrapped", self.sim)
        self.metadata = {
            **type(self).metadata,
            "name": type(inner).__name__,
            "render_modes": list(render_modes),
            "is_parallelizable": isinstance(self.manager, AllStepManager),
        }

    def observation_space(self, agent: str) -> spaces.Space:
        """Return the observation space of an agent, the same object every time."""
        return self._space_of(agent, self.observation_spaces)

    def action_space(self, agent: str) -> spaces.Space:
        """Return the action space of an agent, the same object every time."""
        return self._space_of(agent, self.action_spaces)

    @property
    def state_space(self) -> spaces.Box:
        """The space of `state`."""
        try:
            return self._reader().space
        except TypeError as error:
            # PettingZoo asks with hasattr, which only knows this one.
            raise AttributeError(f"there is no state_space: {error}") from error

    def state(self) -> np.ndarray:
        """Return the whole world at present, for critics that may see all of it.

        Returns:
            For a grid world, float32 ``[agents, features]``: all its agents in their order, also
            those that do not learn, and zeros for those that are not active. The features are
            named by `state_features`. For another simulation float64 ``[n]``: the observations of
            all learning agents, flat and side by side; an agent that has left shows its last one.

        Raises:
            ValueError: No episode has begun.
            TypeError: Observations cannot be made flat.
        """
        if not self._begun:
            raise ValueError("there is no state before the first episode: call reset() first")
        return self._reader().read(self._last_seen)

    @property
    def state_features(self) -> tuple[str, ...]:
        """The names of the columns of a grid world's state; empty for other simulations."""
        return self._reader().features

    def render(self) -> Any:
        """Show the world as the render mode says.

        Returns:
            For ``"rgb_array"`` uint8 ``[height, width, 3]``, for ``"ansi"`` text, else None.
        """
        return adapter.render(self.sim, self.render_mode)

    def close(self) -> None:
        """Close the window, if there is one."""
        adapter.close(self.sim)

    @staticmethod
    def _space_of(agent: str, known: dict[str, spaces.Space]) -> spaces.Space:
        if agent not in known:
            more = ", ..." if len(known) > 8 else ""
            raise ValueError(f"there is no agent {agent!r}; there are {list(known)[:8]}{more}")
        return known[agent]

    def _update_window(self) -> None:
        if self.render_mode == "human":
            self.render()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.manager!r})"

    def _reader(self) -> GridState | JointObservations:
        if self._state_reader is None:
            self._state_reader = global_state(self.sim, self.observation_spaces)
        return self._state_reader

    def _begin(self, seed: Any, options: Any) -> dict[str, Any]:
        """Start an episode and return the observations of those who act first."""
        given = {"seed": seed, "options": options}
        adapter.prepare_seed(self.manager, seed)
        self.agents = []
        obs = self.manager.reset(**{key: one for key, one in given.items() if one is not None})
        self.agents = list(self.possible_agents)
        self._steps, self._begun, self._last_seen = 0, True, {}
        self._update_window()
        return self._typed(obs)

    def _refuse_step(self) -> None:
        raise ValueError("no episode is running, or it has ended: call reset() before step()")

    def _is_late(self) -> bool:
        """Count a step and return whether it is the last one that the horizon allows."""
        self._steps += 1
        return self.horizon is not None and self._steps >= self.horizon

    def _typed(self, obs: dict[str, Any]) -> dict[str, Any]:
        if self._scalars:
            scalars = self._scalars
            obs.update((key, scalars[key](obs[key])) for key in obs.keys() & scalars.keys())
        return obs

    def _with_masks(self, infos: dict[str, Any]) -> dict[str, Any]:
        """Return the infos, with the masks of the present state where these are asked for."""
        if not self._masked:
            return infos
        masks = self.sim.action_masks()
        return {
            name: {**info, "action_mask": as_mask(self.action_spaces[name], masks.get(name))}
            for name, info in infos.items()
        }


class PettingZooParallelWrapper(PettingZooEnv, pettingzoo.ParallelEnv):  # type: ignore[name-defined]
    """A simulation in which all agents act at once, as a ``pettingzoo.ParallelEnv``.

    Agents leave `agents` in the step in which they end, and are reported in it for the last time,
    with their final observation and reward. They are terminated when they or the simulation are
    done, else truncated when the horizon is reached.

    Args:
        sim: A simulation, or an `AllStepManager` around one.
        horizon: Steps after which an episode is truncated; None: never.
        render_mode: None or one of ``metadata["render_modes"]``.
        action_masks: Whether infos have an ``action_mask``, which ``action_space(agent).sample``
            takes: int8, 1 for choices that would do something now.

    Raises:
        TypeError: The agents do not all act at once, or a parameter is of the wrong kind, or the
            simulation has no masks.
        ValueError: No agent both observes and acts, or a parameter is out of its range.
    """

    def __init__(
        self,
        sim: AgentBasedSimulation | AllStepManager,
        horizon: int | None = None,
        render_mode: str | None = None,
        action_masks: bool = False,
    ) -> None:
        if isinstance(sim, SimulationManager) and not isinstance(sim, AllStepManager):
            raise TypeError(
                f"{type(self).__name__} needs an AllStepManager, got {type(sim).__name__}; "
                f"use PettingZooAECWrapper, where agents take turns"
            )
        super().__init__(sim, horizon, render_mode, action_masks)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode.

        Args:
            seed: For the simulation; None goes on with its random stream.
            options: For the simulation's ``reset``, as ``options``, where given.

        Returns:
            Observations and infos by id.
        """
        obs = self._begin(seed, options)
        return obs, self._with_masks({agent_id: self.sim.get_info(agent_id) for agent_id in obs})

    def step(self, actions: Mapping[str, Any]) -> Step:
        """Let agents act, in the order of the dict; those left out do not act.

        Args:
            actions: By id, of agents in `agents`.

        Returns:
            Observations, rewards, terminations, truncations and infos of all who were in `agents`.
            Arrays handed out are never written to again.

        Raises:
            TypeError, ValueError: No episode is running, an action is of an agent that is not in
                `agents`, or it is not in its space. Nothing has changed then.
        """
        if not self.agents:
            self._refuse_step()
        obs, rewards, terminated, infos = self.manager.step(actions)  # type: ignore[arg-type]
        over, late = terminated.pop("__all__"), self._is_late()
        truncated = dict.fromkeys(obs, False)
        if self._scalars:
            obs = self._typed(obs)
        left: list[str] = []
        if over:
            terminated = dict.fromkeys(obs, True)
        elif late:
            truncated = {agent_id: not done for agent_id, done in terminated.items()}
        elif any(terminated.values()):
            left = [agent_id for agent_id, done in terminated.items() if not done]
        else:
            left = self.agents
        if left is not self.agents:
            staying = set(left)
            gone = {agent_id: one for agent_id, one in obs.items() if agent_id not in staying}
            self._last_seen = {**self._last_seen, **gone}
            self.agents = left
        self._update_window()
        return obs, rewards, terminated, truncated, self._with_masks(infos)


class PettingZooAECWrapper(PettingZooEnv, pettingzoo.AECEnv):  # type: ignore[name-defined]
    """A simulation in which agents act one after the other, as a ``pettingzoo.AECEnv``.

    The manager says whose turn it is. Where it waits for several agents, as an `AllStepManager`
    does, their actions are collected, and the simulation takes its step with the last of them.
    After every step of the simulation all agents have their rewards, also those who are not on
    turn, and those who are done are the next to be selected, for their dead step.

    Args:
        sim: A manager, or a simulation, which gets an `AllStepManager`.
        horizon: Steps of the manager after which an episode is truncated, None: never. With an
            `AllStepManager` that is one round of all agents, with a `TurnBasedManager` one turn.
        render_mode: None or one of ``metadata["render_modes"]``.
        action_masks: Whether infos have an ``action_mask``, which ``action_space(agent).sample``
            takes: int8, 1 for choices that would do something now.

    Raises:
        TypeError: A parameter is of the wrong kind, or the simulation has no masks.
        ValueError: No agent both observes and acts, or a parameter is out of its range.
    """

    def __init__(
        self,
        sim: AgentBasedSimulation | SimulationManager,
        horizon: int | None = None,
        render_mode: str | None = None,
        action_masks: bool = False,
    ) -> None:
        super().__init__(sim, horizon, render_mode, action_masks)
        # Agents whose actions the manager waits for, and the actions collected so far.
        self._due: list[str] = []
        self._chosen: dict[str, Any] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode.

        Args:
            seed: For the simulation; None goes on with its random stream. With a seed, turns begin
                with the first agent.
            options: For the simulation's ``reset``, as ``options``, where given.
        """
        self._due = list(self._begin(seed, options))
        self._chosen = {}
        agents = self.agents
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos = self._with_masks(
            {agent_id: self.sim.get_info(agent_id) for agent_id in agents}
        )
        self.agent_selection = self._due[0]
        self._skip_agent_selection = None
        self._paid = False

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, reward since its last action, ends and info of the selected agent."""
        if not self._begun:
            raise ValueError("no agent is on turn before the first episode: call reset() first")
        return super().last(observe)

    def observe(self, agent: str) -> Any:
        """Return what an agent observes at present."""
        if agent not in self.terminations:
            raise ValueError(
                f"agent {agent!r} has left or never was here; there are {self.agents[:8]}"
            )
        return self._typed({agent: self.sim.get_obs(agent)})[agent]

    def step(self, action: Any) -> None:
        """Let the selected agent act.

        Args:
            action: Its action; None for an agent that is terminated or truncated.

        Raises:
            TypeError, ValueError: No episode is running, or it is not an action of this agent.
                Nothing has changed then.
        """
        if not self.agents:
            self._refuse_step()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            seen = None if action is not None else self.observe(agent)
            self._was_dead_step(action)
            self._last_seen = {**self._last_seen, agent: seen}
            return
        if len(self._due) > 1 and not contains(self.action_spaces[agent], action):
            # The simulation would find out too late, when others have chosen as well.
            raise ValueError(
                f"action of agent {agent!r} is {action!r:.200}, "
                f"which is not in {self.action_spaces[agent]!r:.200}"
            )
        chosen = self._chosen if len(self._due) > 1 else {}
        chosen[agent] = action
        if len(chosen) < len(self._due):
            self.agent_selection = self._due[len(chosen)]
            if self._paid:
                self._clear_rewards()
                self._paid = False
            self._cumulative_rewards[agent] = 0.0
            return
        try:
            output = self.manager.step(chosen)
        except BaseException:
            del chosen[agent]
            raise
        self._cumulative_rewards[agent] = 0.0
        self._report(*output)

    def _report(self, obs: dict, rewards: dict, dones: dict, infos: dict) -> None:
        """Take the results of a step of the manager, and ask for those it does not report."""
        sim = self.sim
        over, late = dones.pop("__all__"), self._is_late()
        for agent in self.agents:
            if agent in obs:
                reward, done, info = rewards[agent], dones[agent], infos[agent]
            else:
                reward, done, info = (
                    read(agent) for read in (sim.get_reward, sim.get_done, sim.get_info)
                )
            self.rewards[agent] = reward
            self.infos[agent] = info
            self.terminations[agent] = ended = bool(done or over)
            self.truncations[agent] = late and not ended
        self._paid = True
        self._accumulate_rewards()
        self.infos = self._with_masks(self.infos)
        self._chosen = {}
        self._due = [agent for agent in obs if not dones[agent] and agent in self.rewards]
        self.agent_selection = self._due[0] if self._due else self.agents[0]
        self._deads_step_first()
        self._update_window()


def as_mask(space: spaces.Space, mask: Any) -> Any:
    """Return a mask of the engine as ``space.sample(mask)`` takes it.

    Args:
        space: The action space.
        mask: Bool arrays by channel, or one: a value per choice, or ``[entries, options]``.

    Returns:
        int8 ``[n]`` for a `Discrete`, a tuple of such for a `MultiDiscrete`, a dict of masks for a
        `Dict`; None where the space takes no mask or the engine has none.
    """
    if isinstance(space, spaces.Dict):
        if isinstance(mask, np.ndarray):  # the parts of a channel, side by side
            mask = dict(zip(space.spaces, mask, strict=True))
        return {key: as_mask(part, (mask or {}).get(key)) for key, part in space.spaces.items()}
    if not isinstance(mask, np.ndarray):
        return None
    if isinstance(space, spaces.Discrete):
        return mask.astype(np.int8)
    if isinstance(space, spaces.MultiDiscrete) and mask.ndim == 2:
        return tuple(mask.astype(np.int8))
    return None


def _takes_masks(space: spaces.Space) -> bool:
    if isinstance(space, spaces.Dict):
        return any(map(_takes_masks, space.values()))
    return isinstance(space, spaces.Discrete | spaces.MultiDiscrete)


def _check_masks(sim: AgentBasedSimulation, action_spaces: Mapping[str, Any]) -> None:
    """Refuse a simulation without action masks, or whose action spaces take none."""
    kind: Any = type(getattr(sim, "unwrapped", sim))
    if kind.action_masks is AgentBasedSimulation.action_masks:
        raise TypeError(
            f"{kind.__name__} has no action masks: they are made for declared grid worlds"
        )
    if not any(map(_takes_masks, action_spaces.values())):
        raise ValueError(
            "no action space here takes a mask, gymnasium has them for Discrete and "
            "MultiDiscrete; use CrossMoveActor, or RavelDiscreteActionWrapper(sim)"
        )
