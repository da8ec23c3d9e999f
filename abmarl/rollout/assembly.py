"""A rollout from the parts of a file."""

from typing import Any

import numpy as np

from abmarl.archive import space_from_json
from abmarl.rollout.channels import channels_of
from abmarl.rollout.columns import Rollout, RolloutGroup
from abmarl.rollout.episodes import Episodes


def assemble(metadata: dict[str, Any], arrays: dict[tuple[str, ...], np.ndarray]) -> Rollout:
    """Make the rollout.

    Raises:
        KeyError: Something is missing; it is named.
        TypeError, AttributeError, ValueError: The metadata is not in order.
    """
    groups = {
        name: RolloutGroup(
            tuple(group["ids"]),
            space_from_json(group["observation_space"]),
            space_from_json(group["action_space"]),
            group["encoding"],
        )
        for name, group in metadata["groups"].items()
    }

    def channels(kind: str, space: str) -> dict[str, dict[str, np.ndarray]]:
        return {
            name: {
                channel: arrays[kind, name, channel]
                for channel in channels_of(getattr(group, space))
            }
            for name, group in groups.items()
        }

    def flat(kind: str) -> dict[str, np.ndarray]:
        return {name: arrays[kind, name] for name in groups}

    return Rollout(
        observations=channels("observations", "observation_space"),
        last_observations=channels("last_observations", "observation_space"),
        actions=channels("actions", "action_space"),
        final_observations=channels("final_observations", "observation_space"),
        rewards=flat("rewards"),
        terminated=flat("terminated"),
        truncated=flat("truncated"),
        active=flat("active"),
        ended=arrays["ended",],
        final_index=arrays["final_index",],
        episodes=Episodes(
            world=arrays["episodes", "world"],
            step=arrays["episodes", "step"],
            length=arrays["episodes", "length"],
            returns={name: arrays["episodes", "return", name] for name in groups},
            survivors={
                int(team): arrays["episodes", "survivors", team] for team in metadata["teams"]
            },
            team_names={int(team): name for team, name in metadata["teams"].items()},
        ),
        groups=groups,
        seed=metadata["seed"],
        continued=metadata["continued"],
        horizon=metadata["horizon"],
        order=metadata["order"],
        simulation=metadata["simulation"],
        interrupted=metadata["interrupted"],
        versions=metadata["versions"],
    )


def unequal(rollout: Rollout, steps: int, worlds: int) -> list[tuple[str, ...]]:
    """The columns that do not have the shape that the metadata asks for."""
    ends = len(rollout.final_index)
    leading = {
        "last_observations": (worlds,),
        "final_observations": (ends,),
        "final_index": (ends, 2),
        "ended": (steps, worlds),
    }
    found = []
    for names, array in rollout.arrays():
        shape = leading.get(names[0], (steps, worlds))
        if names[0] == "episodes":
            shape = (ends,)
        elif len(names) > 1:
            shape = (*shape, len(rollout.groups[names[1]]))
        if array.shape[: len(shape)] != shape:
            found.append(names)
    return found
