"""The spaces of the learning group in a form that Stable-Baselines3 supports."""

from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.gridworld.vector.wrappers import ConvertedSimulation
from abmarl.sim.conversion import MultiDiscreteConversion

ACTIONS = ("discrete", "multi_discrete")
OBSERVATIONS = ("flat", "dict")

# A policy has an output, or an input, for each of them.
_MAX_POINTS = 65_536


def supported(vec: Any, group: str, actions: str, observations: str) -> Any:
    """Return the simulation with spaces of the group that the library supports.

    What the caller has ravelled or flattened already stays as it is.

    Args:
        vec: A vectorised simulation.
        group: The group that learns; the spaces of the others stay as they are.
        actions: One of `ACTIONS`.
        observations: One of `OBSERVATIONS`.

    Raises:
        ValueError: The library does not support a space; says what helps.
    """
    for name, value, known in (
        ("actions", actions, ACTIONS),
        ("observations", observations, OBSERVATIONS),
    ):
        if value not in known:
            raise ValueError(f"{name} must be {' or '.join(map(repr, known))}, got {value!r}")
    if isinstance(vec.groups[group].action_space, spaces.Dict):
        vec = _with_actions(vec, group, actions)
    if observations == "flat" and isinstance(vec.groups[group].observation_space, spaces.Dict):
        vec = vec.flatten(actions=False, groups=[group])
    _check_actions(vec.groups[group].action_space, group)
    _check_observations(vec.groups[group].observation_space, group)
    return vec


def _with_actions(vec: Any, group: str, actions: str) -> Any:
    try:
        if actions == "multi_discrete":
            return ConvertedSimulation(vec, MultiDiscreteConversion, True, False, [group])
        return vec.ravel(observations=False, groups=[group])
    except ValueError as error:
        raise ValueError(
            f"SB3VecEnv cannot take actions={actions!r} for group {group!r}: {error}; "
            f"take actions='multi_discrete' for many choices, and "
            f"vec.flatten(observations=False) for numbers that are no integers"
        ) from error


def _check_actions(space: spaces.Space, group: str) -> None:
    name = f"the action space of group {group!r}, {space!r:.120},"
    if isinstance(space, spaces.Box) and np.dtype(space.dtype).kind != "f":
        raise ValueError(
            f"{name} is a Box of integers, and the library chooses floats there; give SB3VecEnv "
            f"the simulation before its actions are flattened"
        )
    if isinstance(space, spaces.Discrete) and int(space.n) > _MAX_POINTS:
        raise ValueError(
            f"{name} has too many choices for one number ({_MAX_POINTS} at most); "
            f"take actions='multi_discrete' on the simulation before it is ravelled"
        )
    _check_start(space, name, "ravel it")
    if not isinstance(space, spaces.Box | spaces.Discrete | spaces.MultiDiscrete):
        raise ValueError(f"{name} is unknown to the library; ravel it")


def _check_observations(space: spaces.Space, group: str) -> None:
    parts = space.spaces if isinstance(space, spaces.Dict) else {None: space}
    for key, part in parts.items():
        channel = "" if key is None else f" on channel {key!r}"
        name = f"the observation space of group {group!r}{channel}, {part!r:.120},"
        hint = "take observations='flat' on the simulation before it is ravelled"
        known = spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary
        if not isinstance(part, known):
            raise ValueError(f"{name} is unknown to the library; {hint}")
        if isinstance(part, spaces.Discrete) and int(part.n) > _MAX_POINTS:
            raise ValueError(f"{name} would become one input per point; {hint}")
        if isinstance(part, spaces.MultiDiscrete | spaces.MultiBinary) and len(part.shape) != 1:
            raise ValueError(f"{name} has more than one axis; {hint}")
        _check_start(part, name, hint)


def _check_start(space: spaces.Space, name: str, hint: str) -> None:
    if isinstance(space, spaces.Discrete | spaces.MultiDiscrete) and np.any(space.start != 0):
        raise ValueError(f"{name} does not count from 0, as the library does; {hint}")
