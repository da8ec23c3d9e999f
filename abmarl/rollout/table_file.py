"""Policies with a table as files.

A file is an archive as that of a rollout: ``q_table.npy``, and ``metadata.json`` with the kind of
the policy and its spaces. Nothing in it is ever pickled, so reading it executes nothing.
"""

import os
from typing import Any

from gymnasium.spaces import Discrete

import abmarl
from abmarl.policies.table import checked_table
from abmarl.rollout.archive import opened_archive, read_arrays, read_metadata, save_archive
from abmarl.rollout.space_json import space_from_json, space_to_json

FORMAT = "abmarl-policy"
FORMAT_VERSION = 1


def save_table(path: str | os.PathLike, kind: str, policy: Any, numbers: dict[str, float]) -> None:
    """Write a policy that has a table.

    Args:
        path: Where to, ending in ``.npz``. An earlier file is replaced when the new one is whole.
        kind: Name of its class.
        policy: The policy, with ``q_table`` and `Discrete` spaces.
        numbers: Further arguments of its class.

    Raises:
        ValueError: When the path does not end in ``.npz`` or is something else than a file.
        OSError: When it cannot be written.
    """
    given = os.fspath(path)
    if not given.endswith(".npz"):
        raise ValueError(f"a policy is saved to a .npz file, not to {given!r}")
    home = os.path.realpath(given)
    if os.path.exists(home) and not os.path.isfile(home):
        raise ValueError(f"{given} is there and is not a file")
    metadata = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "numbers": numbers,
        "observation_space": space_to_json(policy.observation_space),
        "action_space": space_to_json(policy.action_space),
        "versions": {"abmarl": abmarl.__version__},
    }
    save_archive(given, home, metadata, [(("q_table",), policy.q_table)])


def read_table(path: str | os.PathLike) -> tuple[str, dict[str, Any]]:
    """Read what `save_table` wrote.

    Returns:
        The kind of the policy, and the arguments to make one: ``action_space``,
        ``observation_space``, ``q_table`` (float64 [observations, actions]) and its numbers.

    Raises:
        ValueError: When the file is no policy, is damaged or cut off, or was written by a newer
            version.
        MemoryError: When it does not fit.
        OSError: When it cannot be read.
    """
    path = os.fspath(path)
    with opened_archive(path, "a policy") as archive:
        metadata = read_metadata(archive, path, "a policy", FORMAT, FORMAT_VERSION)
        numbers = {str(name): float(value) for name, value in metadata["numbers"].items()}
        found = {
            side: _discrete(metadata[side], side, path)
            for side in ("action_space", "observation_space")
        }
        table = read_arrays(archive, path)[("q_table",)]
        shape = (int(found["observation_space"].n), int(found["action_space"].n))
        try:
            checked_table(table, shape)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error
        return str(metadata["kind"]), {**found, "q_table": table, **numbers}


def _discrete(description: Any, side: str, path: str) -> Discrete:
    space = space_from_json(description)
    if not isinstance(space, Discrete):
        raise ValueError(f"{path} is damaged: its {side} is {space!r:.100}, it must be Discrete")
    return space
