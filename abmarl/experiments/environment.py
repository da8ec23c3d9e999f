"""The environment that RLlib steps: a manager with spaces that its networks can hold."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from abmarl.experiments.experiment import ExperimentError, manager_of
from abmarl.extras import load
from abmarl.sim.agents import is_agent
from abmarl.sim.conversion import FlattenConversion

if TYPE_CHECKING:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
else:
    _module = load("ray.rllib.env.multi_agent_env", "rllib", "abmarl.experiments")
    MultiAgentEnv = _module.MultiAgentEnv

# After the message about a missing Ray.
from abmarl.external.rllib.multi_agent_env import FirstSeed
from abmarl.external.rllib.worlds import ActionConversion, ObservationConversion, as_floats


class Codec:
    """Convert an agent's observations for a network, and the network's actions for the agent.

    The conversion is the same for worlds that are stepped one by one and in batches, so that
    policies trained in one way act in the other: see `ObservationConversion` and
    `ActionConversion`. Actions of floats, which batches do not have, become a flat ``Box``.

    Args:
        observation_space, action_space: spaces of the agent.
        owner: whose they are, for messages.

    Attributes:
        observation_space, action_space: the spaces of the network.

    Raises:
        ExperimentError: a space cannot be converted.
    """

    def __init__(self, observation_space: Any, action_space: Any, owner: str) -> None:
        self.owner = owner
        try:
            self._observations = ObservationConversion(observation_space, "observation_space")
            flatten = FlattenConversion(action_space, "action_space", one_hot=False)
            floats = not any(leaf.integer for leaf in flatten.layout.leaves)
            self._actions = (
                _FloatActions(flatten) if floats else ActionConversion(action_space, "action_space")
            )
        except (TypeError, ValueError) as error:
            raise ExperimentError(f"{owner}: {error}") from error
        self.observation_space = self._observations.space
        self.action_space = self._actions.space

    def observe(self, point: Any) -> np.ndarray:
        """Return an observation of the simulation as the network's, float32 [width].

        Raises:
            ValueError: it does not lie in the agent's observation space.
        """
        try:
            return self._observations.convert(point)
        except ValueError as error:
            raise ValueError(f"{self.owner}: {error}") from None

    def act(self, value: Any) -> Any:
        """Return an action of the network as the simulation's."""
        return self._actions.restore(value)


class _FloatActions:
    """Actions of floats as a flat ``Box`` of float32."""

    def __init__(self, flatten: FlattenConversion) -> None:
        self._flatten = flatten
        self.space: spaces.Box = as_floats(flatten.target)

    def restore(self, value: Any) -> Any:
        flat = self._flatten.target
        # Rounding to float32 may have moved the bounds outwards.
        return self._flatten.restore(np.clip(value, flat.low, flat.high).astype(flat.dtype))


def codecs_of(agents_spaces: dict[str, tuple[Any, Any]]) -> dict[str, Codec]:
    """Return a codec for every agent; agents that share their spaces share it.

    Args:
        agents_spaces: agent id -> observation space and action space.
    """
    made: dict[tuple[int, int], Codec] = {}
    codecs = {}
    for agent_id, (observations, actions) in agents_spaces.items():
        key = id(observations), id(actions)
        if key not in made:
            made[key] = Codec(observations, actions, f"agent {agent_id!r}")
        codecs[agent_id] = made[key]
    return codecs


def learners_of(manager: Any) -> dict[str, tuple[Any, Any]]:
    """Return the observation space and action space of every agent that learns, by id.

    Raises:
        ExperimentError: no agent learns.
    """
    found = {
        agent_id: (agent.observation_space, agent.action_space)
        for agent_id, agent in manager.agents.items()
        if is_agent(agent)
    }
    if not found:
        raise ExperimentError(f"no agent of {type(manager.sim).__name__} both observes and acts")
    return found


class ConvertedEnv(MultiAgentEnv):
    """An environment with observations and actions converted by a `Codec` for each agent.

    Args:
        env: the environment, with spaces by agent.

    Attributes:
        env: the same.
        observation_spaces, action_spaces: the converted spaces by agent id.
    """

    def __init__(self, env: MultiAgentEnv) -> None:
        self.env = env
        self.possible_agents = list(env.possible_agents)
        self.agents = list(self.possible_agents)
        self.codecs = codecs_of(
            {one: (env.observation_spaces[one], env.action_spaces[one]) for one in self.agents}
        )
        self.observation_spaces = {k: one.observation_space for k, one in self.codecs.items()}
        self.action_spaces = {k: one.action_space for k, one in self.codecs.items()}
        self._seed = FirstSeed()
        super().__init__()

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[dict, dict]:
        # `FirstSeed` says what becomes of the seed.
        obs, infos = self.env.reset(seed=self._seed(seed), options=options)
        return self._observed(obs), infos

    def step(self, action_dict: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        actions = {key: self.codecs[key].act(value) for key, value in action_dict.items()}
        obs, *rest = self.env.step(actions)
        return self._observed(obs), *rest

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()

    def _observed(self, obs: dict[str, Any]) -> dict[str, Any]:
        return {key: self.codecs[key].observe(point) for key, point in obs.items()}


class EnvCreator:
    """Make the environment of an experiment, on the driver and on every worker.

    Args:
        make_sim: function of ``env_config`` that returns a manager, or something with one.
        horizon: steps after which an episode is truncated; None: the limit of the file's own
            wrapper, if it has one.
    """

    def __init__(self, make_sim: Callable[..., Any], horizon: int | None) -> None:
        self.make_sim, self.horizon = make_sim, horizon

    def __call__(self, env_config: Any) -> ConvertedEnv:
        """Return a new environment."""
        from abmarl.external.rllib import MultiAgentWrapper

        made = self.make_sim(dict(env_config))
        manager = manager_of(made, "what the creator of the simulation returns")
        horizon = self.horizon or getattr(made, "horizon", None)
        return ConvertedEnv(MultiAgentWrapper(manager, horizon))


def check_env(env: ConvertedEnv, steps: int = 20) -> None:
    """Play some steps with random actions, so that errors show here and not in a worker.

    Raises:
        Exception: any error of the simulation.
        ValueError: an observation does not lie in its space.
    """
    obs, _ = env.reset(seed=0)
    for space in env.action_spaces.values():
        space.seed(0)
    done: dict[str, bool] = {}
    for _ in range(steps):
        actions = {key: env.action_spaces[key].sample() for key in obs if not done.get(key)}
        obs, _, terminateds, truncateds, _ = env.step(actions)
        done = {key: one or truncateds.get(key, False) for key, one in terminateds.items()}
        if done["__all__"]:
            obs, _ = env.reset()
            done = {}
