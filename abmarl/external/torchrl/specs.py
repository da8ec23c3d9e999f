"""Spaces as TorchRL's specs, and tensors of actions as the engine's arrays."""

from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.extras import load
from abmarl.sim.layout import SpaceLayout

data = load("torchrl.data", "torchrl", "abmarl.external.torchrl")
import torch  # noqa: E402 - where TorchRL is missing, it is TorchRL that is to be named


def flags(shape: tuple[int, ...]) -> Any:
    """The spec of bools."""
    return data.Categorical(n=2, shape=torch.Size(shape), dtype=torch.bool)


def observation_spec(space: Any, lead: tuple[int, ...]) -> Any:
    """The spec of observations ``[*lead, *shape]``, nested as the space, of the same dtypes.

    Raises:
        TypeError: a space in it is of a kind that has no spec.
    """
    if isinstance(space, spaces.Dict):
        return _nested(space, lead, observation_spec)
    if isinstance(space, spaces.Discrete) and space.start == 0:
        return data.Categorical(n=int(space.n), shape=torch.Size(lead), dtype=_dtype(space.dtype))
    return _bounded(space, lead)


def action_spec(space: Any, lead: tuple[int, ...], one_hot: bool) -> Any:
    """The spec of actions ``[*lead, ...]``, nested as the space.

    Choices count from 0 whatever the space counts from, or are one-hot.

    Raises:
        TypeError: a space in it is of a kind that has no spec.
    """
    if isinstance(space, spaces.Dict):
        return _nested(space, lead, lambda part, lead: action_spec(part, lead, one_hot))
    if isinstance(space, spaces.Discrete):
        count = int(space.n)
        if one_hot:
            return data.OneHot(n=count, shape=torch.Size((*lead, count)))
        return data.Categorical(n=count, shape=torch.Size(lead))
    if isinstance(space, spaces.MultiDiscrete) and space.nvec.ndim == 1:
        counts = space.nvec.tolist()
        if one_hot:
            return data.MultiOneHot(counts, shape=torch.Size((*lead, sum(counts))))
        return data.MultiCategorical(counts, shape=torch.Size((*lead, len(counts))))
    return _bounded(space, lead)


def actions_of(space: Any, spec: Any, actions: Any) -> Any:
    """Actions as arrays of points of the space, nested as it is.

    What is missing is left out, for the simulation to refuse.
    """
    if isinstance(space, spaces.Dict):
        given = dict(actions.items())
        return {
            key: actions_of(part, spec[key], given[key])
            for key, part in space.items()
            if key in given
        }
    if isinstance(spec, data.OneHot | data.MultiOneHot):
        actions = spec.to_categorical(actions, safe=False)
    array = actions.numpy(force=True)
    start = getattr(space, "start", 0)
    return array + start if np.any(start) else array


def _nested(space: spaces.Dict, lead: tuple[int, ...], make: Any) -> Any:
    return data.Composite(
        {key: make(part, lead) for key, part in space.items()}, shape=torch.Size(lead)
    )


def _bounded(space: Any, lead: tuple[int, ...]) -> Any:
    if isinstance(space, spaces.Tuple):
        raise TypeError(f"TorchRL has no spec for {space!r:.120}; flatten or ravel it")
    (leaf,) = SpaceLayout(space).leaves
    shape, dtype = torch.Size((*lead, *leaf.shape)), _dtype(space.dtype)
    low, high = (
        torch.as_tensor(side.reshape(leaf.shape), dtype=dtype).expand(shape)
        for side in (leaf.low, leaf.high)
    )
    return data.Bounded(low=low, high=high, shape=shape, dtype=dtype)


def _dtype(dtype: Any) -> Any:
    return torch.from_numpy(np.empty(0, dtype)).dtype
