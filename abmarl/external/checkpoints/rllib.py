"""The reader of RLlib's checkpoints: folders of its new API stack.

A checkpoint of an algorithm has a folder per policy in ``learner_group/learner/rl_module``; each of
them, and the folder of all of them, is a checkpoint too. They consist of pickles.
"""

import os
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.external.checkpoints.policy import CheckpointModel
from abmarl.external.checkpoints.spaces import SpaceDescription
from abmarl.external.runtime import hush_own_deprecations
from abmarl.extras import load
from abmarl.gridworld.vector.wrappers import mapped

_OBSERVATIONS, _MASK = "observations", "action_mask"
_MARK = "class_and_ctor_args.pkl"
# Where an algorithm, a learner group, a learner and an env runner keep their policies.
_INNER = ("learner_group/learner/rl_module", "learner/rl_module", "rl_module", "")


def is_checkpoint(path: str) -> bool:
    """Return whether a folder is a checkpoint of RLlib, or a part of one with policies."""
    return os.path.isfile(os.path.join(path, _MARK))


def module_folder(path: str, name: str | None) -> str:
    """Return the folder of a policy of a checkpoint; the name is None where there is one.

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
    """Return the names of the policies of a checkpoint; none where it is the folder of one policy.

    Raises:
        ValueError: There are no policies in it at all.
    """
    home = _home(path)
    return sorted(entry for entry in os.listdir(home) if _is_module(os.path.join(home, entry)))


def _home(path: str) -> str:
    """Return the folder that holds those of the policies, or is one of them."""
    homes = [os.path.join(path, inner) if inner else path for inner in _INNER]
    home = next((folder for folder in homes if _is_module(folder)), None)
    if home is None:
        raise ValueError(f"{path} is a checkpoint of RLlib without policies")
    return home


def _is_module(path: str) -> bool:
    """Return whether a folder is that of a policy or of several."""
    return is_checkpoint(path) and any(e.startswith("module_state.") for e in os.listdir(path))


def read_module(path: str | os.PathLike) -> Any:
    """Return the ``RLModule`` in the folder of one policy, in evaluation mode.

    Reading it executes the pickles of the folder.

    Raises:
        ValueError: The module cannot be restored.
        ImportError: RLlib is not installed.
    """
    load("ray.rllib", "rllib", "load_policy")
    hush_own_deprecations()
    from ray.rllib.core.rl_module.rl_module import RLModule

    try:
        module = RLModule.from_checkpoint(os.path.abspath(path))
    except Exception as error:  # whatever the pickles and the module raise
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{path} cannot be restored: {reason:.160}") from error
    # Modules that learn nothing may not be networks.
    if hasattr(module, "eval"):
        module.eval()
    return module


def read_modules(path: str | os.PathLike) -> dict[str, Any]:
    """Return the ``RLModule`` of every policy of a checkpoint, by name; see `read_module`."""
    path = os.fspath(path)
    return {name: read_module(module_folder(path, name)) for name in policies_in(path)}


def act(
    module: Any, observations: Any, explore: bool, normalized: bool = True, **kwargs: Any
) -> np.ndarray:
    """Return the actions of a module for a batch of observations.

    Args:
        module: What `read_module` returned.
        observations: Arrays [k, ...], nested as the module's space.
        explore: Whether actions are drawn as in training, else they are the likeliest.
        normalized: Whether actions in a Box are scaled from [-1, 1] to its bounds, as RLlib's env
            runners do.
        **kwargs: For the module's ``forward_exploration``.
    """
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.utils.spaces.space_utils import unsquash_action

    from abmarl.external.rllib.modules import actions_from_outputs

    tensors = mapped(lambda one: torch.as_tensor(np.asarray(one, np.float32)), observations)
    with torch.no_grad():
        if explore:
            columns = module.forward_exploration({Columns.OBS: tensors}, **kwargs)
        else:
            columns = module.forward_inference({Columns.OBS: tensors})
        actions = actions_from_outputs(module, columns, explore)[0].cpu().numpy()
    if normalized and isinstance(module.action_space, spaces.Box):
        return unsquash_action(actions, module.action_space)
    return actions


class RLlibModel(CheckpointModel):
    """An ``RLModule``. Making it executes the pickles of its folder; see `read_module`."""

    def __init__(self, path: str) -> None:
        self._module = read_module(path)
        if self._module.is_stateful():
            raise ValueError(
                f"{path} remembers earlier steps (it is recurrent), which a policy of a group "
                f"cannot do; take one without use_lstm"
            )
        space = self._module.observation_space
        # Modules with action masks observe both, under the names that RLlib's own ones use.
        self.wants_masks = isinstance(space, spaces.Dict) and set(space) == {_OBSERVATIONS, _MASK}
        self.observation_space = SpaceDescription.of(
            space[_OBSERVATIONS] if self.wants_masks else space
        )
        self.action_space = SpaceDescription.of(self._module.action_space)

    def choose(
        self,
        points: Any,
        masks: np.ndarray | None,
        deterministic: bool,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return the best actions of `forward_inference`, or draws of `forward_exploration`."""
        import torch

        if masks is not None:
            points = {_OBSERVATIONS: points, _MASK: masks}
        with torch.random.fork_rng(devices=[], enabled=not deterministic):
            if not deterministic:
                torch.manual_seed(int(rng.integers(2**63)))
            return act(self._module, points, not deterministic, t=0)
