"""Rollouts as compressed files.

A file is a zip archive in the layout of ``numpy.savez_compressed``: one ``.npy`` entry per column,
named by its path (``observations/red/position_centered_encoding.npy``), and one entry
``metadata.json``. ``numpy.load(path)`` opens it too. Nothing in it is ever pickled, and equal
rollouts make equal files.
"""

import contextlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import abmarl
from abmarl.archive import archive_path, reading_archive, save_archive, space_to_json
from abmarl.rollout.assembly import assemble, unequal
from abmarl.rollout.columns import Rollout

FORMAT = "abmarl-rollout"
FORMAT_VERSION = 1


def versions() -> dict[str, str]:
    """Versions of what a rollout was made with."""
    found = {"abmarl": abmarl.__version__, "python": platform.python_version()}
    for name in ("numpy", "numba", "gymnasium"):
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def save(rollout: Rollout, path: str | os.PathLike, *, progress: bool = False) -> None:
    """Write a rollout.

    It is written beside ``path`` first and moved there when it is complete: whatever happens, a
    file that was there before is either untouched or replaced by a complete one.

    Args:
        rollout: What to write.
        path: Where to, ending in ``.npz``.
        progress: Whether to report on stderr.

    Raises:
        ValueError: When the path does not end in ``.npz``, or exists and is not a file.
        OSError: When it cannot be written, as on a full disk; names the path.
    """
    path = archive_path(path, "a rollout")
    save_archive(path, metadata_of(rollout), dict(rollout.arrays()), show_progress=progress)


def metadata_of(rollout: Rollout) -> dict[str, Any]:
    """What the file says besides the columns."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "simulation": rollout.simulation,
        "seed": _plain(rollout.seed),
        "continued": rollout.continued,
        "horizon": _plain(rollout.horizon),
        "order": rollout.order,
        "num_envs": rollout.num_envs,
        "num_steps": rollout.num_steps,
        "interrupted": rollout.interrupted,
        "groups": {
            name: {
                "ids": list(group.ids),
                "encoding": group.encoding,
                "observation_space": space_to_json(group.observation_space),
                "action_space": space_to_json(group.action_space),
            }
            for name, group in rollout.groups.items()
        },
        "teams": {str(team): name for team, name in rollout.episodes.team_names.items()},
        "versions": rollout.versions,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, np.integer):
        return int(value)
    return [_plain(entry) for entry in value] if isinstance(value, tuple | list) else value


def load(path: str | os.PathLike) -> Rollout:
    """Read a rollout.

    Args:
        path: A file that `save` wrote.

    Returns:
        The rollout, with the same columns, dtypes and spaces.

    Raises:
        ValueError: When the file is not a rollout, is damaged or cut off, or was written by a
            newer version.
        MemoryError: When it does not fit.
        OSError: When it cannot be read.
    """
    path = os.fspath(path)
    with reading_archive(path, "a rollout", FORMAT, FORMAT_VERSION) as (metadata, arrays):
        rollout = assemble(metadata, arrays)
    for names in unequal(rollout, metadata["num_steps"], metadata["num_envs"]):
        raise ValueError(f"{path} is damaged: {'/'.join(names)} has another shape than the rest")
    return rollout
