"""A manager as an environment of RLlib, one world at a time."""

from collections.abc import Mapping
from typing import Any

from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from abmarl.external import rendering
from abmarl.external.rendering import METADATA, check_render_mode
from abmarl.gridworld.fields import positive
from abmarl.managers import AllStepManager, SimulationManager
from abmarl.sim.agent_based_simulation import AgentBasedSimulation, is_agent


class MultiAgentWrapper(MultiAgentEnv):
    """What RLlib's new API stack needs of a simulation and its manager.

    Agents in the observations act next, save those that ended. An agent ends once, with its final
    observation and reward: terminated when it or the simulation is done, else truncated when the
    time limit is reached.

    Args:
        sim: a manager, or a simulation, which is given an `AllStepManager`.
        horizon: steps of the manager after which an episode is truncated; None: never.
        render_mode: None, ``"human"``, ``"rgb_array"`` or ``"ansi"``.

    Attributes:
        sim: the manager.
        possible_agents: ids of the agents that both observe and act; `agent_ids` the same as a set.
        observation_spaces, action_spaces: their spaces by id.
        observation_space, action_space: the same as one `Dict` each.

    Raises:
        TypeError: `sim` is neither a manager nor a simulation, or `horizon` is no int.
        ValueError: `horizon` is below 1, no agent learns, or there is no such render mode.
    """

    def __init__(
        self,
        sim: SimulationManager | AgentBasedSimulation,
        horizon: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        if isinstance(sim, AgentBasedSimulation):
            sim = AllStepManager(sim)
        if not isinstance(sim, SimulationManager):
            raise TypeError(
                f"MultiAgentWrapper needs a manager or a simulation, got {type(sim).__name__}"
            )
        self.sim = sim
        self.horizon = None if horizon is None else positive("horizon", horizon)
        self.render_mode = check_render_mode(render_mode)
        self.metadata = dict(METADATA)
        learners = {key: agent for key, agent in sim.agents.items() if is_agent(agent)}
        if not learners:
            raise ValueError(f"no agent of {type(sim.sim).__name__} both observes and acts")
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
            seed: starts the simulation's random stream anew; None goes on with it.
            options: not used.

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
            action_dict: actions by agent id.

        Returns:
            Observations, rewards, terminateds, truncateds and infos by agent id; the third and the
            fourth hold ``"__all__"`` too. At the time limit the fourth holds ``"__all__"`` for all
            agents that are truncated.

        Raises:
            ValueError, TypeError: an action comes from an agent that must not act or does not lie
                in its space, or no episode is running. Nothing has changed then.
        """
        if not self._running:
            raise ValueError("no episode is running, or it has ended: call reset() before step()")
        obs, rewards, dones, infos = self.sim.step(action_dict)
        all_done = bool(dones.pop("__all__"))
        self._length += 1
        late = not all_done and self._length == self.horizon
        if late:
            self._add_those_who_wait(obs, rewards, dones, infos)
        self._running = not (all_done or late)
        terminateds = {agent_id: bool(done) or all_done for agent_id, done in dones.items()}
        # RLlib takes an episode for terminated in which every agent has a flag of its own, and then
        # does not bootstrap: at the time limit "__all__" speaks for those who are truncated.
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
            **kwargs: for the manager.
        """
        if self.render_mode is not None:
            return rendering.render(self.sim, self.render_mode)
        return self.sim.render(**kwargs)

    def close(self) -> None:
        """Close the window, if there is one."""
        rendering.close(self.sim)

    def _add_those_who_wait(self, obs: dict, rewards: dict, dones: dict, infos: dict) -> None:
        """Report, at the time limit, those whose turn it is not: they end as well."""
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
