"""Simulations with one learning agent for libraries that still want the old gym package."""

import copy
from collections import OrderedDict
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.external.single_agent_env import SingleAgentEnv
from abmarl.extras import load
from abmarl.sim.agent_based_simulation import AgentBasedSimulation

gym = load("gym", "gym", "abmarl.external.gym")


def _kept_by_unwrapped(name: str) -> property:
    def get(self: "GymWrapper") -> Any:
        return getattr(self.unwrapped, name, None)

    def put(self: "GymWrapper", value: Any) -> None:
        setattr(self.unwrapped, name, value)

    return property(get, put, doc=f"What gym keeps as ``{name}`` of the unwrapped environment.")


class GymWrapper(SingleAgentEnv, gym.Env):  # type: ignore[name-defined]
    """A ``gym.Env`` (0.26) around a simulation in which one agent learns.

    Args:
        sim: A simulation or a manager; others may be in it that do not learn.
        render_mode: ``"human"``, ``"rgb_array"``, ``"ansi"``, or None: `render` forwards to the
            simulation.
        horizon: Steps after which an episode is truncated; None: never.

    Attributes:
        sim: What was given.
        agent_id: The id of the learning agent.

    Raises:
        TypeError: `sim` is neither a simulation nor a manager, a space is of a kind that gym does
            not have, or the horizon is not an int.
        ValueError: There is not exactly one learning agent, the horizon is below 1, or there is no
            such render mode.
    """

    # `unwrapped` is the simulation, so that is where gym puts these and looks for them.
    spec = _kept_by_unwrapped("spec")
    _np_random = _kept_by_unwrapped("_np_random")
    _np_random_seed = None  # gym, unlike Gymnasium, does not keep it

    def __init__(
        self, sim: Any, render_mode: str | None = None, horizon: int | None = None
    ) -> None:
        super().__init__(sim, render_mode, horizon)
        self.action_space = to_gym(self.action_space, "action_space")
        self.observation_space = to_gym(self.observation_space, "observation_space")

    @property
    def unwrapped(self) -> AgentBasedSimulation:
        """The simulation within the manager and all wrappers."""
        return self.simulation

    def render(self, **kwargs: Any) -> Any:
        """Show the present state in the render mode, or as the simulation itself does.

        Args:
            **kwargs: For the simulation's render, where there is no render mode.
        """
        if self.render_mode is None:
            return self.sim.render(**kwargs)
        return super().render()


def to_gym(space: spaces.Space, name: str = "space") -> Any:
    """Return a space of gymnasium as a space of gym with the same points.

    Keys keep their order, and random streams their state.

    Args:
        space: A gymnasium space.
        name: What to call it in messages.

    Raises:
        TypeError: gym has no such space.
    """
    make: Any = _TO_GYM.get(type(space))
    if make is None:
        raise TypeError(
            f"{name} is a {type(space).__name__}, which cannot be converted to gym; "
            f"these can: {', '.join(kind.__name__ for kind in _TO_GYM)}"
        )
    return make(space, name)


def _stream(space: spaces.Space) -> np.random.Generator | None:
    # Not the property np_random, which would make a stream where there is none.
    stream = space._np_random
    return None if stream is None else np.random.Generator(copy.deepcopy(stream.bit_generator))


def _box(space: spaces.Box, name: str) -> Any:
    made = gym.spaces.Box(
        space.low.copy(), space.high.copy(), space.shape, space.dtype, _stream(space)
    )
    # An unbounded side of an integer box is the limit of the dtype by now; only the flags tell.
    made.bounded_below, made.bounded_above = space.bounded_below.copy(), space.bounded_above.copy()
    return made


def _discrete(space: spaces.Discrete, name: str) -> Any:
    return gym.spaces.Discrete(int(space.n), _stream(space), int(space.start))


def _multi_discrete(space: spaces.MultiDiscrete, name: str) -> Any:
    if np.any(space.start):
        raise TypeError(
            f"{name} is {space}, but a MultiDiscrete of gym starts at 0; "
            f"ravel the simulation with RavelDiscreteWrapper"
        )
    return gym.spaces.MultiDiscrete(space.nvec, space.dtype, _stream(space))


def _multi_binary(space: spaces.MultiBinary, name: str) -> Any:
    return gym.spaces.MultiBinary(space.n, _stream(space))


def _dict(space: spaces.Dict, name: str) -> Any:
    parts = ((key, to_gym(part, f"{name}[{key!r}]")) for key, part in space.spaces.items())
    # gym sorts the keys of every mapping but an OrderedDict.
    return gym.spaces.Dict(OrderedDict(parts), _stream(space))


def _tuple(space: spaces.Tuple, name: str) -> Any:
    parts = [to_gym(part, f"{name}[{i}]") for i, part in enumerate(space.spaces)]
    return gym.spaces.Tuple(parts, _stream(space))


_TO_GYM = {
    spaces.Box: _box,
    spaces.Discrete: _discrete,
    spaces.MultiDiscrete: _multi_discrete,
    spaces.MultiBinary: _multi_binary,
    spaces.Dict: _dict,
    spaces.Tuple: _tuple,
}
