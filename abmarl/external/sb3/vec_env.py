"""A vectorised simulation as a `VecEnv` of Stable-Baselines3."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.external import rendering
from abmarl.external.sb3.episodes import SlotEpisodes
from abmarl.external.sb3.last_step import LastStep
from abmarl.external.sb3.learners import Opponents, learning_group
from abmarl.external.sb3.masks import masks_for
from abmarl.external.sb3.shared import SharedVecEnv
from abmarl.external.sb3.spaces import prepared
from abmarl.gridworld.fields import positive
from abmarl.gridworld.seeding import seed_of_worlds
from abmarl.sim.layout import mapped


class SB3VecEnv(SharedVecEnv):
    """The agents of one group in all worlds, a slot each, for one policy that they share.

    Slot ``world * n + k`` is agent k of the n of the group. An agent is done once, in the step in
    which it ends. If its world goes on without it, the slot waits: it shows the last view and then
    the null observation, gets no rewards, and its actions are ignored. `on_policy` and
    `off_policy` give the library buffers that leave these steps out.

    Args:
        vec: A vectorised simulation with ``autoreset``. Where the group is ravelled or flattened
            already, it stays so.
        group: Who learns; None: the only group.
        policies: Who plays the other groups: one entry for all, or a dict by group. Entries are
            those of ``abmarl.rollout.policies.bind_policies``; by default random.
        actions: ``"discrete"``, one number for all channels of a slot, or ``"multi_discrete"``,
            one number per entry, for more choices than one number should count.
        observations: ``"flat"``, one array per slot, or ``"dict"``, an array per channel for a
            ``MultiInputPolicy``.
        render_mode: None, ``"human"``, ``"rgb_array"`` or ``"ansi"``.
        render_worlds: How many worlds `get_images` and `render` show, the first ones.

    Attributes:
        vec: The simulation with the spaces that the library sees.
        group: Name of the group that learns.
        last_step: What rollout buffers ask who acted.

    Raises:
        TypeError, ValueError: A parameter is wrong, or the library cannot hold a space.
    """

    def __init__(
        self, vec: Any, group: str | None = None, policies: Any = None, actions: str = "discrete",
        observations: str = "flat", render_mode: str | None = None, render_worlds: int = 1,
    ) -> None:  # fmt: skip
        self.group = learning_group(vec, group)
        self.vec = prepared(vec, self.group, actions, observations)
        self.render_mode = rendering.check_render_mode(render_mode)
        self.render_worlds = min(positive("render_worlds", render_worlds), vec.num_envs)
        self._opponents = Opponents(self.vec, self.group, policies)
        self._masks = masks_for(self.vec, self.group)
        learner = self.vec.groups[self.group]
        self._shape = (vec.num_envs, len(learner))
        num_slots = vec.num_envs * len(learner)
        self._episodes = SlotEpisodes(num_slots)
        self.last_step = LastStep()
        self.last_step.acted = np.zeros(num_slots, bool)
        self._seed: int | None = None
        self._now: tuple[dict, dict] | None = None
        self._actions: np.ndarray | None = None
        super().__init__(num_slots, learner.observation_space, learner.action_space)

    @property
    def has_masks(self) -> bool:
        """Whether the actions are choices, for which there are masks."""
        return self._masks is not None

    @property
    def acted(self) -> np.ndarray:
        """bool [slots]: who acted in the last step."""
        return self.last_step.acted

    def on_policy(self, masked: bool = False) -> dict[str, Any]:
        """Arguments with which PPO and A2C leave out the steps of slots that wait.

        ``PPO("MlpPolicy", env, **env.on_policy())``; the same when a model is loaded to learn on:
        ``PPO.load(path, env, **env.on_policy())``.

        Args:
            masked: Whether it is for MaskablePPO.
        """
        several = isinstance(self.observation_space, spaces.Dict)
        if masked:
            from abmarl.external.sb3 import maskable_buffers as buffers

            kinds = buffers.ActiveMaskableRolloutBuffer, buffers.ActiveMaskableDictRolloutBuffer
        else:
            from abmarl.external.sb3 import rollout_buffers as buffers

            kinds = buffers.ActiveRolloutBuffer, buffers.ActiveDictRolloutBuffer
        return {
            "rollout_buffer_class": kinds[several],
            "rollout_buffer_kwargs": {"last_step": self.last_step},
        }

    def off_policy(self) -> dict[str, Any]:
        """Arguments with which DQN and the like leave them out: ``**env.off_policy()``."""
        from abmarl.external.sb3.replay_buffers import ActiveDictReplayBuffer, ActiveReplayBuffer

        several = isinstance(self.observation_space, spaces.Dict)
        return {"replay_buffer_class": (ActiveReplayBuffer, ActiveDictReplayBuffer)[several]}

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Start the random streams of all worlds anew with the next `reset`.

        Args:
            seed: World k draws from stream k of this seed; None: a fresh one.

        Returns:
            The seed, once for every slot.
        """
        self._seed = seed_of_worlds(seed)
        return [self._seed] * self.num_envs

    def reset(self) -> Any:
        """Start an episode in every world; returns the observations ``[slots, ...]``."""
        obs, infos = self.vec.reset(seed=self._seed)
        if self._seed is not None:
            self._seed = None
            self._opponents.begin()
        self._now = obs, infos["active"]
        self._actions = None
        self._episodes.reset()
        self.last_step.acted = np.zeros(self.num_envs, bool)
        return mapped(np.copy, self._slots(obs))

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of the next step.

        Args:
            actions: Array ``[slots, ...]`` of points of the action space; those of slots that
                wait are ignored.

        Raises:
            TypeError, ValueError: The actions are wrong; nothing has changed.
        """
        actions = np.array(actions)
        shape = (self.num_envs, *self.action_space.shape)
        if actions.shape != shape:
            raise ValueError(
                f"actions must have shape {shape}, one for each slot, got {actions.shape}"
            )
        kinds = "iuf" if isinstance(self.action_space, spaces.Box) else "iu"
        if actions.dtype.kind not in kinds:
            raise TypeError(f"actions must be points of {self.action_space}, got {actions.dtype}")
        self._check_range(actions)
        self._actions = actions

    def step_wait(self) -> tuple:
        """Take the step.

        Returns:
            Observations ``[slots, ...]``, rewards float32 ``[slots]``, dones bool ``[slots]`` and
            a list of infos, of which those of agents that ended have ``terminal_observation``,
            ``TimeLimit.truncated`` and ``episode``, and those of slots that wait
            ``"acted": False``.

        Raises:
            RuntimeError: There are no actions.
        """
        if self._actions is None or self._now is None:
            raise RuntimeError("call reset() and then step_async(actions) before step_wait()")
        obs, active = self._now
        acted = active[self.group].flatten()
        actions = self._opponents.actions(obs, active)
        actions[self.group] = self._actions.reshape(*self._shape, *self.action_space.shape)
        obs, rewards, terminated, truncated, infos = self.vec.step(actions)
        self._now, self._actions = (obs, infos["active"]), None
        self.last_step.acted = acted
        cut = truncated[self.group].flatten()
        done = terminated[self.group].flatten() | cut
        # What happens to the worlds while a slot waits is not its agent's doing.
        gained = np.where(acted, rewards[self.group].reshape(-1), 0.0)
        found = self._slots(obs)

        def last(slots):
            return self._last(slots, found, infos)

        told = self._episodes.close_step(acted, gained, done, cut, last)
        return mapped(np.copy, found), gained.astype(np.float32), done, told

    def action_masks(self) -> np.ndarray:
        """Which actions would do something now, bool ``[slots, choices]``.

        The choices of a ``MultiDiscrete`` are those of its entries side by side. A slot that waits
        can only do nothing.

        Raises:
            ValueError: The actions are no choices, or `reset` has not been called.
        """
        if self._masks is None:
            raise ValueError(f"there are no masks for actions of {self.action_space}")
        if self._now is None:
            raise ValueError("call reset() before action_masks()")
        return self._masks.now(self._now[1][self.group])

    def _last(self, slots: np.ndarray, found: Any, infos: dict) -> list[Any]:
        """What the agents of some slots, which have just ended, saw last, one by one."""
        ended = infos["ended"][slots // self._shape[1]]

        def choose(final, running):
            picked = running[slots]
            picked[ended] = final[slots[ended]]
            return picked

        seen = mapped(choose, self._slots(infos["final_obs"]), found)
        if isinstance(seen, dict):
            return [{key: part[row] for key, part in seen.items()} for row in range(len(slots))]
        return list(seen)

    def _slots(self, obs: dict) -> Any:
        """The group's observations slot by slot."""
        return mapped(lambda array: array.reshape(-1, *array.shape[2:]), obs[self.group])

    def _check_range(self, actions: np.ndarray) -> None:
        space = self.action_space
        if isinstance(space, spaces.Box):
            low, high = space.low, space.high
        else:
            low, high = 0, getattr(space, "n", getattr(space, "nvec", 0)) - 1
        fine = (actions >= low) & (actions <= high)
        if fine.all():
            return
        slot = int(np.argmin(fine.reshape(self.num_envs, -1).all(axis=1)))
        world, k = divmod(slot, self._shape[1])
        raise ValueError(
            f"the action of slot {slot}, agent {self.vec.groups[self.group].agent_ids[k]!r} in "
            f"world {world}, is {actions[slot].tolist()}, which is not in {space}"
        )
