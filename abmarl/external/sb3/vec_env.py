"""The agents of a group in all worlds as a `VecEnv` of Stable-Baselines3."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.external import adapter
from abmarl.external.learner_worlds import (
    Opponents,
    Slots,
    check_vectorised,
    learning_group,
    separated,
    slot_masks,
)
from abmarl.external.sb3.buffers import (
    ActiveDictReplayBuffer,
    ActiveDictRolloutBuffer,
    ActiveReplayBuffer,
    ActiveRolloutBuffer,
    LastStep,
)
from abmarl.external.sb3.spaces import supported
from abmarl.extras import load
from abmarl.gridworld.fields import positive
from abmarl.gridworld.seeding import seed_of_worlds
from abmarl.sim.layout import mapped

_vec_env = load("stable_baselines3.common.vec_env", "sb3", "abmarl.external.sb3")
_monitor = load("stable_baselines3.common.monitor", "sb3", "abmarl.external.sb3")


class SB3VecEnv(_vec_env.VecEnv):  # type: ignore[name-defined]
    """The agents of one group in all worlds, a slot each, for one policy that they share.

    Slot ``world * n + k`` is agent k of the n of the group. An agent is done once, in the step in
    which it ends. If its world goes on without it, the slot waits: it shows the last view and then
    the null observation, gets no rewards, and its actions are ignored. `on_policy` and
    `off_policy` give the library buffers that leave these steps out.

    Args:
        vec: A vectorised simulation with ``autoreset``. Where the group is ravelled or flattened
            already, it stays so.
        group: The group that learns; None: the only one.
        policies: What plays the other groups: one entry for all, or a dict by group. Entries are
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
        last_step: Which slots acted, for rollout buffers.

    Raises:
        TypeError, ValueError: A parameter is wrong, or the library does not support a space.
    """

    def __init__(
        self, vec: Any, group: str | None = None, policies: Any = None, actions: str = "discrete",
        observations: str = "flat", render_mode: str | None = None, render_worlds: int = 1,
    ) -> None:  # fmt: skip
        check_vectorised(vec, "SB3VecEnv", autoreset=True)
        self.group = learning_group(vec, group)
        self.vec = supported(vec, self.group, actions, observations)
        self.render_mode = adapter.check_render_mode(render_mode)
        self.render_worlds = min(positive("render_worlds", render_worlds), vec.num_envs)
        self._opponents = Opponents(self.vec, self.group, policies)
        self._masks = slot_masks(self.vec, self.group)
        learner = self.vec.groups[self.group]
        self._slots = Slots(self.group, learner.agent_ids, vec.num_envs)
        num_slots = self._slots.num_slots
        self._returns, self._lengths = np.zeros(num_slots), np.zeros(num_slots, np.int64)
        self._start = time.time()
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
        """Which slots acted in the last step, bool [slots]."""
        return self.last_step.acted

    def on_policy(self, masked: bool = False) -> dict[str, Any]:
        """Return the arguments with which PPO and A2C leave out the steps of slots that wait.

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
            kinds = ActiveRolloutBuffer, ActiveDictRolloutBuffer
        return {
            "rollout_buffer_class": kinds[several],
            "rollout_buffer_kwargs": {"last_step": self.last_step},
        }

    def off_policy(self) -> dict[str, Any]:
        """Return the arguments with which DQN and its like do so: ``**env.off_policy()``."""
        several = isinstance(self.observation_space, spaces.Dict)
        return {"replay_buffer_class": (ActiveReplayBuffer, ActiveDictReplayBuffer)[several]}

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Restart the random streams of all worlds with the next `reset`.

        Args:
            seed: World k draws from stream k of this seed; None: a fresh one.

        Returns:
            The seed, once for every slot.
        """
        self._seed = seed_of_worlds(seed)
        return [self._seed] * self.num_envs

    def reset(self) -> Any:
        """Start an episode in every world and return the observations ``[slots, ...]``."""
        obs, infos = self.vec.reset(seed=self._seed)
        if self._seed is not None:
            self._seed = None
            self._opponents.reset()
        self._now = obs, infos["active"]
        self._actions = None
        self._returns[:] = 0
        self._lengths[:] = 0
        self.last_step.acted = np.zeros(self.num_envs, bool)
        return mapped(np.ndarray.copy, self._slots.rows(obs))

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
        actions[self.group] = self._slots.by_world(self._actions)
        obs, rewards, terminated, truncated, infos = self.vec.step(actions)
        self._now, self._actions = (obs, infos["active"]), None
        self.last_step.acted = acted
        cut = truncated[self.group].flatten()
        done = terminated[self.group].flatten() | cut
        # A slot that waits earns nothing, whatever happens in its world.
        gained = np.where(acted, rewards[self.group].reshape(-1), 0.0)
        self._returns += gained
        self._lengths += acted
        slots = np.flatnonzero(done)
        final = separated(self._slots.final_observations(slots, obs, infos)) if len(slots) else []
        slot_infos = self._slot_infos(acted, slots, cut, final)
        found = mapped(np.ndarray.copy, self._slots.rows(obs))
        return found, gained.astype(np.float32), done, slot_infos

    def action_masks(self) -> np.ndarray:
        """Return which actions would do something now, bool ``[slots, choices]``.

        The choices of a ``MultiDiscrete`` are those of its entries side by side. A slot that waits
        can only do nothing.

        Raises:
            ValueError: The actions are not choices, or `reset` has not been called.
        """
        if self._masks is None:
            raise ValueError(f"there are no masks for actions of {self.action_space}")
        if self._now is None:
            raise ValueError("call reset() before action_masks()")
        return self._masks.now(self._now[1][self.group])

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of this or else of the simulation, once for every slot asked."""
        if attr_name == "action_masks" and not self.has_masks:
            raise AttributeError(f"there are no masks for actions of {self.action_space}")
        owner = self if hasattr(self, attr_name) else self.vec
        return [getattr(owner, attr_name)] * len(self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of this, for all slots, which share one simulation."""
        if len(set(self._chosen(indices))) != self.num_envs:
            raise ValueError(f"slots share one simulation: set {attr_name!r} for all of them")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method once and return its result for every slot asked, its own row of masks."""
        chosen = self._chosen(indices)
        found = self.get_attr(method_name, 0)[0](*method_args, **method_kwargs)
        return [found[slot] if method_name == "action_masks" else found for slot in chosen]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return True for `Monitor`, because the infos hold what it writes; else False."""
        return [issubclass(wrapper_class, _monitor.Monitor)] * len(self._chosen(indices))

    def get_images(self) -> list[np.ndarray | None]:
        """Return pictures of the first worlds, uint8 ``[height, width, 3]``, or None."""
        worlds = range(self.render_worlds)
        if self.render_mode is None:
            return [None for _ in worlds]
        return [adapter.render(self.vec, self.render_mode, world) for world in worlds]

    def render(self, mode: str | None = None) -> Any:
        """Show the first worlds in one picture; see the library's `VecEnv.render`."""
        if self.render_mode in (None, "rgb_array"):
            return super().render(mode)
        return adapter.render(self.vec, self.render_mode)

    def close(self) -> None:
        """Close the window, if there is one."""
        adapter.close(self.vec)

    def _slot_infos(
        self, acted: np.ndarray, ended: np.ndarray, truncated: np.ndarray, final: list
    ) -> list[dict[str, Any]]:
        """Return the infos of a step, of which `ended` are slots and `final` what they saw last.

        Slots where nothing happens share one dict, and those that wait share another one: making
        a thousand dicts a step would cost more than the step.
        """
        nothing: dict[str, Any] = {}
        waits: dict[str, Any] = {"acted": False}
        infos = [nothing] * len(acted)
        for slot in np.flatnonzero(~acted).tolist():
            infos[slot] = waits
        seconds = round(time.time() - self._start, 6)
        for slot, observation in zip(ended.tolist(), final, strict=True):
            infos[slot] = {
                "terminal_observation": observation,
                "TimeLimit.truncated": bool(truncated[slot]),
                "episode": {
                    "r": float(self._returns[slot]),
                    "l": int(self._lengths[slot]),
                    "t": seconds,
                },
            }
        self._returns[ended] = 0
        self._lengths[ended] = 0
        return infos

    def _chosen(self, indices: Any) -> list[int]:
        """Return the numbers of slots."""
        if indices is None:
            return list(range(self.num_envs))
        chosen = np.atleast_1d(np.asarray(indices, np.int64)).tolist()
        for index in chosen:
            if not 0 <= index < self.num_envs:
                raise IndexError(f"there is no slot {index}, there are {self.num_envs}")
        return chosen

    def _check_range(self, actions: np.ndarray) -> None:
        space = self.action_space
        low: Any
        high: Any
        if isinstance(space, spaces.Box):
            low, high = space.low, space.high
        else:
            low, high = 0, getattr(space, "n", getattr(space, "nvec", 0)) - 1
        fine = (actions >= low) & (actions <= high)
        if fine.all():
            return
        slot = int(np.argmin(fine.reshape(self.num_envs, -1).all(axis=1)))
        agent_ids = self._slots.agent_ids
        world, k = divmod(slot, len(agent_ids))
        raise ValueError(
            f"the action of slot {slot}, agent {agent_ids[k]!r} in world {world}, is "
            f"{actions[slot].tolist()}, which is not in {space}"
        )
