"""How large a rollout is going to be, and whether that fits."""

from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.resources import check_memory
from abmarl.rollout.channels import channels_of

# What final observations may take is known only at the end. An episode is taken to last this many
# steps on average when memory is checked beforehand.
STEPS_PER_EPISODE = 10


def column_dtype(space: spaces.Space) -> np.dtype:
    """The narrowest dtype that holds every point of a channel's space."""
    if isinstance(space, spaces.Discrete):
        first = int(space.start)
        return _narrowest(first, first + int(space.n) - 1)
    if isinstance(space, spaces.MultiDiscrete):
        return _narrowest(int(space.start.min()), int((space.start + space.nvec).max()) - 1)
    if isinstance(space, spaces.Box) and space.dtype.kind in "iu" and space.low.size:
        return _narrowest(int(space.low.min()), int(space.high.max()))
    if isinstance(space, spaces.Box | spaces.MultiBinary):
        return np.dtype(space.dtype)
    raise TypeError(
        f"a channel of {type(space).__name__} cannot be a column; allowed are Box, Discrete, "
        f"MultiDiscrete and MultiBinary"
    )


def _narrowest(low: int, high: int) -> np.dtype:
    for dtype in (np.int8, np.int16, np.int32):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return np.dtype(dtype)
    return np.dtype(np.int64)


def row_nbytes(vec: Any) -> dict[str, int]:
    """Bytes that one world takes per step: ``{"observations": ..., "rest": ...}``."""
    seen, rest = 0, 1  # one byte: ended
    for group in vec.groups.values():
        for _, space in channels_of(group.observation_space).values():
            seen += len(group) * int(np.prod(space.shape)) * column_dtype(space).itemsize
        for _, space in channels_of(group.action_space).values():
            rest += len(group) * int(np.prod(space.shape)) * column_dtype(space).itemsize
        rest += len(group) * (8 + 3)  # rewards; terminated, truncated, active
    return {"observations": seen, "rest": rest}


def rollout_nbytes(vec: Any, num_steps: int) -> int:
    """The memory a rollout takes.

    Final observations are counted as if an episode lasted ten steps on average.

    Args:
        vec: A vectorised simulation.
        num_steps: Steps to collect.

    Returns:
        Bytes.
    """
    row = row_nbytes(vec)
    finals = num_steps / STEPS_PER_EPISODE + 1
    per_world = (num_steps + 1 + finals) * row["observations"] + num_steps * row["rest"]
    # What the table of episodes has per row, with about a team for every group.
    per_world += finals * 8 * (5 + 2 * len(vec.groups) + 1)
    return int(vec.num_envs * per_world)


def check_rollout_memory(vec: Any, num_steps: int) -> None:
    """Refuse a rollout for which there is not enough memory.

    Raises:
        MemoryError: Says what is needed, what there is, and how many steps would fit.
    """

    def advice(available: int) -> str:
        fixed = rollout_nbytes(vec, 0)
        fit = max(0, int((available - fixed) / (rollout_nbytes(vec, 10) - fixed) * 10))
        return (
            f"num_steps up to {fit} would fit"
            if fit
            else "not even one step fits: use fewer worlds"
        )

    task = f"{num_steps} steps of {vec.num_envs} worlds need"
    check_memory(rollout_nbytes(vec, num_steps), task, advice)
