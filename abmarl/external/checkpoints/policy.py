"""Policies from checkpoints, acting for the agents of a group in all worlds at once."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.external.checkpoints.described import DescribedSpace
from abmarl.external.checkpoints.fitting import fit, refusal
from abmarl.gridworld.vector.wrappers import ConvertedSimulation
from abmarl.rollout.channels import at, channels_of, lowest, picked


class Brain(ABC):
    """What was read from a checkpoint and decides on batches of points.

    Attributes:
        observation_space, action_space: What the checkpoint says of its spaces.
        wants_masks: Whether ``choose`` takes masks of actions.
    """

    observation_space: DescribedSpace
    action_space: DescribedSpace
    wants_masks = False

    def prepare(  # noqa: B027 - some need no preparation
        self, observation_space: spaces.Space, action_space: spaces.Space
    ) -> None:
        """Get ready to decide on points of these spaces.

        Raises:
            ValueError: What was read does not work on them.
        """

    @abstractmethod
    def choose(
        self,
        points: Any,
        masks: np.ndarray | None,
        deterministic: bool,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Choose an action for each of some observations.

        Args:
            points: Arrays [k, ...], nested as the observation space.
            masks: bool [k, number of actions], or None.
            deterministic: Whether to take the best action, else one is drawn.
            rng: Where draws come from.

        Returns:
            Array [k, ...] of points of the action space.
        """


class CheckpointPolicy:
    """Lets what was trained act for a group; made by `load_policy`.

    Usable wherever a policy of a group is: in `abmarl.rollout.collect`, and as the opponents of
    learners. It is bound to one group at a time; binding it again starts its random stream anew.

    Args:
        brain: What was read.
        path: Where from, for messages.
        deterministic: Whether to take the best action, else one is drawn.
        seed: Of the random stream that draws come from; every group has one of its own.
    """

    def __init__(self, brain: Brain, path: str, deterministic: bool, seed: int) -> None:
        self.brain, self.path = brain, path
        self.deterministic, self.seed = deterministic, seed

    @property
    def observation_space(self) -> DescribedSpace:
        """What the checkpoint says of its observation space."""
        return self.brain.observation_space

    @property
    def action_space(self) -> DescribedSpace:
        """What the checkpoint says of its action space."""
        return self.brain.action_space

    def bind(self, vec: Any, group_name: str) -> None:
        """Act for this group of this simulation.

        Args:
            vec: A vectorised simulation, with channels, ravelled or flattened.
            group_name: One of its groups.

        Raises:
            ValueError: No conversion makes the spaces of the group those of the checkpoint.
        """
        group = vec.groups[group_name]
        targets, conversions = {}, {}
        for side in ("observation_space", "action_space"):
            space, wanted = getattr(group, side), getattr(self, side)
            found, conversion = fit(space, wanted)
            if not found:
                raise refusal(self.path, group_name, side, space, wanted)
            conversions[side] = conversion
            targets[side] = space if conversion is None else conversion.target
        try:
            self.brain.prepare(**targets)
        except ValueError as error:
            raise ValueError(f"{self.path}: {error}") from error
        self._seeing = conversions["observation_space"]
        self._acting = conversions["action_space"]
        self._target, self._space = targets["action_space"], group.action_space
        self._paths = [path for path, _ in channels_of(group.action_space).values()]
        self._masks = self._mask_source(vec, group_name) if self.brain.wants_masks else None
        self._group_name = group_name
        # The same checkpoint for both sides must not make them throw the same dice.
        key = (list(vec.groups).index(group_name),)
        self.rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))

    def _mask_source(self, vec: Any, group_name: str) -> Any:
        """What makes the masks of the actions that the checkpoint chooses from, if anything."""
        # Checkpoints that want masks are Stable-Baselines3's, so it is there.
        from abmarl.external.sb3.masks import masks_for

        if self._acting is not None:
            vec = ConvertedSimulation(vec, type(self._acting), True, False, [group_name])
        return masks_for(vec, group_name)

    def __call__(self, observations: Any, active: np.ndarray) -> Any:
        """Actions of all agents of the group; only those that act are thought about.

        Args:
            observations: Arrays [B, n, ...], nested as the observation space.
            active: bool [B, n].

        Returns:
            Arrays [B, n, ...], nested as the action space; the lowest point of the space for
            agents that are not active.
        """
        actions = lowest(self._space, active.shape)
        rows = np.nonzero(active)
        if not len(rows[0]):
            return actions
        points = picked(observations, rows)
        if self._seeing is not None:
            points = self._seeing.convert_batch(points)
        masks = self._masks.now(active)[active.reshape(-1)] if self._masks else None
        chosen = self._cast(self.brain.choose(points, masks, self.deterministic, self.rng))
        if self._acting is not None:
            chosen = self._acting.restore_batch(chosen)
        for path in self._paths:
            part = at(actions, path)
            part[rows] = at(chosen, path)
            if not path:
                actions = part
        return actions

    def _cast(self, chosen: np.ndarray) -> np.ndarray:
        """Actions with the dtype of their space; networks give floats for a Box of integers."""
        if self._target.dtype.kind in "iu" and chosen.dtype.kind == "f":
            chosen = np.rint(chosen)
        return chosen.astype(self._target.dtype)

    def __repr__(self) -> str:
        return f"CheckpointPolicy({self.path!r})"
