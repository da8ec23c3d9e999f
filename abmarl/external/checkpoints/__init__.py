"""Policies from checkpoints: trained policies on the arrays of a vectorised simulation."""

import os
import zipfile

import numpy as np

from abmarl.archive import METADATA
from abmarl.external.checkpoints.policy import CheckpointModel, CheckpointPolicy, TableModel

__all__ = ["CheckpointPolicy", "load_policy"]

KNOWN = (
    "a .zip of Stable-Baselines3, a .npz that a policy with a table saved, or a checkpoint folder "
    "of RLlib"
)
_LOCAL_HEADER = b"PK\x03\x04"  # what an archive starts with


def load_policy(
    path: str | os.PathLike,
    name: str | None = None,
    trust: bool = False,
    deterministic: bool = True,
    seed: int = 0,
) -> CheckpointPolicy:
    """Read a checkpoint as a policy that acts for a group of agents in all worlds at once.

    What opening a checkpoint can execute:

    - a ``.npz`` that ``QTablePolicy.save`` wrote: nothing;
    - a ``.zip`` of Stable-Baselines3: nothing of the file. Its settings are read as JSON, its
      weights by torch's loader for weights, and the network is built from the library's own
      classes. One that needs more than that (classes of your own) is refused without ``trust``;
    - a checkpoint folder of RLlib: its pickles, which can do anything. It is refused without
      ``trust``.

    Args:
        path: The file or folder.
        name: Which policy of a checkpoint of several.
        trust: Whether the checkpoint may execute code, because you know where it comes from.
        deterministic: Whether to take the best action, else one is drawn as in training.
        seed: Of the random streams that draws come from; every group has one of its own.

    Returns:
        A policy to give to `abmarl.rollout.collect`, to a learner as its opponent, or wherever a
        policy of a group is asked for. It takes a group whose spaces are those of the checkpoint,
        as they are or flattened or ravelled.

    Raises:
        ValueError: The file is no checkpoint that is known, is damaged, needs ``trust``, or has no
            policy of that name.
        OSError: It cannot be read.
        ImportError: The library that wrote it is not installed.
    """
    given = os.fspath(path)
    for what, value in (("trust", trust), ("deterministic", deterministic)):
        if not isinstance(value, bool):
            raise TypeError(f"{what} must be True or False, got {value!r:.60}")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TypeError(f"seed must be an int, got {seed!r:.60}")
    if seed < 0:
        raise ValueError(f"seed must not be negative, got {seed}")
    return CheckpointPolicy(_read(given, name, trust), given, deterministic, seed)


def _read(path: str, name: str | None, trust: bool) -> CheckpointModel:
    if os.path.isdir(path):
        from abmarl.external.checkpoints import rllib

        if not rllib.is_checkpoint(path):
            raise ValueError(f"{path} is a folder but no checkpoint of RLlib; known are {KNOWN}")
        folder = rllib.module_folder(path, name)
        if not trust:
            raise _needs_trust(path, "checkpoints of RLlib are pickles, which can execute code")
        return rllib.RLlibModel(folder)
    if name is not None:
        raise ValueError(f"{path} holds one policy: leave out name={name!r:.60}")
    entries = _entries(path)
    if METADATA in entries:
        return TableModel(path)
    if {"data", "policy.pth"} <= entries:
        from abmarl.external.checkpoints import sb3

        try:
            return sb3.SB3Model(path, trust)
        except sb3.NeedsTrust as error:
            raise _needs_trust(path, str(error)) from error
    raise ValueError(f"{path} is no checkpoint that is known; known are {KNOWN}")


def _entries(path: str) -> set[str]:
    """Return the names of the entries of an archive."""
    with open(path, "rb") as file:
        start = file.read(4)
        try:
            with zipfile.ZipFile(file) as archive:
                # Weights are archives themselves: with its end cut off, one of them may be found.
                whole = min((info.header_offset for info in archive.infolist()), default=0) == 0
                if whole or start != _LOCAL_HEADER:
                    return set(archive.namelist())
        except zipfile.BadZipFile as error:
            if start != _LOCAL_HEADER:
                raise ValueError(
                    f"{path} is no checkpoint that is known; known are {KNOWN}"
                ) from error
    raise ValueError(f"{path} is cut off: its end is missing")


def _needs_trust(path: str, why: str) -> ValueError:
    return ValueError(
        f"{path}: {why};\n"
        f"if you know where it comes from, allow that: load_policy(path, trust=True), or --trust "
        f"on the command line"
    )
