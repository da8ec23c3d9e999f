"""TorchRL: a vectorised simulation as a batched environment."""

from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.external import adapter
from abmarl.external.learner_worlds import check_vectorised
from abmarl.extras import load
from abmarl.sim.layout import SpaceLayout

torchrl = load("torchrl.envs", "torchrl", "abmarl.external.torchrl")
import torch  # noqa: E402 - where TorchRL is missing, the error must name TorchRL
from tensordict import TensorDict  # noqa: E402
from torchrl import data  # noqa: E402

__all__ = ["TorchRLEnv"]

# Keys of an environment's tensordicts beside the groups.
_RESERVED = ("done", "terminated", "truncated", "next", "reward", "_reset", "action")


class TorchRLEnv(torchrl.EnvBase):  # type: ignore[name-defined]
    """Many worlds of a simulation, with an entry per group of agents.

    The batch size is ``[num_envs]``. Of a group of n agents there are, under its name,
    ``observation`` (nested by channel where the observations are), ``action`` likewise, ``reward``
    (float32), ``done``, ``terminated`` and ``truncated`` ``[num_envs, n, 1]``, ``mask``
    ``[num_envs, n]`` (who acts next) and ``action_mask`` (which actions would do something now).
    Beside the groups there are ``done``, ``terminated`` and ``truncated`` ``[num_envs, 1]`` of the
    worlds, and by these TorchRL resets.

    An agent that ends before its world stays done until its world is reset; what it observes is its
    last view once, then its null observation, and its actions do not count.

    Args:
        vec: The vectorised simulation, with ``autoreset=False``.
        ravel_actions: Whether an action is one number and an action mask a joint one, instead of
            one of either per channel.
        categorical_actions: Whether choices are numbers; else they are one-hot.
        action_masks: Whether there are action masks, where the simulation makes them.
        copy: Whether the tensors are fresh. If not, those of observations and masks share their
            memory with the engine's arrays, and the next step or reset overwrites them.

    Attributes:
        vec: The vectorised simulation that is stepped.
        group_map: Ids of the agents by group.

    Raises:
        TypeError: `vec` is not a vectorised simulation, or a space has no spec.
        ValueError: `vec` resets its worlds, a group has a name that TorchRL needs, or actions
            cannot be ravelled or are too many for masks.
    """

    def __init__(
        self,
        vec: Any,
        ravel_actions: bool = False,
        categorical_actions: bool = True,
        action_masks: bool = True,
        copy: bool = True,
    ) -> None:
        check_vectorised(vec, "TorchRLEnv", autoreset=False)
        for name in vec.groups:
            if name in _RESERVED:
                raise ValueError(
                    f"TorchRL needs the name {name!r} for itself, give the agents another group"
                )
        given = {
            "ravel_actions": ravel_actions, "categorical_actions": categorical_actions,
            "action_masks": action_masks, "copy": copy,
        }  # fmt: skip
        for name, value in given.items():
            if not isinstance(value, bool):
                raise TypeError(f"{name} must be True or False, got {value!r:.60}")
        if ravel_actions:
            nested = [
                name
                for name, one in vec.groups.items()
                if isinstance(one.action_space, spaces.Dict)
            ]
            vec = vec.ravel(observations=False, groups=nested)
        super().__init__(device=torch.device("cpu"), batch_size=torch.Size([vec.num_envs]))
        self.vec = vec
        self.group_map = {name: list(group.agent_ids) for name, group in vec.groups.items()}
        self._copies = copy and not vec.copy
        self._masked = action_masks
        # The seed of the next reset of all worlds.
        self._next_seed = None
        if action_masks and not vec.started:
            # There are no masks before a reset; the first one of this environment is the same.
            vec.reset()
            self._next_seed = vec.seed
        leads = {name: (vec.num_envs, len(group)) for name, group in vec.groups.items()}
        self._terminated = {name: np.zeros(lead, bool) for name, lead in leads.items()}
        self._make_specs(leads, not categorical_actions)

    def render(self, world: int = 0) -> np.ndarray:
        """Return a picture of a world, uint8 ``[height, width, 3]``."""
        return adapter.render(self.vec, "rgb_array", world)

    def to(self, device: Any) -> "TorchRLEnv":
        """Return this environment, whose arrays are on the CPU.

        Raises:
            ValueError: `device` is not the CPU.
        """
        if torch.device(device).type != "cpu":
            raise ValueError(
                f"the worlds live on the CPU; for tensors on {device} use "
                f"TransformedEnv(env, DeviceCastTransform({str(device)!r}))"
            )
        return self

    def _make_specs(self, leads: dict[str, tuple[int, int]], one_hot: bool) -> None:
        groups, shape = self.vec.groups, self.batch_size
        masks = self.vec.action_masks() if self._masked else {}
        self._masked_groups = set()
        self._acts, acts, sees, earns = {}, {}, {}, {}
        ends = self._end_specs(tuple(shape))
        for name, lead in leads.items():
            self._acts[name] = action_spec(groups[name].action_space, lead, one_hot)
            seen = {
                "observation": observation_spec(groups[name].observation_space, lead),
                "mask": flags(lead),
            }
            # A dict without entries is left out, as a group is whose channels make no masks.
            if name in masks and not (isinstance(masks[name], dict) and not masks[name]):
                self._masked_groups.add(name)
                seen["action_mask"] = _mask_spec(masks[name], lead)
            reward = {"reward": data.Unbounded(shape=torch.Size((*lead, 1)), dtype=torch.float32)}
            acts[name] = data.Composite({"action": self._acts[name]}, shape=lead)
            sees[name] = data.Composite(seen, shape=lead)
            earns[name] = data.Composite(reward, shape=lead)
            ends[name] = data.Composite(self._end_specs(lead), shape=lead)
        self.action_spec = data.Composite(acts, shape=shape)
        self.observation_spec = data.Composite(sees, shape=shape)
        self.reward_spec = data.Composite(earns, shape=shape)
        self.done_spec = data.Composite(ends, shape=shape)

    @staticmethod
    def _end_specs(lead: tuple[int, ...]) -> dict[str, Any]:
        return {key: flags((*lead, 1)) for key in ("done", "terminated", "truncated")}

    def _set_seed(self, seed: int | None) -> None:
        self._next_seed = seed

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        asked = None if tensordict is None else tensordict.get("_reset", None)
        if asked is None and tensordict is not None:
            for name in self.group_map:
                if (name, "_reset") in tensordict.keys(True):
                    raise ValueError(
                        f"worlds are reset as a whole: give '_reset' {tuple(self.batch_size)}, "
                        f"not {(name, '_reset')}"
                    )
        worlds = None if asked is None else asked.reshape(self.vec.num_envs).numpy(force=True)
        if worlds is None or worlds.all():
            obs, infos = self.vec.reset(seed=self._next_seed)
            self._next_seed, worlds = None, slice(None)
        else:
            obs, infos = self.vec.reset(worlds=worlds)
        for ended in self._terminated.values():
            ended[worlds] = False
        return self._tensors(obs, infos)

    def _step(self, tensordict: Any) -> Any:
        given = {}
        for name, group in self.vec.groups.items():
            actions = tensordict.get((name, "action"), None)
            if actions is None:
                raise ValueError(f"there is no action {(name, 'action')}: every group needs one")
            given[name] = actions_of(group.action_space, self._acts[name], actions)
        obs, rewards, terminated, _, infos = self.vec.step(given)
        for name, ended in self._terminated.items():
            ended |= terminated[name]
        found = self._tensors(obs, infos)
        for name, reward in rewards.items():
            found[name]["reward"] = torch.from_numpy(reward).float().unsqueeze(-1)
        return found

    def _tensors(self, obs: dict[str, Any], infos: dict[str, Any]) -> Any:
        """Return everything that is reported after a reset and after a step."""
        masks = self.vec.action_masks() if self._masked else {}
        cut = np.zeros(self.vec.num_envs, bool)
        found = {}
        for name, alive in infos["active"].items():
            terminated = torch.from_numpy(self._terminated[name].copy()).unsqueeze(-1)
            done = torch.from_numpy(~alive).unsqueeze(-1)
            truncated = done & ~terminated
            cut |= truncated.numpy().any(axis=(1, 2))
            entries = {
                "observation": self._nested(obs[name], alive.shape),
                "mask": self._tensor(alive),
                "done": done,
                "terminated": terminated,
                "truncated": truncated,
            }
            if name in self._masked_groups:
                entries["action_mask"] = self._nested(masks[name], alive.shape)
            found[name] = TensorDict(entries, batch_size=alive.shape)
        done = ~self.vec.episodes.running
        for key, value in (("done", done), ("terminated", done & ~cut), ("truncated", done & cut)):
            found[key] = torch.from_numpy(value).unsqueeze(-1)
        return TensorDict(found, batch_size=self.batch_size)

    def _nested(self, arrays: Any, lead: tuple[int, ...]) -> Any:
        if isinstance(arrays, dict):
            parts = {key: self._nested(array, lead) for key, array in arrays.items()}
            return TensorDict(parts, batch_size=lead)
        return self._tensor(arrays)

    def _tensor(self, array: np.ndarray) -> Any:
        tensor = torch.from_numpy(array)
        return tensor.clone() if self._copies else tensor


def _mask_spec(masks: Any, lead: tuple[int, ...]) -> Any:
    if isinstance(masks, dict):
        return data.Composite(
            {key: _mask_spec(one, lead) for key, one in masks.items()}, shape=lead
        )
    return flags(masks.shape)


def flags(shape: tuple[int, ...]) -> Any:
    """Return the spec of bools."""
    return data.Categorical(n=2, shape=torch.Size(shape), dtype=torch.bool)


def observation_spec(space: Any, lead: tuple[int, ...]) -> Any:
    """Return the spec of observations ``[*lead, *shape]``, nested as the space, of the same dtypes.

    Raises:
        TypeError: A space in it is of a kind that has no spec.
    """
    if isinstance(space, spaces.Dict):
        return _nested(space, lead, observation_spec)
    if isinstance(space, spaces.Discrete) and space.start == 0:
        return data.Categorical(n=int(space.n), shape=torch.Size(lead), dtype=_dtype(space.dtype))
    return _bounded(space, lead)


def action_spec(space: Any, lead: tuple[int, ...], one_hot: bool) -> Any:
    """Return the spec of actions ``[*lead, ...]``, nested as the space.

    Choices count from 0 whatever the space counts from, or are one-hot.

    Raises:
        TypeError: A space in it is of a kind that has no spec.
    """
    if isinstance(space, spaces.Dict):
        return _nested(space, lead, lambda part, lead: action_spec(part, lead, one_hot))
    if isinstance(space, spaces.Discrete):
        count = int(space.n)
        if one_hot:
            return data.OneHot(n=count, shape=torch.Size((*lead, count)))
        return data.Categorical(n=count, shape=torch.Size(lead))
    if isinstance(space, spaces.MultiDiscrete) and space.nvec.ndim == 1:
        counts = space.nvec.tolist()
        if one_hot:
            return data.MultiOneHot(counts, shape=torch.Size((*lead, sum(counts))))
        return data.MultiCategorical(counts, shape=torch.Size((*lead, len(counts))))
    return _bounded(space, lead)


def actions_of(space: Any, spec: Any, actions: Any) -> Any:
    """Return tensors of actions as arrays of points of the space, nested as it is.

    What is missing is left out; the simulation refuses it.
    """
    if isinstance(space, spaces.Dict):
        given = dict(actions.items())
        return {
            key: actions_of(part, spec[key], given[key])
            for key, part in space.items()
            if key in given
        }
    if isinstance(spec, data.OneHot | data.MultiOneHot):
        actions = spec.to_categorical(actions, safe=False)
    array = actions.numpy(force=True)
    start = getattr(space, "start", 0)
    return array + start if np.any(start) else array


def _nested(space: spaces.Dict, lead: tuple[int, ...], make: Any) -> Any:
    return data.Composite(
        {key: make(part, lead) for key, part in space.items()}, shape=torch.Size(lead)
    )


def _bounded(space: Any, lead: tuple[int, ...]) -> Any:
    if isinstance(space, spaces.Tuple):
        raise TypeError(f"TorchRL has no spec for {space!r:.120}; flatten or ravel it")
    (leaf,) = SpaceLayout(space).leaves
    shape, dtype = torch.Size((*lead, *leaf.shape)), _dtype(space.dtype)
    low, high = (
        torch.as_tensor(side.reshape(leaf.shape), dtype=dtype).expand(shape)
        for side in (leaf.low, leaf.high)
    )
    return data.Bounded(low=low, high=high, shape=shape, dtype=dtype)


def _dtype(dtype: Any) -> Any:
    return torch.from_numpy(np.empty(0, dtype)).dtype
