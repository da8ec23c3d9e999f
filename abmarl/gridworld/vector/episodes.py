"""What is known about the episodes of all worlds, as arrays."""

import numpy as np


class Episodes:
    """Arrays with the world first; ``shard`` gives the same for some worlds, on the same memory.

    Attributes:
        running: bool [B], the world is in an episode.
        alive: bool [B, N], learning agents that have not ended: those who act next.
        length: int64 [B] and ``returns`` float64 [B, N] of the running episodes.
        terminated, truncated: bool [B, N], agents that ended in the last step.
        ended: bool [B], worlds that ended in the last step; where it is set, ``final_length``,
            ``final_returns`` and ``final_active`` (all agents) tell how.
    """

    NAMES = (
        "running", "alive", "length", "returns", "terminated", "truncated", "ended",
        "final_length", "final_returns", "final_active",
    )  # fmt: skip

    def __init__(self, num_worlds, num_agents):
        shape = (num_worlds, num_agents)
        self.running = np.zeros(num_worlds, bool)
        self.alive = np.zeros(shape, bool)
        self.length = np.zeros(num_worlds, np.int64)
        self.returns = np.zeros(shape)
        self.terminated = np.zeros(shape, bool)
        self.truncated = np.zeros(shape, bool)
        self.ended = np.zeros(num_worlds, bool)
        self.final_length = np.zeros(num_worlds, np.int64)
        self.final_returns = np.zeros(shape)
        self.final_active = np.zeros(shape, bool)

    def shard(self, low, high) -> "Episodes":
        """The worlds ``low`` to ``high``."""
        part = object.__new__(Episodes)
        for name in self.NAMES:
            setattr(part, name, getattr(self, name)[low:high])
        return part

    def arrays(self) -> dict:
        """Every array by name."""
        return {name: getattr(self, name) for name in self.NAMES}
