"""Policies of RLlib, from the folders of its new API stack.

A checkpoint of an algorithm has a folder per policy in ``learner_group/learner/rl_module``; each of
them, and the folder of all of them, is a checkpoint too. They consist of pickles.
"""

import os
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.external.checkpoints.described import DescribedSpace
from abmarl.external.checkpoints.policy import Brain
from abmarl.external.ray_logs import hush_own_deprecations
from abmarl.extras import load

_SEEN, _MASK = "observations", "action_mask"
_MARK = "class_and_ctor_args.pkl"
# Where an algorithm, a learner group, a learner and an env runner keep their policies.
_INNER = ("learner_group/learner/rl_module", "learner/rl_module", "rl_module", "")


def is_checkpoint(path: str) -> bool:
    """Whether a folder is a checkpoint of RLlib, or a part of one with policies."""
    return os.path.isfile(os.path.join(path, _MARK))


def module_folder(path: str, name: str | None) -> str:
    """The folder of one policy of a checkpoint.

    Args:
        path: The checkpoint.
        name: Which policy; None where there is one.

    Raises:
        ValueError: There are several, none of that name, or none at all.
    """
    home, found = _home(path), policies_in(path)
    if not found:
        if name is not None:
            raise ValueError(f"{path} holds one policy: leave out name={name!r:.60}")
        return home
    if name is None and len(found) == 1:
        return os.path.join(home, found[0])
    if name not in found:
        which = "several policies" if name is None else f"no policy {name!r:.60}"
        raise ValueError(
            f"{path} has {which}: choose one of {', '.join(map(repr, found))} by name,\n"
            f"or give its folder, as {os.path.join(home, found[0])}"
        )
    return os.path.join(home, name)


def policies_in(path: str) -> list[str]:
    """Names of the policies of a checkpoint; none where it is the folder of one policy.

    Raises:
        ValueError: There are no policies in it at all.
    """
    home = _home(path)
    return sorted(entry for entry in os.listdir(home) if _is_module(os.path.join(home, entry)))


def _home(path: str) -> str:
    """The folder that has those of the policies in it, or is one of them."""
    homes = [os.path.join(path, inner) if inner else path for inner in _INNER]
    home = next((folder for folder in homes if _is_module(folder)), None)
    if home is None:
        raise ValueError(f"{path} is a checkpoint of RLlib without policies")
    return home


def _is_module(path: str) -> bool:
    """Whether a folder is that of a policy or of several."""
    return is_checkpoint(path) and any(e.startswith("module_state.") for e in os.listdir(path))


class RLlibBrain(Brain):
    """Chooses by an RLModule. Making it executes the pickles of the folder.

    Args:
        path: The folder of the module.

    Raises:
        ValueError: The module cannot be restored, or has a state of its own.
        ImportError: RLlib is missing.
    """

    def __init__(self, path: str) -> None:
        load("ray.rllib", "rllib", "load_policy")
        hush_own_deprecations()
        from ray.rllib.core.columns import Columns
        from ray.rllib.core.rl_module.rl_module import RLModule

        try:
            self._module = RLModule.from_checkpoint(os.path.abspath(path))
        except Exception as error:  # whatever the pickles and the module raise
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise ValueError(f"{path} cannot be restored: {reason:.160}") from error
        if self._module.is_stateful():
            raise ValueError(
                f"{path} remembers earlier steps (it is recurrent), which a policy of a group "
                f"cannot do; take one without use_lstm"
            )
        self._module.eval()
        self._columns = Columns
        seen = self._module.observation_space
        # Modules with action masks see both, under the names that RLlib's own ones use.
        self.wants_masks = isinstance(seen, spaces.Dict) and set(seen) == {_SEEN, _MASK}
        self.observation_space = DescribedSpace.of(seen[_SEEN] if self.wants_masks else seen)
        self.action_space = DescribedSpace.of(self._module.action_space)

    def choose(
        self,
        points: Any,
        masks: np.ndarray | None,
        deterministic: bool,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """The best actions of `forward_inference`, or draws of `forward_exploration`."""
        import torch

        if masks is not None:
            points = {_SEEN: points, _MASK: masks}
        batch = {self._columns.OBS: _tensors(points)}
        with torch.no_grad(), torch.random.fork_rng(devices=[], enabled=not deterministic):
            if not deterministic:
                torch.manual_seed(int(rng.integers(2**63)))
            module = self._module
            if deterministic:
                found, kind = module.forward_inference(batch), "inference"
            else:
                found, kind = module.forward_exploration(batch, t=0), "exploration"
            if self._columns.ACTIONS in found:
                actions = found[self._columns.ACTIONS]
            else:
                family = getattr(module, f"get_{kind}_action_dist_cls")()
                chances = family.from_logits(found[self._columns.ACTION_DIST_INPUTS])
                actions = (chances.to_deterministic() if deterministic else chances).sample()
        return self._scaled(actions.cpu().numpy())

    def _scaled(self, actions: np.ndarray) -> np.ndarray:
        """Actions within their bounds: modules act in [-1, 1] where a Box has bounds."""
        space = self._module.action_space
        if not isinstance(space, spaces.Box):
            return actions
        from ray.rllib.utils.spaces.space_utils import unsquash_action

        return unsquash_action(actions, space)


def _tensors(points: Any) -> Any:
    import torch

    if isinstance(points, dict):
        return {key: _tensors(part) for key, part in points.items()}
    return torch.as_tensor(np.asarray(points, np.float32))
