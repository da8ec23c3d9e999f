"""A vectorised simulation with one learning agent per world as a Gymnasium vector environment."""

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from abmarl.external import rendering
from abmarl.external.gymnasium.points import column, entries, first_of_each
from abmarl.external.learners import only_group
from abmarl.external.rendering import METADATA, check_render_mode


class GymnasiumVectorEnv(VectorEnv):
    """A `gymnasium.vector.VectorEnv` over all worlds of a vectorised simulation.

    How worlds that end start anew, `autoreset_mode`, is one of Gymnasium's:

    - ``SAME_STEP``: within the same step, with ``final_obs`` in the infos. It is what a simulation
      that was vectorised with ``autoreset=True`` does, and the fastest.
    - ``NEXT_STEP``: in the next step, which ignores the action. Needs ``autoreset=False``.
    - ``DISABLED``: by ``reset(options={"reset_mask": mask})``. Needs ``autoreset=False``.

    Args:
        vec: a vectorised simulation with one learning agent per world, ravelled or flattened where
            one number or array per point is wanted.
        autoreset_mode: by default SAME_STEP where `vec` starts worlds anew, else DISABLED.
        render_mode: None, ``"human"`` (a window), ``"rgb_array"`` (arrays) or ``"ansi"`` (text).
        action_masks: whether infos hold ``action_mask``, the actions that would do something now,
            in the form of ``vec.action_masks()``.
        statistics: whether infos of steps in which worlds ended hold ``episode``, with returns
            ``r`` and lengths ``l``, as Gymnasium's wrapper RecordEpisodeStatistics has it.
        copy: whether observations and masks are fresh arrays; else the next step overwrites them.

    Attributes:
        vec: what was given.
        group: name of the group that the learning agent is in.

    Raises:
        TypeError: `vec` is no vectorised simulation.
        ValueError: there is not just one learning agent in each world, or a mode does not exist or
            does not fit the simulation.
    """

    def __init__(
        self, vec: Any, autoreset_mode: AutoresetMode | str | None = None,
        render_mode: str | None = None, action_masks: bool = False, statistics: bool = False,
        copy: bool = True,
    ) -> None:  # fmt: skip
        user = type(self).__name__
        if not (hasattr(vec, "groups") and hasattr(vec, "num_envs")):
            raise TypeError(
                f"{user} needs a vectorised simulation, got {type(vec).__name__}; "
                f"make one with sim.vectorize(num_envs)"
            )
        self.group = only_group(vec, user)
        self.autoreset_mode = _mode_for(vec, autoreset_mode)
        self.render_mode = check_render_mode(render_mode)
        self.vec = vec
        self.num_envs = vec.num_envs
        self.metadata = {**METADATA, "autoreset_mode": self.autoreset_mode}
        group = vec.groups[self.group]
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
            seed: an int s makes the worlds those of the vectorised simulation with seed s; a list
                has one seed for each world, which starts the same world as ``reset(seed=...)`` of
                a `GymnasiumWrapper`. None goes on with the random streams.
            options: ``{"reset_mask": bool [num_envs]}`` resets some of the worlds, as in
                Gymnasium's DISABLED mode; otherwise ignored.

        Returns:
            Observations of all worlds, and infos.

        Raises:
            TypeError, ValueError: a seed or the mask is wrong; everything is as before.
        """
        worlds = self._chosen((options or {}).get("reset_mask"))
        if isinstance(seed, list | tuple | np.ndarray):
            obs = self._reset_one_by_one(list(seed), worlds)
        else:
            obs, _ = self.vec.reset(seed=seed, worlds=worlds)
            if seed is not None:
                super().reset(seed=int(seed))
        return self._shown(obs[self.group]), self._masks()

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict]:
        """One step of every world.

        Args:
            actions: a point of the batched action space: its arrays have the world first.

        Returns:
            Observations, rewards float64 [num_envs], terminated and truncated bool [num_envs], and
            infos.

        Raises:
            TypeError, ValueError: the actions are wrong, a world has ended and was not reset
                (DISABLED), or there was no reset; nothing has changed.
        """
        given = {self.group: column(actions, self.single_action_space, self.num_envs)}
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
        return self._shown(obs[self.group]), *ends, found | self._masks()

    def render(self) -> tuple:
        """What the render mode shows of every world; a window shows the first one.

        Raises:
            ValueError: there is no render mode.
        """
        if self.render_mode == "human":
            rendering.render(self.vec, "human")
            return (None,) * self.num_envs
        worlds = range(self.num_envs)
        return tuple(rendering.render(self.vec, self.render_mode, world) for world in worlds)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the window, if there is one."""
        # Called also for one that could not be made.
        if "vec" in vars(self):
            rendering.close(self.vec)

    def _shown(self, nested: Any) -> Any:
        return first_of_each(nested, self._copy)

    def _masks(self) -> dict:
        if not self._action_masks:
            return {}
        masks = self._shown(self.vec.action_masks()[self.group])
        everywhere = np.ones(self.num_envs, bool)
        return _with_presence({"action_mask": masks}, everywhere)

    def _ended(self, infos: dict) -> dict:
        """What there is to say of worlds that have ended, by the names of Gymnasium."""
        ended = infos["ended"].copy()
        found = {}
        if self._statistics:
            returns = infos["episode"]["return"][self.group][:, 0]
            lengths = infos["episode"]["length"]
            found["episode"] = {"r": np.where(ended, returns, 0), "l": np.where(ended, lengths, 0)}
            found["_episode"] = ended
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            final = np.full(self.num_envs, None, object)
            worlds = np.flatnonzero(ended)
            points = entries(infos["final_obs"][self.group], worlds)
            for world, point in zip(worlds.tolist(), points, strict=True):
                final[world] = point
            found |= {"final_obs": final, "_final_obs": ended}
            found |= {"final_info": {}, "_final_info": ended.copy()}
        return found

    def _chosen(self, mask: Any) -> np.ndarray | None:
        """The mask of worlds to reset, checked."""
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
        """Resets worlds with seeds of their own; returns the observations of all groups."""
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
    """The autoreset mode, if it is one and the vectorised simulation can have it."""
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
    """An info with a mask beside every entry that tells which worlds have it, as Gymnasium has."""
    found = {}
    for key, value in info.items():
        found[key] = _with_presence(value, mask) if isinstance(value, dict) else value
        found[f"_{key}"] = mask
    return found
