"""A manager as an environment of RLlib, one world at a time, and the way back."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from abmarl.external import adapter
from abmarl.managers import SimulationManager
from abmarl.sim.agent_based_simulation import AgentBasedSimulation, DynamicOrderSimulation
from abmarl.sim.agents import Agent


class MultiAgentWrapper(MultiAgentEnv):
    """A manager as a ``MultiAgentEnv`` of RLlib's new API stack.

    Agents in the observations act next, save those that ended. An agent ends once, with its final
    observation and reward: terminated when it or the simulation is done, else truncated when the
    time limit is reached.

    Args:
        sim: A manager, or a simulation, which is given an `AllStepManager`.
        horizon: Steps of the manager after which an episode is truncated; None: never.
        render_mode: None, ``"human"``, ``"rgb_array"`` or ``"ansi"``.

    Attributes:
        sim: The manager.
        possible_agents: Ids of the agents that both observe and act; `agent_ids` the same as a set.
        observation_spaces, action_spaces: Their spaces by id.
        observation_space, action_space: The same as one `Dict` each.

    Raises:
        TypeError: `sim` is neither a manager nor a simulation, or `horizon` is not an int.
        ValueError: `horizon` is below 1, no agent learns, or there is no such render mode.
    """

    def __init__(
        self,
        sim: SimulationManager | AgentBasedSimulation,
        horizon: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.sim = adapter.managed(sim, "MultiAgentWrapper")
        self.horizon = adapter.check_horizon(horizon)
        self.render_mode = adapter.check_render_mode(render_mode)
        self.metadata = dict(adapter.METADATA)
        learners = adapter.learning_agents(self.sim, "MultiAgentWrapper")
        self.possible_agents = list(learners)
        self.agent_ids = self._agent_ids = set(learners)
        self.observation_spaces = {key: one.observation_space for key, one in learners.items()}
        self.action_spaces = {key: one.action_space for key, one in learners.items()}
        self.observation_space = spaces.Dict(self.observation_spaces)
        self.action_space = spaces.Dict(self.action_spaces)
        self._length = 0
        self._running = False
        super().__init__()

    @property
    def agents(self) -> Mapping[str, Any]:
        """All agents of the simulation by id.

        RLlib asks for a list of ids and gets along with a dict; experiment files look agents up in
        ``unwrapped.agents``.
        """
        return self.sim.agents

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[dict, dict]:
        """Start an episode.

        Args:
            seed: Restarts the simulation's random stream; None goes on with it.
            options: Not used.

        Returns:
            Observations and infos of the agents that act first, by id.
        """
        self._running = False
        obs = self.sim.reset() if seed is None else self.sim.reset(seed=seed)
        self._length = 0
        self._running = True
        return obs, {agent_id: {} for agent_id in obs}

    def step(self, action_dict: Mapping[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """Let agents act.

        Args:
            action_dict: Actions by agent id.

        Returns:
            Observations, rewards, terminateds, truncateds and infos by agent id; the third and the
            fourth hold ``"__all__"`` too. At the time limit the fourth holds ``"__all__"`` for all
            agents that are truncated.

        Raises:
            ValueError, TypeError: An action comes from an agent that must not act or does not lie
                in its space, or no episode is running. Nothing has changed then.
        """
        if not self._running:
            raise ValueError("no episode is running, or it has ended: call reset() before step()")
        obs, rewards, dones, infos = self.sim.step(action_dict)  # type: ignore[arg-type]
        all_done = bool(dones.pop("__all__"))
        self._length += 1
        late = not all_done and self._length == self.horizon
        if late:
            self._add_waiting(obs, rewards, dones, infos)
        self._running = not (all_done or late)
        terminateds = {agent_id: bool(done) or all_done for agent_id, done in dones.items()}
        # RLlib treats an episode as terminated if every agent has a flag of its own, and does not
        # bootstrap then: at the time limit "__all__" stands for those that are truncated.
        truncateds = {key: False for key, ended in terminateds.items() if ended or not late}
        return (
            obs,
            {agent_id: float(reward) for agent_id, reward in rewards.items()},
            {**terminateds, "__all__": all_done},
            {**truncateds, "__all__": late},
            {agent_id: _as_dict(info) for agent_id, info in infos.items()},
        )

    def render(self, **kwargs: Any) -> Any:
        """Show the simulation in the render mode, else as its manager does.

        Args:
            **kwargs: For the manager.
        """
        if self.render_mode is not None:
            return adapter.render(self.sim, self.render_mode)
        return self.sim.render(**kwargs)

    def close(self) -> None:
        """Close the window, if there is one."""
        adapter.close(self.sim)

    def _add_waiting(self, obs: dict, rewards: dict, dones: dict, infos: dict) -> None:
        """Report, at the time limit, the agents that are not on turn: they end as well."""
        sim = self.sim.sim
        for agent_id in self.possible_agents:
            if agent_id not in obs and agent_id not in self.sim.done_agents:
                obs[agent_id] = sim.get_obs(agent_id)
                rewards[agent_id] = sim.get_reward(agent_id)
                dones[agent_id] = sim.get_done(agent_id)
                infos[agent_id] = sim.get_info(agent_id)

    def __repr__(self) -> str:
        return f"MultiAgentWrapper({self.sim!r})"


def _as_dict(info: Any) -> dict:
    if isinstance(info, dict):
        return info
    return {} if info is None else {"info": info}


class FirstSeed:
    """The seed with which an environment resets its simulation.

    Without a seed, the first episode gets a fresh one: otherwise a simulation that was made once
    and copied to several env runners would do the same in all of them. A repeated seed is ignored:
    RLlib gives it before every sample of whole episodes, which would all start alike.
    """

    def __init__(self) -> None:
        self._last: int | None = None
        self._begun = False

    def __call__(self, seed: int | None) -> int | None:
        """Return the seed for a reset with `seed`; None goes on with the random stream."""
        begun, self._begun = self._begun, True
        if seed is None:
            return None if begun else int(np.random.SeedSequence().generate_state(1)[0])
        if begun and seed == self._last:
            return None
        self._last = seed
        return seed


class MultiAgentEnvSimulation(DynamicOrderSimulation):
    """A ``MultiAgentEnv`` as a simulation.

    The agents that observe something act next, as ``next_agent`` says. Where always all do, every
    manager fits; else use the `DynamicOrderManager`.

    Attributes:
        env: The environment.
    """

    def __init__(self, env: MultiAgentEnv) -> None:
        if not isinstance(env, MultiAgentEnv):
            raise TypeError(f"env must be a MultiAgentEnv of RLlib, got {type(env).__name__}")
        if not env.possible_agents:
            raise ValueError(f"{type(env).__name__} names no possible_agents")
        self.env = env
        made = {}
        for agent_id in env.possible_agents:
            space, actions = env.get_observation_space(agent_id), env.get_action_space(agent_id)
            if space is None or actions is None:
                raise ValueError(
                    f"agent {agent_id!r} has no space; set observation_spaces and action_spaces "
                    f"of {type(env).__name__}"
                )
            made[agent_id] = Agent(id=agent_id, observation_space=space, action_space=actions)
        self.agents = made
        self._clear()
        self.finalize()

    def reset(self, seed: int | None = None, options: dict | None = None, **kwargs: Any) -> None:
        """Start an episode; `seed` and `options` are the environment's."""
        obs, infos = self.env.reset(seed=seed, options=options)
        self._clear()
        self._take(obs, infos)

    def step(self, action_dict: dict[str, Any], **kwargs: Any) -> None:
        """Step the environment."""
        obs, rewards, terminateds, truncateds, infos = self.env.step(dict(action_dict))
        self._all_done = bool(terminateds.get("__all__") or truncateds.get("__all__"))
        for agent_id, reward in rewards.items():
            self._rewards[agent_id] = self._rewards.get(agent_id, 0.0) + reward
        for flags in (terminateds, truncateds):
            self._done.update(key for key, flag in flags.items() if flag and key != "__all__")
        self._take(obs, infos)

    def render(self, **kwargs: Any) -> Any:
        """Show the environment."""
        return self.env.render(**kwargs)

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """Return the agent's last observation."""
        if agent_id not in self._obs:
            raise ValueError(
                f"agent {agent_id!r} has not observed anything in this episode; where agents do "
                f"not act all at once, use the DynamicOrderManager"
            )
        return self._obs[agent_id]

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        """Return the reward since it was last asked for."""
        return self._rewards.pop(agent_id, 0.0)

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Return whether the agent has terminated or was truncated."""
        return agent_id in self._done

    def get_all_done(self, **kwargs: Any) -> bool:
        """Return whether the episode has ended."""
        return self._all_done

    def get_info(self, agent_id: str, **kwargs: Any) -> dict:
        """Return the agent's last info."""
        return self._infos.get(agent_id, {})

    def _clear(self) -> None:
        self._obs: dict[str, Any] = {}
        self._rewards: dict[str, float] = {}
        self._infos: dict[str, Any] = {}
        self._done: set[str] = set()
        self._all_done = False

    def _take(self, obs: dict, infos: dict) -> None:
        self._obs.update(obs)
        self._infos = dict(infos)
        self.next_agent = list(obs)


def multi_agent_to_abmarl(env: MultiAgentEnv) -> MultiAgentEnvSimulation:
    """Make a simulation of an environment of RLlib.

    Args:
        env: A ``MultiAgentEnv`` with ``possible_agents``.

    Returns:
        A simulation for a manager, the `DynamicOrderManager` where agents take turns.

    Raises:
        TypeError: `env` is not a ``MultiAgentEnv``.
        ValueError: It has no agents, or one without a space.
    """
    return MultiAgentEnvSimulation(env)
