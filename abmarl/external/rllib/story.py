"""Which episodes the steps of a rollout belong to."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(eq=False)
class Story:
    """The worlds' episodes while they are stepped.

    Attributes:
        ids: the episode that each world is in at the start.
        env_t: int64 [worlds], how many steps it had then.
        agent_t: ``{agent id: int64 [worlds]}``, how many steps of it the agent had acted in.
        num_steps: steps of the rollout.
        ends: ``(step, world, id of the next episode)`` of the episodes that ended.
    """

    ids: list[str]
    env_t: np.ndarray
    agent_t: dict[str, np.ndarray]
    num_steps: int = 0
    ends: list[tuple[int, int, str]] = field(default_factory=list)


class Chunks:
    """The chunks of episodes that a rollout consists of: those that ended, then one per world.

    Args:
        story: the finished story.

    Attributes:
        ids: their episodes.
        first, last: int64, their first step, and the one after the last.
        carried: bool, the episode began before the rollout.
        ended: bool.
        order: their numbers, those that ended in the order of time first.
    """

    def __init__(self, story: Story) -> None:
        num_worlds, self._num_steps = len(story.ids), story.num_steps
        ends = sorted((world, step, following) for step, world, following in story.ends)
        self._ends = np.array([end[:2] for end in ends], np.int64).reshape(-1, 2)
        worlds = np.concatenate([self._ends[:, 0], np.arange(num_worlds)])
        self.last = np.concatenate([self._ends[:, 1] + 1, np.full(num_worlds, self._num_steps)])
        self.ended = np.arange(len(worlds)) < len(ends)
        self.first = np.zeros(len(worlds), np.int64)
        self.carried = np.ones(len(worlds), bool)
        current = list(story.ids)
        self.ids = []
        began = [-1] * num_worlds
        for chunk, (world, step, following) in enumerate(ends):
            self._begin(chunk, began[world])
            self.ids.append(current[world])
            current[world], began[world] = following, step + 1
        for world in range(num_worlds):
            self._begin(len(ends) + world, began[world])
        self.ids += current
        self.env_t = np.where(self.carried, story.env_t[worlds], 0)
        in_time = np.lexsort((self._ends[:, 0], self._ends[:, 1]))
        self.order = [*in_time.tolist(), *range(len(ends), len(worlds))]

    def _begin(self, chunk: int, step: int) -> None:
        if step >= 0:
            self.first[chunk], self.carried[chunk] = step, False

    def holding(self, worlds: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """The chunks that hold some steps of some worlds."""
        width = self._num_steps + 1
        keys = self._ends[:, 0] * width + self._ends[:, 1]
        found = np.searchsorted(keys, worlds * width + steps)
        inside = found < len(keys)
        inside[inside] = self._ends[found[inside], 0] == worlds[inside]
        return np.where(inside, found, len(keys) + worlds)
