"""Checkpoints as the command line names them: a file, a folder, or the results of a training."""

import contextlib
import importlib
import os
from typing import Any


def is_checkpoint(name: str) -> bool:
    """Whether an entry of ``--policy`` is no shipped policy but a path, maybe with ``#policy``."""
    from abmarl.rollout.policies import SHIPPED, is_path

    return name not in SHIPPED and is_path(place_of(name)[0])


def place_of(name: str) -> tuple[str, str | None]:
    """``"PATH#policy"`` -> the path, and which of its policies is meant, None where not said."""
    whole = os.path.expanduser(name)
    path, mark, policy = whole.rpartition("#")
    if not mark or os.path.exists(whole):
        return whole, None
    return path, policy


def read_checkpoint(
    name: str, group: str, trust: bool, sample: bool, seed: int, option: str
) -> Any:
    """The policy of a group from a checkpoint.

    Of a results folder of ``abmarl train`` it is the last checkpoint, of a checkpoint with several
    policies the one that is named or else has the name of the group.

    Args:
        name: ``PATH`` or ``PATH#policy``.
        group: name of the group.
        trust: whether the checkpoint may execute code.
        sample: whether it draws its actions.
        seed: of these draws.
        option: what messages call the option.

    Raises:
        ValueError: there is no such policy, or it cannot be read.
        ImportError: the library that wrote it is missing.
    """
    from abmarl.experiments.results import RUN_FILE, Results
    from abmarl.external import load_policy
    from abmarl.external.checkpoints.rllib_folder import is_checkpoint, policies_in
    from abmarl.external.torch_threads import use_one_thread

    _quiet_gym()
    path, policy = place_of(name)
    if os.path.isfile(os.path.join(path, RUN_FILE)):
        path = os.fspath(Results.open(path).checkpoint()[1])
    if policy is None and is_checkpoint(path):
        there = policies_in(path)
        if group in there:
            policy = group
        elif len(there) > 1:
            raise ValueError(
                f"{name} has the policies {', '.join(map(repr, there))}, and none for group "
                f"{group!r}:\nchoose one, as {option} '{group}={name}#{there[0]}'"
            )
    read = load_policy(path, policy, trust=trust, deterministic=not sample, seed=seed)
    use_one_thread()
    return read


def _quiet_gym() -> None:
    """Stable-Baselines3 imports gym where it is installed, which prints that it is unmaintained."""
    with contextlib.suppress(ImportError):
        importlib.import_module("gym_notices.notices").notices.clear()
