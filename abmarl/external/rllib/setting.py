"""What `batched` is asked for, as env runners get it."""

import copy
from dataclasses import dataclass
from typing import Any

from abmarl.external.rllib.multi_agent_env import MultiAgentWrapper
from abmarl.external.rllib.points import ActionPoints, ObservationPoints
from abmarl.external.rllib.seeds import FirstSeed

# Where the configuration of an environment holds it.
KEY = "abmarl"


@dataclass(frozen=True, eq=False)
class Setting:
    """A simulation and how its worlds are played. RLlib copies and pickles it with the config.

    Attributes:
        sim: the simulation, or a function without parameters that makes it.
        mode: ``"episodes"`` or ``"columns"``.
        num_envs: worlds per env runner.
        horizon, num_threads, order: see ``vectorize``.
        masks: whether observations hold action masks.
    """

    sim: Any
    mode: str
    num_envs: int
    horizon: int | None = None
    num_threads: int | None = 1
    order: str = "fixed"
    masks: bool = False

    def make(self) -> Any:
        """The simulation: itself, or a new one where there is a function."""
        return self.sim() if callable(self.sim) else self.sim

    def vectorize(self, seed: int | None = None, num_envs: int | None = None) -> Any:
        """The worlds, `num_envs` of them."""
        return self.make().vectorize(
            num_envs or self.num_envs,
            seed=seed,
            horizon=self.horizon,
            num_threads=self.num_threads,
            order=self.order,
        )

    def __deepcopy__(self, memo: dict) -> "Setting":
        # Nothing in it changes, and RLlib copies configs all the time.
        return self

    def __repr__(self) -> str:
        return f"Setting({self.sim!r:.80}, mode={self.mode!r}, num_envs={self.num_envs})"


class StockEnv(MultiAgentWrapper):
    """The simulation of a setting one world at a time, with the spaces of the batched worlds.

    Args:
        context: the configuration of the environment, with the `Setting`.
    """

    def __init__(self, context: dict) -> None:
        setting = context[KEY]
        # Every environment has a simulation of its own.
        super().__init__(copy.deepcopy(setting.make()), horizon=setting.horizon)
        self.sim.randomize_action_input = setting.order == "random"
        self._observations = {
            agent_id: ObservationPoints(space, f"observation_space of {agent_id!r}")
            for agent_id, space in self.observation_spaces.items()
        }
        self._actions = {
            agent_id: ActionPoints(space, f"action_space of {agent_id!r}")
            for agent_id, space in self.action_spaces.items()
        }
        self.observation_spaces = {key: one.space for key, one in self._observations.items()}
        self.action_spaces = {key: one.space for key, one in self._actions.items()}
        self._seed = FirstSeed()

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple:
        """Start an episode; the seed is treated as `FirstSeed` says."""
        obs, infos = super().reset(seed=self._seed(seed), options=options)
        return self._converted(obs), infos

    def step(self, action_dict: dict) -> tuple:
        actions = {
            key: self._actions[key].restore(action) if key in self._actions else action
            for key, action in action_dict.items()
        }
        obs, *rest = super().step(actions)
        return self._converted(obs), *rest

    def _converted(self, obs: dict) -> dict:
        return {key: self._observations[key].convert(point) for key, point in obs.items()}
