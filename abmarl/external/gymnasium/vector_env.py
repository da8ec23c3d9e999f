"""A vectorised simulation with one learning agent per world as a Gymnasium vector environment."""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from abmarl.external import adapter
from abmarl.external.learner_worlds import Slots, check_vectorised, only_group, separated
from abmarl.gridworld.vector.wrappers import mapped


class GymnasiumVectorEnv(VectorEnv):
    """A ``gymnasium.vector.VectorEnv`` over all worlds of a vectorised simulation.

    The `autoreset_mode` says when a world that has ended is reset, and is one of Gymnasium's:

    - ``SAME_STEP``: within the same step, with ``final_obs`` in the infos. It is what a simulation
      that was vectorised with ``autoreset=True`` does, and the fastest.
    - ``NEXT_STEP``: in the next step, which ignores the action. Needs ``autoreset=False``.
    - ``DISABLED``: by ``reset(options={"reset_mask": mask})``. Needs ``autoreset=False``.

    Args:
        vec: A vectorised simulation with one learning agent per world, ravelled or flattened where
            one number or array per point is wanted.
        autoreset_mode: By default SAME_STEP where `vec` resets its worlds, else DISABLED.
        render_mode: None, ``"human"`` (a window), ``"rgb_array"`` (arrays) or ``"ansi"`` (text).
        action_masks: Whether infos hold ``action_mask``, the actions that would do something now,
            in the form of ``vec.action_masks()``.
        statistics: Whether infos of steps in which worlds ended hold ``episode``, with returns
            ``r`` and lengths ``l``, as Gymnasium's wrapper RecordEpisodeStatistics has it.
        copy: Whether observations and masks are fresh arrays; else the next step overwrites them.

    Attributes:
        vec: What was given.
        group: Name of the group that the learning agent is in.

    Raises:
        TypeError: `vec` is not a vectorised simulation.
        ValueError: There is not exactly one learning agent in each world, or a mode does not exist
            or does not fit the simulation.
    """

    def __init__(
        self, vec: Any, autoreset_mode: AutoresetMode | str | None = None,
        render_mode: str | None = None, action_masks: bool = False, statistics: bool = False,
        copy: bool = True,
    ) -> None:  # fmt: skip
        user = type(self).__name__
        check_vectorised(vec, user)
        self.group = only_group(vec, user)
        self.autoreset_mode = _mode_for(vec, autoreset_mode)
        self.render_mode = adapter.check_render_mode(render_mode)
        self.vec = vec
        self.num_envs = vec.num_envs
        self.metadata = {**adapter.METADATA, "autoreset_mode": self.autoreset_mode}
        group = vec.groups[self.group]
        self._slots = Slots(self.group, group.agent_ids, vec.num_envs)
        self.single_action_space = group.action_space
        self.single_observation_space = group.observation_space
        self.action_space = batch_space(group.action_space, vec.num_envs)
        self.observation_space = batch_space(group.observation_space, vec.num_envs)
        self._action_masks, self._statistics = bool(action_masks), bool(statistics)
        # One that hands out fresh arrays need not be copied once more.
        self._copy = bool(copy) and not vec.copy

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict]:
        """Start episodes.

        Args:
            seed: An int s makes the worlds those of the vectorised simulation with seed s; a list
                has one seed for each world, which starts the same world as ``reset(seed=...)`` of
                a `GymnasiumWrapper`. None goes on with the random streams.
            options: ``{"reset_mask": bool [num_envs]}`` resets some of the worlds, as in
                Gymnasium's DISABLED mode; otherwise ignored.

        Returns:
            Observations of all worlds, and infos.

        Raises:
            TypeError, ValueError: A seed or the mask is wrong; everything is as before.
        """
        worlds = self._checked_mask((options or {}).get("reset_mask"))
        if isinstance(seed, list | tuple | np.ndarray):
            obs = self._reset_one_by_one(list(seed), worlds)
        else:
            obs, _ = self.vec.reset(seed=seed, worlds=worlds)
            if seed is not None:
                super().reset(seed=int(seed))
        return self._observations(obs), self._masks()

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict]:
        """Step every world.

        Args:
            actions: A point of the batched action space: its arrays have the world first.

        Returns:
            Observations, rewards float64 [num_envs], terminated and truncated bool [num_envs], and
            infos.

        Raises:
            TypeError, ValueError: The actions are wrong, a world has ended and was not reset
                (DISABLED), or there was no reset; nothing has changed.
        """
        given = {self.group: _with_agent_axis(actions, self.single_action_space, self.num_envs)}
        waiting = None
        if self.autoreset_mode is not AutoresetMode.SAME_STEP and self.vec.started:
            waiting = ~self.vec.episodes.running
            if not waiting.any():
                waiting = None
            elif self.autoreset_mode is AutoresetMode.DISABLED:
                self._refuse_step(waiting)
        obs, rewards, terminated, truncated, infos = self.vec.step(given)
        found = self._ended(infos) if infos["ended"].any() else {}
        if waiting is not None:
            obs, _ = self.vec.reset(worlds=waiting)
        # Columns of arrays with a row per agent: copies are compact and stay as they are.
        ends = [one[self.group][:, 0].copy() for one in (rewards, terminated, truncated)]
        return self._observations(obs), *ends, found | self._masks()

    def render(self) -> tuple:
        """Return what the render mode shows of every world; a window shows the first one."""
        if self.render_mode == "human":
            adapter.render(self.vec, "human")
            return (None,) * self.num_envs
        worlds = range(self.num_envs)
        return tuple(adapter.render(self.vec, self.render_mode, world) for world in worlds)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the window, if there is one."""
        # Also called where `__init__` has failed.
        if "vec" in vars(self):
            adapter.close(self.vec)

    def _observations(self, obs: dict) -> Any:
        rows = self._slots.rows(obs)
        return mapped(np.ndarray.copy, rows) if self._copy else rows

    def _masks(self) -> dict:
        if not self._action_masks:
            return {}
        masks = self._observations(self.vec.action_masks())
        everywhere = np.ones(self.num_envs, bool)
        return _with_presence({"action_mask": masks}, everywhere)

    def _ended(self, infos: dict) -> dict:
        """Return the infos of worlds that have ended, by the names of Gymnasium."""
        ended = infos["ended"].copy()
        found: dict[str, Any] = {}
        if self._statistics:
            returns = infos["episode"]["return"][self.group][:, 0]
            lengths = infos["episode"]["length"]
            found["episode"] = {"r": np.where(ended, returns, 0), "l": np.where(ended, lengths, 0)}
            found["_episode"] = ended
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            final = np.full(self.num_envs, None, object)
            worlds = np.flatnonzero(ended)
            rows = self._slots.rows(infos["final_obs"])
            points = separated(mapped(lambda array: array[worlds], rows))
            for world, point in zip(worlds.tolist(), points, strict=True):
                final[world] = point
            found |= {"final_obs": final, "_final_obs": ended}
            found |= {"final_info": {}, "_final_info": ended.copy()}
        return found

    def _checked_mask(self, mask: Any) -> np.ndarray | None:
        """Return the mask of worlds to reset, if it is one."""
        if mask is None:
            return None
        mask = np.asarray(mask)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(
                f"reset_mask must be a bool array of shape ({self.num_envs},) with a True in it, "
                f"got {mask.dtype} {mask.shape} with {np.count_nonzero(mask)} that are not 0"
            )
        if not self.vec.started and not mask.all():
            raise ValueError("the first reset starts all worlds: call reset() without reset_mask")
        return mask

    def _reset_one_by_one(self, seeds: list, worlds: np.ndarray | None) -> Any:
        """Reset worlds with seeds of their own and return the observations of all groups."""
        if len(seeds) != self.num_envs:
            raise ValueError(
                f"a list of seeds needs one for each of the {self.num_envs} worlds, "
                f"got {len(seeds)}"
            )
        for one in seeds:
            fine = isinstance(one, int | np.integer) and not isinstance(one, bool) and one >= 0
            if one is not None and not fine:
                raise ValueError(f"seeds must be None or ints >= 0, got {one!r:.60}")
        store = self.vec.store
        before = store.streams_copy()
        chosen = range(self.num_envs) if worlds is None else np.flatnonzero(worlds).tolist()
        try:
            for world in chosen:
                if seeds[world] is not None:
                    # World 0 of its seed, which is what a single simulation is.
                    store.seed(int(seeds[world]), [world], first_world=-world)
            return self.vec.reset(worlds=worlds)[0]
        except BaseException:
            store.load(before)
            raise

    def _refuse_step(self, waiting: np.ndarray) -> None:
        worlds = np.flatnonzero(waiting).tolist()
        raise ValueError(
            f"worlds {', '.join(map(str, worlds[:5]))}{', ...' if len(worlds) > 5 else ''} have "
            f'ended: call reset(options={{"reset_mask": terminated | truncated}}) before step()'
        )


def _mode_for(vec: Any, given: Any) -> AutoresetMode:
    """Return the autoreset mode, if the vectorised simulation can have it."""
    if given is None:
        return AutoresetMode.SAME_STEP if vec.autoreset else AutoresetMode.DISABLED
    try:
        mode = AutoresetMode(given)
    except ValueError:
        known = ", ".join(repr(one.value) for one in AutoresetMode)
        raise ValueError(f"autoreset_mode must be one of {known}, got {given!r:.60}") from None
    if vec.autoreset is not (mode is AutoresetMode.SAME_STEP):
        raise ValueError(
            f"autoreset_mode {mode.name} needs sim.vectorize(..., autoreset={not vec.autoreset}), "
            f"this one has autoreset={vec.autoreset}"
        )
    return mode


def _with_presence(info: dict, mask: np.ndarray) -> dict:
    """Return an info with a mask beside every entry that tells which worlds have it."""
    found = {}
    for key, value in info.items():
        found[key] = _with_presence(value, mask) if isinstance(value, dict) else value
        found[f"_{key}"] = mask
    return found


def _with_agent_axis(points: Any, space: spaces.Space, num_envs: int, name: str = "actions") -> Any:
    """Return the points of all worlds, ``[num_envs, *shape]``, as ``[num_envs, 1, *shape]``.

    Raises:
        TypeError, ValueError: They are not nested as the space is, or have other shapes.
    """
    if isinstance(space, spaces.Dict):
        if not isinstance(points, dict):
            raise TypeError(
                f"{name} must be a dict with the keys {list(space.spaces)}, "
                f"got {type(points).__name__}"
            )
        if points.keys() != space.spaces.keys():
            raise ValueError(
                f"{name} must have exactly the keys {list(space.spaces)}, got {list(points)}"
            )
        return {
            key: _with_agent_axis(points[key], part, num_envs, f"{name}[{key!r}]")
            for key, part in space.spaces.items()
        }
    if isinstance(space, spaces.Tuple):
        if not isinstance(points, tuple) or len(points) != len(space.spaces):
            raise TypeError(f"{name} must be a tuple of {len(space.spaces)}")
        return tuple(
            _with_agent_axis(point, part, num_envs, f"{name}[{i}]")
            for i, (point, part) in enumerate(zip(points, space.spaces, strict=True))
        )
    array = np.asarray(points)
    expected = (num_envs, *(space.shape or ()))
    if array.shape != expected:
        raise ValueError(
            f"{name} must have the shape {expected}, one entry for each world, got {array.shape}"
        )
    return array[:, None]
