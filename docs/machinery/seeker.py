"""A policy that knows the whole grid and goes the shortest way: for pictures, not for science."""

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

_WAYS = ((0, 0), (0, -1), (1, 0), (0, 1), (-1, 0))


class Seeker:
    """Walks around walls to the nearest of its targets.

    Args:
        targets: ``targets(vec, slot) -> slots``: whom agent number `slot` is after.
        stray: how often it goes a random way.
    """

    def __init__(self, targets: Callable[[Any, int], Any], stray: float = 0.0):
        self._targets, self._stray = targets, stray

    def bind(self, vec: Any, group_name: str) -> None:
        """Act for this group of this simulation of one world."""
        self._vec, self._group = vec, vec.groups[group_name]
        self._rng = np.random.default_rng(vec.seed)
        self._walls = np.asarray(vec.store.traits["blocking"], bool)

    def __call__(self, observations: Any, active: np.ndarray) -> dict[str, np.ndarray]:
        """Return moves; observations do not matter."""
        ways = np.zeros((*active.shape, 2), np.int64)
        for k, slot in enumerate(self._group.slots.tolist()):
            if active[0, k]:
                ways[0, k] = self._way(slot)
        space = self._group.action_space["move"]
        if space.shape:
            return {"move": ways}
        numbers = np.array([[_WAYS.index(tuple(way)) for way in ways[0].tolist()]])
        return {"move": numbers}

    def _way(self, slot: int) -> tuple[int, int]:
        if self._rng.random() < self._stray:
            return _WAYS[self._rng.integers(1, 5)]
        store = self._vec.store
        free = np.ones((store.rows, store.cols), bool)
        position = store.position[0]
        free[tuple(position[self._walls & store.active[0]].T)] = False
        wanted = {
            tuple(position[one].tolist())
            for one in self._targets(self._vec, slot)
            if store.active[0, one]
        }
        start = tuple(position[slot].tolist())
        first = {start: (0, 0)}
        queue = deque([start])
        while queue:
            cell = queue.popleft()
            if cell in wanted:
                return first[cell]
            for way in _WAYS[1:]:
                beside = cell[0] + way[0], cell[1] + way[1]
                inside = 0 <= beside[0] < store.rows and 0 <= beside[1] < store.cols
                if inside and free[beside] and beside not in first:
                    first[beside] = first[cell] if cell != start else way
                    queue.append(beside)
        return 0, 0


def kind(encoding: int) -> Callable[[Any, int], np.ndarray]:
    """Whoever is after all agents of an encoding."""
    return lambda vec, slot: np.flatnonzero(vec.store.traits["encoding"] == encoding)


def own_goal(vec: Any, slot: int) -> list[int]:
    """Whoever is after the agent that the simulation's done condition names for it."""
    mapping = next(one.target_mapping for one in vec.sim.dones if hasattr(one, "target_mapping"))
    ids = list(vec.agents)
    return [ids.index(getattr(mapping[ids[slot]], "id", mapping[ids[slot]]))]
