"""An environment of RLlib as a simulation."""

from typing import Any

from ray.rllib.env.multi_agent_env import MultiAgentEnv

from abmarl.sim.agent_based_simulation import DynamicOrderSimulation
from abmarl.sim.agents import Agent


class MultiAgentEnvSimulation(DynamicOrderSimulation):
    """A ``MultiAgentEnv`` as a simulation.

    The agents that observe something act next, as ``next_agent`` says. Where always all do, every
    manager will do; else use the `DynamicOrderManager`.

    Args:
        env: the environment, with ``possible_agents``.

    Attributes:
        env: the environment.

    Raises:
        TypeError: `env` is no ``MultiAgentEnv``.
        ValueError: it has no agents, or one without a space.
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
        self._see(obs, infos)

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        """Hand the actions on."""
        obs, rewards, terminateds, truncateds, infos = self.env.step(dict(action))
        self._all_done = bool(terminateds.get("__all__") or truncateds.get("__all__"))
        for agent_id, reward in rewards.items():
            self._rewards[agent_id] = self._rewards.get(agent_id, 0.0) + reward
        for flags in (terminateds, truncateds):
            self._done.update(key for key, flag in flags.items() if flag and key != "__all__")
        self._see(obs, infos)

    def render(self, **kwargs: Any) -> Any:
        return self.env.render(**kwargs)

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """The agent's last observation.

        Raises:
            ValueError: it has not observed anything yet.
        """
        if agent_id not in self._obs:
            raise ValueError(
                f"agent {agent_id!r} has not observed anything in this episode; where agents do "
                f"not act all at once, use the DynamicOrderManager"
            )
        return self._obs[agent_id]

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        return self._rewards.pop(agent_id, 0.0)

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        return agent_id in self._done

    def get_all_done(self, **kwargs: Any) -> bool:
        return self._all_done

    def get_info(self, agent_id: str, **kwargs: Any) -> dict:
        return self._infos.get(agent_id, {})

    def _clear(self) -> None:
        self._obs: dict[str, Any] = {}
        self._rewards: dict[str, float] = {}
        self._infos: dict[str, Any] = {}
        self._done: set[str] = set()
        self._all_done = False

    def _see(self, obs: dict, infos: dict) -> None:
        self._obs.update(obs)
        self._infos = dict(infos)
        self.next_agent = list(obs)


def multi_agent_to_abmarl(env: MultiAgentEnv) -> MultiAgentEnvSimulation:
    """Make a simulation of an environment of RLlib.

    Args:
        env: a ``MultiAgentEnv``.

    Returns:
        A simulation for a manager, the `DynamicOrderManager` where agents take turns.

    Raises:
        TypeError, ValueError: see `MultiAgentEnvSimulation`.
    """
    return MultiAgentEnvSimulation(env)
