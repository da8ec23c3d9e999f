"""Rollouts as files: archives with an entry for every array, see `abmarl.archive`."""

import contextlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import abmarl
from abmarl.archive import (
    Arrays,
    archive_path,
    reading_archive,
    save_archive,
    space_from_json,
    space_to_json,
)
from abmarl.rollout.columns import (
    FORMAT_VERSION,
    Rollout,
    RolloutGroup,
    array_specs,
    by_attribute,
)
from abmarl.rollout.episodes import Episodes

FORMAT = "abmarl-rollout"

# Attributes of a rollout that stand in the metadata under their own names.
_FACTS = ("simulation", "seed", "continued", "horizon", "order", "interrupted", "versions")


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
    save_archive(path, _metadata(rollout), dict(rollout.arrays()), show_progress=progress)


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
        return _rollout(metadata, arrays, path)


def versions() -> dict[str, str]:
    """Return the versions of what a rollout is made with."""
    found = {"abmarl": abmarl.__version__, "python": platform.python_version()}
    for name in ("numpy", "numba", "gymnasium"):
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _metadata(rollout: Rollout) -> dict[str, Any]:
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


def _rollout(metadata: dict[str, Any], arrays: Arrays, path: str) -> Rollout:
    """Make the rollout of a file; whatever is missing or of the wrong kind raises its error."""
    groups = {
        name: RolloutGroup(
            tuple(group["ids"]),
            space_from_json(group["observation_space"]),
            space_from_json(group["action_space"]),
            group["encoding"],
        )
        for name, group in metadata["groups"].items()
    }
    teams = {int(team): name for team, name in metadata["teams"].items()}
    specs = array_specs(groups, teams)
    columns = by_attribute(specs, arrays, metadata["format_version"])
    lengths = {
        "T": metadata["num_steps"],
        "B": metadata["num_envs"],
        "E": len(columns["final_index"]),
    }
    for spec in specs:
        if spec.names in arrays and arrays[spec.names].shape != spec.sized(**lengths):
            name = "/".join(spec.names)
            raise ValueError(f"{path} is damaged: {name} has another shape than the rest")
    return Rollout(
        **(columns | {"episodes": Episodes(**columns["episodes"], team_names=teams)}),
        groups=groups,
        **{name: metadata[name] for name in _FACTS},
    )
