"""Policies from checkpoints, acting for the agents of a group in all worlds at once."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.external.checkpoints.spaces import SpaceDescription, fit
from abmarl.external.learner_worlds import slot_masks
from abmarl.gridworld.vector.wrappers import ConvertedSimulation
from abmarl.policies.policy import GreedyPolicy, QTablePolicy
from abmarl.sim.layout import SpaceLayout, mapped


class CheckpointModel(ABC):
    """A model from a checkpoint, which chooses actions for batches of observations.

    Attributes:
        observation_space, action_space: Its spaces, as the checkpoint describes them.
        wants_masks: Whether ``choose`` takes masks of actions.
    """

    observation_space: SpaceDescription
    action_space: SpaceDescription
    wants_masks = False

    def prepare(  # noqa: B027 - some need no preparation
        self, observation_space: spaces.Space, action_space: spaces.Space
    ) -> None:
        """Prepare to act in these spaces.

        Raises:
            ValueError: The model does not work on them.
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
            rng: The source of draws.

        Returns:
            Array [k, ...] of points of the action space.
        """


class TableModel(CheckpointModel):
    """A policy that `QTablePolicy.save` wrote; reading it executes nothing."""

    def __init__(self, path: str) -> None:
        policy = QTablePolicy.load(path)
        spaces = policy.action_space, policy.observation_space
        self.sampled, self.greedy = policy, GreedyPolicy(*spaces, policy.q_table)
        self.action_space, self.observation_space = map(SpaceDescription.of, spaces)

    def choose(
        self,
        points: np.ndarray,
        masks: np.ndarray | None,
        deterministic: bool,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return the best actions, or those of the policy as it was saved."""
        policy = self.greedy if deterministic else self.sampled
        policy.rng = rng
        return policy.compute_action_batch(points, len(points))


class CheckpointPolicy:
    """A policy from a checkpoint that acts for a group; made by `load_policy`.

    Usable wherever a policy of a group is: in `abmarl.rollout.collect`, and as the opponents of
    learners. It is bound to one group at a time; binding it again restarts its random stream.

    Args:
        model: The model that was read.
        path: Its file or folder, for messages.
        deterministic: Whether to take the best action, else one is drawn.
        seed: Of the random stream that draws come from; every group has one of its own.
    """

    def __init__(self, model: CheckpointModel, path: str, deterministic: bool, seed: int) -> None:
        self.model, self.path = model, path
        self.deterministic, self.seed = deterministic, seed

    @property
    def observation_space(self) -> SpaceDescription:
        """The observation space, as the checkpoint describes it."""
        return self.model.observation_space

    @property
    def action_space(self) -> SpaceDescription:
        """The action space, as the checkpoint describes it."""
        return self.model.action_space

    def bind(self, vec: Any, group_name: str) -> None:
        """Prepare to act for a group of a simulation.

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
                raise ValueError(
                    f"{self.path} does not fit group {group_name!r}: its {side} is "
                    f"{wanted!r:.200},\n"
                    f"that of the group is {space!r:.200}, which is not that either as it is, "
                    f"flattened or ravelled"
                )
            conversions[side] = conversion
            targets[side] = space if conversion is None else conversion.target
        try:
            self.model.prepare(**targets)
        except ValueError as error:
            raise ValueError(f"{self.path}: {error}") from error
        self._seeing = conversions["observation_space"]
        self._acting = conversions["action_space"]
        self._target = targets["action_space"]
        self._layout = SpaceLayout(group.action_space)
        self._masks = self._mask_source(vec, group_name) if self.model.wants_masks else None
        self._group_name = group_name
        # A checkpoint that plays both sides must draw from a stream of its own for each.
        key = (list(vec.groups).index(group_name),)
        self.rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))

    def _mask_source(self, vec: Any, group_name: str) -> Any:
        """Return what makes the masks of the actions that the checkpoint chooses from."""
        if self._acting is not None:
            vec = ConvertedSimulation(vec, type(self._acting), True, False, [group_name])
        return slot_masks(vec, group_name)

    def __call__(self, observations: Any, active: np.ndarray) -> Any:
        """Choose the actions of all agents of the group.

        Args:
            observations: Arrays [B, n, ...], nested as the observation space.
            active: bool [B, n].

        Returns:
            Arrays [B, n, ...], nested as the action space; the lowest point of the space for
            agents that are not active.
        """
        actions = self._layout.lowest(active.shape)
        rows = np.nonzero(active)
        if not len(rows[0]):
            return actions
        points = mapped(lambda array: array[rows], observations)
        if self._seeing is not None:
            points = self._seeing.convert_batch(points)
        masks = self._masks.now(active)[active.reshape(-1)] if self._masks else None
        chosen = self._cast(self.model.choose(points, masks, self.deterministic, self.rng))
        if self._acting is not None:
            chosen = self._acting.restore_batch(chosen)
        for leaf in self._layout.leaves:
            part = leaf.value(actions)
            part[rows] = leaf.value(chosen)
            if not leaf.path:
                actions = part
        return actions

    def _cast(self, chosen: np.ndarray) -> np.ndarray:
        """Return actions with the dtype of their space, rounded where that has integers."""
        if self._target.dtype.kind in "iu" and chosen.dtype.kind == "f":
            chosen = np.rint(chosen)
        return chosen.astype(self._target.dtype)

    def __repr__(self) -> str:
        return f"CheckpointPolicy({self.path!r})"
