"""The whole world as one array, for central critics."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.gridworld.base import GridWorldSimulation
from abmarl.gridworld.store import SHOWN
from abmarl.sim.agent_based_simulation import AgentBasedSimulation
from abmarl.sim.conversion import FlattenConversion


def global_state(
    sim: AgentBasedSimulation, observation_spaces: Mapping[str, Any]
) -> "GridState | JointObservations":
    """Return what reads the state of a simulation, also of one in wrappers.

    Raises:
        TypeError: It is not a grid world, and its observations cannot be made flat.
    """
    inner = getattr(sim, "unwrapped", sim)
    if isinstance(inner, GridWorldSimulation):
        return GridState(inner)
    return JointObservations(sim, observation_spaces)


class GridState:
    """The state of all agents of a grid world, from its store.

    Args:
        sim: The grid world.

    Attributes:
        space: Box float32 ``[agents, features]``.
        features: ``row``, ``col``, ``active``, ``health``, and what agents and components declared
            as fields: ``ammo``, ``orientation``, ``team``, or a user's own.
    """

    def __init__(self, sim: GridWorldSimulation) -> None:
        self._store = store = sim.store
        # A bound above 0 also where there is one row or column: Box needs low < high.
        high: list[float] = [max(1, store.rows - 1), max(1, store.cols - 1), 1, 1]
        low: list[float] = [0, 0, 0, 0]
        names = ["row", "col", "active", "health"]
        self._fields = []
        for name, array in store.fields().items():
            if name.startswith(SHOWN):  # arrays that observers keep for themselves
                continue
            self._fields.append(name)
            width = int(np.prod(array.shape[2:], dtype=np.int64))
            names += [name] if array.ndim == 2 else [f"{name}[{k}]" for k in range(width)]
            least, most = _range(array.dtype)
            low += [least] * width
            high += [most] * width
        self.features = tuple(names)
        shape = (store.num_agents, len(names))
        bounds = [np.broadcast_to(np.array(side, np.float32), shape) for side in (low, high)]
        self.space = spaces.Box(bounds[0], bounds[1], dtype=np.float32)

    def read(self, last_seen: Mapping[str, Any]) -> np.ndarray:
        """Return float32 ``[agents, features]``, a fresh array."""
        store = self._store
        out = np.empty(self.space.shape, np.float32)
        out[:, :2] = store.position[0]
        # Before they are placed agents have no cell, which looks like one outside of the grid.
        out[store.cell[0] == 0, :2] = 0
        out[:, 2] = store.active[0]
        out[:, 3] = store.health[0]
        at = 4
        for name in self._fields:
            values = store.array(name)[0].reshape(len(out), -1)
            out[:, at : at + values.shape[1]] = values
            at += values.shape[1]
        out[~store.active[0]] = 0
        return out


class JointObservations:
    """The observations of all learning agents side by side.

    Args:
        sim: The simulation.
        observation_spaces: The space of every learning agent.

    Attributes:
        space: Box float64 ``[n]``; a `Discrete` is one entry that counts from 0.
        features: Empty: the entries have no names.

    Raises:
        TypeError: A space cannot be made flat.
    """

    features = ()

    def __init__(self, sim: AgentBasedSimulation, observation_spaces: Mapping[str, Any]) -> None:
        self._sim = sim
        self._parts = {
            name: FlattenConversion(space, f"observation_space of agent {name!r}", one_hot=False)
            for name, space in observation_spaces.items()
        }
        targets = [part.target for part in self._parts.values()]
        low = np.concatenate([target.low for target in targets]).astype(np.float64)
        high = np.concatenate([target.high for target in targets]).astype(np.float64)
        self.space = spaces.Box(low, high, dtype=np.float64)

    def read(self, last_seen: Mapping[str, Any]) -> np.ndarray:
        """Return float64 ``[n]``, a fresh array."""
        return np.concatenate(
            [
                part.convert(last_seen[name] if name in last_seen else self._sim.get_obs(name))
                for name, part in self._parts.items()
            ]
        ).astype(np.float64)


def _range(dtype: np.dtype) -> tuple[float, float]:
    if dtype.kind == "f":
        return -np.inf, np.inf
    if dtype.kind == "b":
        return 0, 1
    return np.iinfo(dtype).min, np.iinfo(dtype).max
