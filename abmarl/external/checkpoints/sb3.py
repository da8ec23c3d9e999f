"""Policies of Stable-Baselines3, rebuilt from what can be read without executing anything.

A checkpoint is a zip archive: ``data`` is JSON, in which values that are no JSON are pickles with
their attributes printed beside them; ``policy.pth`` holds the weights. The pickles are not touched.
The spaces come from the group that the policy is bound to and are compared with what is printed,
and the network is built from the settings that are plain JSON or name a known class.
"""

import importlib
import io
import json
import math
import re
import warnings
import zipfile
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, cast

import numpy as np
from gymnasium import spaces

from abmarl.archive import check_entries, read_entry
from abmarl.external.checkpoints.policy import CheckpointModel
from abmarl.external.checkpoints.spaces import SpaceDescription
from abmarl.extras import load

_USER = "load_policy"
# Module of the policy's class, as stored -> where its classes have the names that users write.
_FAMILIES = {
    "stable_baselines3.common.policies": "stable_baselines3.ppo.policies",
    "stable_baselines3.dqn.policies": "stable_baselines3.dqn.policies",
    "stable_baselines3.sac.policies": "stable_baselines3.sac.policies",
    "stable_baselines3.td3.policies": "stable_baselines3.td3.policies",
    "sb3_contrib.common.maskable.policies": "sb3_contrib.ppo_mask.policies",
    "sb3_contrib.qrdqn.policies": "sb3_contrib.qrdqn.policies",
    "sb3_contrib.tqc.policies": "sb3_contrib.tqc.policies",
}
_RECURRENT = "sb3_contrib.common.recurrent.policies"
_PPO, _MASKABLE = "stable_baselines3.common.policies", "sb3_contrib.common.maskable.policies"
# What of a checkpoint makes a policy.
_OBJECTS = ("policy_class", "observation_space", "action_space", "policy_kwargs")
# Settings of the optimizer, which does not act.
_UNUSED = frozenset({"optimizer_class", "optimizer_kwargs"})
_CLASS = re.compile(r"<class '([\w.]+)\.(\w+)'>")
# Where classes in settings may come from: what is installed, not what the file brings along.
_ALLOWED = {
    "activation_fn": ("torch.nn.modules.activation",),
    "features_extractor_class": ("stable_baselines3.common.torch_layers", "abmarl.external"),
}


class NeedsTrust(ValueError):
    """A checkpoint cannot be read without executing code of it."""


class SB3Model(CheckpointModel):
    """The policy of a checkpoint.

    Args:
        path: The file.
        trust: Whether its pickles may be loaded.

    Raises:
        NeedsTrust: It needs them, and they must not.
        ValueError: It is damaged.
        ImportError: Stable-Baselines3 is missing.
    """

    def __init__(self, path: str, trust: bool) -> None:
        load("stable_baselines3", "sb3", _USER)
        data, self._weights = _contents(path, trust)
        try:
            self.observation_space = _described(data["observation_space"])
            self.action_space = _described(data["action_space"])
            stored, settings = data["policy_class"], dict(data["policy_kwargs"])
            homes = _homes(stored) if trust else [str(stored["__module__"])]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged: its data are not in order ({error})") from error
        if _RECURRENT in homes:
            raise ValueError(
                f"{path} remembers earlier steps (it is recurrent), which a policy of a group "
                f"cannot do"
            )
        self._home = next((home for home in homes if home in _FAMILIES), None)
        if self._home is None and not trust:
            raise NeedsTrust(f"its policy is a class of its own, from {homes[0]:.80}")
        self._class = stored if trust else None
        self._settings = settings if trust else _settings(settings)
        self.wants_masks = self._home == _MASKABLE
        if self._home == _PPO:
            self._settings["use_sde"] = bool(data.get("use_sde", False))

    def prepare(self, observation_space: spaces.Space, action_space: spaces.Space) -> None:
        """Build the network for these spaces and load its weights."""
        policy_class = self._policy_class(observation_space)
        try:
            if self._class is None:
                _check_sizes(self._settings, self._weights)
            policy = policy_class(observation_space, action_space, _no_learning, **self._settings)
            policy.load_state_dict(self._weights)
        except (RuntimeError, TypeError, ValueError, AssertionError) as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            raise ValueError(
                f"its weights do not fit a network for {observation_space!r:.120} and "
                f"{action_space!r:.80}: {' '.join(reason[:2]):.200}"
            ) from error
        policy.set_training_mode(False)
        self._policy = policy

    def choose(
        self,
        points: Any,
        masks: np.ndarray | None,
        deterministic: bool,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return the actions of the network; for DQN always the best."""
        import torch

        more = {"action_masks": masks} if self.wants_masks else {}
        with torch.random.fork_rng(devices=[], enabled=not deterministic):
            if not deterministic:
                torch.manual_seed(int(rng.integers(2**63)))
            actions, _ = self._policy.predict(points, deterministic=deterministic, **more)
        return np.asarray(actions)

    def _policy_class(self, observation_space: spaces.Space) -> type:
        if self._class is not None:
            return self._class
        if isinstance(observation_space, spaces.Dict):
            kind = "MultiInputPolicy"
        else:
            kind = "CnnPolicy" if any(".cnn." in key for key in self._weights) else "MlpPolicy"
        home = cast(str, self._home)  # without one, a trusted file has given the class
        module = load(_FAMILIES[home], "sb3", _USER)
        return getattr(module, kind)


def _homes(kind: type) -> list[str]:
    """Return the modules of a class and of its bases."""
    return [one.__module__ for one in kind.__mro__]


def _no_learning(progress: float) -> float:
    """Return the learning rate of the optimizer that every policy has, which is not used here."""
    return 0.0


def _contents(path: str, trust: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return settings and weights."""
    import torch

    with zipfile.ZipFile(path) as archive:
        wanted = [archive.getinfo(name) for name in ("data", "policy.pth")]
        check_entries(path, wanted)
        try:
            text, raw = (read_entry(archive, info) for info in wanted)
            data = json.loads(text)
            _refuse_packed(raw)
            weights = torch.load(io.BytesIO(raw), map_location="cpu", weights_only=True)
        except Exception as error:  # torch's loader and zlib raise many kinds
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise ValueError(f"{path} is damaged: {reason:.120}") from error
    named = isinstance(weights, dict) and all(isinstance(name, str) for name in weights)
    if not isinstance(data, dict) or not named:
        raise ValueError(f"{path} is damaged: its data are not in order")
    return (_unpickled(path, data) if trust else data), weights


def _refuse_packed(raw: bytes) -> None:
    """Refuse weights that unpack to more than the file has, which torch does not write."""
    if raw.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            if sum(info.file_size for info in archive.infolist()) > len(raw):
                raise ValueError("its weights are packed")


def _check_sizes(settings: dict[str, Any], weights: dict[str, Any]) -> None:
    """Refuse settings that ask for more or larger layers than there are weights for.

    A few bytes of settings could ask for layers that fill the memory or take hours to initialise.
    """
    import torch

    tensors = [one for one in weights.values() if isinstance(one, torch.Tensor)]
    # By their memory: the shape of a tensor may repeat a single number.
    stored = {one.untyped_storage().data_ptr(): one.untyped_storage() for one in tensors}
    most = sum(storage.nbytes() for storage in stored.values())
    sizes = list(_sizes(settings))
    # Layers of a list follow one another; bytes are at least as many as entries.
    largest = max((math.prod(pair) for one in sizes for pair in pairwise([1, *one])), default=0)
    if largest > most or sum(map(len, sizes)) > 2 * len(tensors) + 16:
        raise ValueError("its settings ask for more or larger layers than it has")


def _sizes(settings: Any) -> Iterator[list[int]]:
    """Yield the numbers of nested settings, those of a list together."""
    if isinstance(settings, dict):
        for value in settings.values():
            yield from _sizes(value)
    elif isinstance(settings, list):
        yield [abs(one) for one in settings if isinstance(one, int)]
        for value in settings:
            if not isinstance(value, int):
                yield from _sizes(value)
    elif isinstance(settings, int):
        yield [abs(settings)]


def _unpickled(path: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return the data with the objects of a policy unpickled, which executes code of the file."""
    from stable_baselines3.common.save_util import json_to_data

    wanted = {key: data.pop(key) for key in _OBJECTS if key in data}
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="Could not deserialize")
            return {**data, **json_to_data(json.dumps(wanted))}
    except Exception as error:  # whatever the pickles raise
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{path} cannot be restored: {reason:.160}") from error


def _described(space: Any) -> SpaceDescription:
    if isinstance(space, spaces.Space):
        return SpaceDescription.of(space)
    return SpaceDescription.read(space)


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a policy that were plain JSON, and the known classes among them.

    A value that is not JSON is stored in its printed form; those that name a class are recognised
    by it, others cannot be told apart from text.
    """
    printed = ":serialized:" in given
    found = {}
    for key, value in given.items():
        if key in _UNUSED or key in (":type:", ":serialized:"):
            continue
        if key in _ALLOWED:
            found[key] = _known_class(key, value)
        elif printed and isinstance(value, str):
            raise NeedsTrust(f"its setting {key!r:.60} is an object: {value:.80}")
        else:
            found[key] = value
    return found


def _known_class(key: str, text: Any) -> type:
    parts = _CLASS.fullmatch(str(text))
    homes = _ALLOWED[key]
    if parts is None or not any(
        parts[1] == home or parts[1].startswith(f"{home}.") for home in homes
    ):
        raise NeedsTrust(f"its {key} is a class of its own: {text!s:.80}")
    import torch

    try:
        made = getattr(importlib.import_module(parts[1]), parts[2])
    except (ImportError, AttributeError) as error:
        raise ValueError(f"its {key} {parts[1]}.{parts[2]} is not installed") from error
    if not isinstance(made, type) or not issubclass(made, torch.nn.Module):
        raise NeedsTrust(f"its {key} is no part of a network: {text!s:.80}")
    return made
