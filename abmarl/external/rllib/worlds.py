"""The environment of a batched env runner: a vectorised simulation with RLlib's spaces."""

from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.external.rllib.points import ActionPoints, as_floats, with_mask
from abmarl.external.rllib.setting import Setting


class Worlds:
    """Many worlds, with flat observations and with actions as `ActionPoints` has them.

    Args:
        setting: which worlds.
        seed: of the worlds; None: a fresh one.
        num_envs: how many; None: as the setting says.

    Attributes:
        vec: the converted vectorised simulation.
        observation_spaces, action_spaces: spaces for RLlib by agent id.
        groups: agent ids by group.

    Raises:
        TypeError: the simulation does not vectorise, or its actions are no integers.
        ValueError: there are no masks.
    """

    def __init__(
        self, setting: Setting, seed: int | None = None, num_envs: int | None = None
    ) -> None:
        plain = setting.vectorize(seed, num_envs)
        self.masks = setting.masks
        self.num_envs = plain.num_envs
        self.groups = {name: group.agent_ids for name, group in plain.groups.items()}
        self._actions = {
            name: ActionPoints(group.action_space, f"action_space of group {name!r}")
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
        self._wider = others
        self.observation_spaces, self.action_spaces = {}, {}
        for name, group in vec.groups.items():
            actions = self._actions[name].space
            space = as_floats(group.observation_space)
            if self.masks:
                space = with_mask(space, actions)
            self.observation_spaces |= dict.fromkeys(group.agent_ids, space)
            self.action_spaces |= dict.fromkeys(group.agent_ids, actions)
        # Names that env runners and connectors of RLlib look for.
        self.single_observation_space = spaces.Dict(self.observation_spaces)
        self.single_action_space = spaces.Dict(self.action_spaces)
        self.observation_space = self.single_observation_space
        self.action_space = self.single_action_space
        self.possible_agents = list(self.observation_spaces)

    @property
    def unwrapped(self) -> "Worlds":
        return self

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple:
        """Start all worlds anew; observations and infos as from the vectorised simulation."""
        return self.vec.reset(seed=seed)

    def empty_actions(self) -> dict[str, np.ndarray]:
        """``{group: int64 [num_envs, n, ...]}`` of zeros, which is an action of RLlib's spaces."""
        return {
            name: np.zeros((self.num_envs, len(ids), *self._actions[name].space.shape), np.int64)
            for name, ids in self.groups.items()
        }

    def sample_actions(self) -> dict[str, np.ndarray]:
        """Random actions of RLlib's spaces."""
        found = self.vec.sample_actions()
        return {
            name: actions - self._actions[name].offset if name in self._wider else actions
            for name, actions in found.items()
        }

    def step(self, actions: dict[str, np.ndarray]) -> tuple:
        """One step of every world, see ``VectorSimulation.step``; actions of RLlib's spaces."""
        if self._wider:
            shifted = {name: actions[name] + self._actions[name].offset for name in self._wider}
            actions = {**actions, **shifted}
        return self.vec.step(actions)

    def action_masks(self) -> dict[str, Any]:
        """``{group: bool [num_envs, n, actions]}``, or nothing where no masks are asked for."""
        if not self.masks:
            return {}
        return self.vec.action_masks()

    def close(self) -> None:
        """Nothing to close."""
