"""The simulation that an env runner of RLlib plays: its settings, spaces and worlds."""

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.external.rllib.multi_agent_env import FirstSeed, MultiAgentWrapper
from abmarl.sim.conversion import FlattenConversion, RavelConversion
from abmarl.sim.layout import SpaceLayout

# Key of a `WorldsConfig` in the configuration of an environment.
KEY = "abmarl"

# Beyond, a network would need too many outputs for one choice among all joint actions; the entries
# of the action are chosen independently then.
MAX_JOINT_ACTIONS = 4096

# The keys of an observation that RLlib's modules with action masks expect.
OBSERVATIONS, ACTION_MASK = "observations", "action_mask"


class ActionConversion:
    """Actions as one `Discrete`, or as a `MultiDiscrete` of all entries where that is too large.

    Attributes:
        space: The space for RLlib.
        ravelled: Whether it is the `Discrete`.
        offset: What to add to entries, which RLlib counts from 0.

    Raises:
        TypeError: The actions are not all integers within bounds.
    """

    def __init__(self, space: spaces.Space, name: str) -> None:
        layout = SpaceLayout(space, name)
        if not all(leaf.integer and leaf.bounded for leaf in layout.leaves):
            raise TypeError(f"{name} holds numbers that are no bounded integers: {space!r:.200}")
        choices = layout.high - layout.low + 1
        self.ravelled = math.prod(map(int, choices)) <= MAX_JOINT_ACTIONS
        self.offset: Any = 0
        self._conversion: Any
        self.space: spaces.Discrete | spaces.MultiDiscrete
        if self.ravelled:
            self._conversion = RavelConversion(space, name)
            self.space = self._conversion.target
        else:
            self._conversion = FlattenConversion(space, name, one_hot=False)
            self.offset = self._conversion.target.low
            self.space = spaces.MultiDiscrete(choices)

    def restore(self, action: Any) -> Any:
        """Return the agent's action for an action of RLlib."""
        return self._conversion.restore(np.asarray(action) + self.offset)


class ObservationConversion:
    """Observations as one flat float32 `Box`, `space`; a `Discrete` is one entry per point."""

    def __init__(self, space: spaces.Space, name: str) -> None:
        self._conversion = FlattenConversion(space, name)
        self.space = as_floats(self._conversion.target)

    def convert(self, point: Any) -> np.ndarray:
        """Return the flat observation."""
        return self._conversion.convert(point).astype(np.float32)


def as_floats(box: spaces.Box) -> spaces.Box:
    """Return a flat `Box` with the dtype of networks."""
    return spaces.Box(box.low.astype(np.float32), box.high.astype(np.float32), dtype=np.float32)


def with_mask(space: spaces.Space, actions: spaces.Space) -> spaces.Dict:
    """Return the space of observations that hold the mask of the actions."""
    if not isinstance(actions, spaces.Discrete):
        raise ValueError(
            f"masks need at most {MAX_JOINT_ACTIONS} joint actions per agent, these are "
            f"{actions!r:.200}; leave masks=False"
        )
    mask = spaces.Box(0.0, 1.0, (int(actions.n),), np.float32)
    return spaces.Dict({ACTION_MASK: mask, OBSERVATIONS: space})


@dataclass(frozen=True, eq=False)
class WorldsConfig:
    """A simulation and how its worlds are played. RLlib copies and pickles it with its config.

    Attributes:
        sim: The simulation, or a function without parameters that makes it.
        mode: ``"episodes"`` or ``"columns"``.
        num_envs: Worlds per env runner.
        horizon, num_threads, order: See ``vectorize``.
        masks: Whether observations hold action masks.
    """

    sim: Any
    mode: str
    num_envs: int
    horizon: int | None = None
    num_threads: int | None = 1
    order: str = "fixed"
    masks: bool = False

    def make(self) -> Any:
        """Return the simulation, or a new one where there is a function."""
        return self.sim() if callable(self.sim) else self.sim

    def vectorize(self, seed: int | None = None, num_envs: int | None = None) -> Any:
        """Return the worlds, `num_envs` of them."""
        return self.make().vectorize(
            num_envs or self.num_envs,
            seed=seed,
            horizon=self.horizon,
            num_threads=self.num_threads,
            order=self.order,
        )

    def __deepcopy__(self, memo: dict) -> "WorldsConfig":
        # Nothing in it changes, and RLlib copies configs all the time.
        return self

    def __repr__(self) -> str:
        return f"WorldsConfig({self.sim!r:.80}, mode={self.mode!r}, num_envs={self.num_envs})"


Setting = WorldsConfig  # its name in checkpoints of earlier versions


class StockEnv(MultiAgentWrapper):
    """One world for RLlib's own env runner, with the spaces of the batched worlds."""

    def __init__(self, context: dict) -> None:
        config = context[KEY]
        # Every environment has a simulation of its own.
        super().__init__(copy.deepcopy(config.make()), horizon=config.horizon)
        self.sim.randomize_action_input = config.order == "random"  # type: ignore[attr-defined]
        self._observations = {
            agent_id: ObservationConversion(space, f"observation_space of {agent_id!r}")
            for agent_id, space in self.observation_spaces.items()
        }
        self._actions = {
            agent_id: ActionConversion(space, f"action_space of {agent_id!r}")
            for agent_id, space in self.action_spaces.items()
        }
        self.observation_spaces = {key: one.space for key, one in self._observations.items()}
        self.action_spaces = {key: one.space for key, one in self._actions.items()}
        self._seed = FirstSeed()

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple:
        """Start an episode; the seed is treated as `FirstSeed` says."""
        obs, infos = super().reset(seed=self._seed(seed), options=options)
        return self._converted(obs), infos

    def step(self, action_dict: Mapping[str, Any]) -> tuple:
        """Let agents act, see `MultiAgentWrapper.step`."""
        actions = {
            key: self._actions[key].restore(action) if key in self._actions else action
            for key, action in action_dict.items()
        }
        obs, *rest = super().step(actions)
        return self._converted(obs), *rest

    def _converted(self, obs: dict) -> dict:
        return {key: self._observations[key].convert(point) for key, point in obs.items()}


class Worlds:
    """Many worlds, with flat observations and with actions as `ActionConversion` has them.

    Attributes:
        vec: The converted vectorised simulation.
        observation_spaces, action_spaces: Spaces for RLlib by agent id.
        groups: Agent ids by group.

    Raises:
        TypeError: The simulation does not vectorise, or its actions are not integers.
        ValueError: There are no masks.
    """

    def __init__(
        self, config: WorldsConfig, seed: int | None = None, num_envs: int | None = None
    ) -> None:
        plain = config.vectorize(seed, num_envs)
        self.masks = config.masks
        self.num_envs = plain.num_envs
        self.groups = {name: group.agent_ids for name, group in plain.groups.items()}
        self._actions = {
            name: ActionConversion(group.action_space, f"action_space of group {name!r}")
            for name, group in plain.groups.items()
        }
        vec = plain.flatten(actions=False)
        ravelled = [name for name, one in self._actions.items() if one.ravelled]
        others = [name for name, one in self._actions.items() if not one.ravelled]
        if ravelled:
            vec = vec.ravel(observations=False, groups=ravelled)
        if others:
            vec = vec.flatten(observations=False, one_hot=False, groups=others)
        self.vec = vec
        self._unravelled = others
        self.observation_spaces: dict[str, spaces.Space] = {}
        self.action_spaces: dict[str, spaces.Space] = {}
        for name, group in vec.groups.items():
            actions = self._actions[name].space
            space: spaces.Space = as_floats(group.observation_space)
            if self.masks:
                space = with_mask(space, actions)
            self.observation_spaces |= dict.fromkeys(group.agent_ids, space)
            self.action_spaces |= dict.fromkeys(group.agent_ids, actions)
        # Names that env runners and connectors of RLlib look for.
        self.single_observation_space = self.observation_space = spaces.Dict(
            self.observation_spaces
        )
        self.single_action_space = self.action_space = spaces.Dict(self.action_spaces)
        self.possible_agents = list(self.observation_spaces)

    @property
    def unwrapped(self) -> "Worlds":
        """The worlds themselves, for RLlib."""
        return self

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple:
        """Start an episode in every world; see ``VectorSimulation.reset``."""
        return self.vec.reset(seed=seed)

    def empty_actions(self) -> dict[str, np.ndarray]:
        """Return zeros, ``{group: int64 [num_envs, n, ...]}``, valid actions of RLlib's spaces."""
        return {
            name: np.zeros(
                (self.num_envs, len(ids), *(self._actions[name].space.shape or ())), np.int64
            )
            for name, ids in self.groups.items()
        }

    def sample_actions(self) -> dict[str, np.ndarray]:
        """Return random actions of RLlib's spaces."""
        found = self.vec.sample_actions()
        return {
            name: actions - self._actions[name].offset if name in self._unravelled else actions
            for name, actions in found.items()
        }

    def step(self, actions: dict[str, np.ndarray]) -> tuple:
        """Step every world with actions of RLlib's spaces; see ``VectorSimulation.step``."""
        if self._unravelled:
            shifted = {
                name: actions[name] + self._actions[name].offset for name in self._unravelled
            }
            actions = {**actions, **shifted}
        return self.vec.step(actions)

    def action_masks(self) -> dict[str, Any]:
        """Return ``{group: bool [num_envs, n, actions]}``; empty where no masks are asked for."""
        return self.vec.action_masks() if self.masks else {}

    def close(self) -> None:
        """Do nothing: there is nothing to close."""
