"""Points of spaces to ravel and flatten: what 1,000 worlds of 24 agents observe."""

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from abmarl.sim.conversion import FlattenConversion, RavelConversion

WORLDS, AGENTS, SIDE = 1000, 24, 7


class Ravelled:
    """Windows of 7 x 7 cells, free or taken, as numbers."""

    def __init__(self):
        space = Dict({"window": Box(0, 1, (SIDE, SIDE), np.int8)})
        self.conversion = RavelConversion(space)
        self.points = _random_points(space)
        self.out = self.conversion.empty((WORLDS, AGENTS))
        self.plain = np.empty_like(self.out)
        self.weights = 2 ** np.arange(SIDE * SIDE, dtype=np.int64)[::-1]

    def batch(self):
        """All at once, by the kernel."""
        self.conversion.convert_into(self.points, self.out)

    def one_by_one(self):
        """Agent by agent, by NumPy: ``ravel_multi_index`` would be many times slower still."""
        windows = self.points["window"]
        for b in range(WORLDS):
            for i in range(AGENTS):
                self.plain[b, i] = windows[b, i].reshape(-1) @ self.weights


class Flattened:
    """Windows of 7 x 7 encodings and one of four orientations, as flat arrays."""

    def __init__(self):
        space = Dict(
            {
                "orientation": Discrete(4, start=1, dtype=np.int8),
                "window": Box(-2, 4, (SIDE, SIDE), np.int8),
            }
        )
        self.conversion = FlattenConversion(space, dtype=np.int8)
        self.points = _random_points(space)
        self.out = self.conversion.empty((WORLDS, AGENTS))
        self.plain = np.empty_like(self.out)
        self.rows = np.eye(4, dtype=np.int8)

    def batch(self):
        """All at once, by the kernel."""
        self.conversion.convert_into(self.points, self.out)

    def one_by_one(self):
        """Agent by agent, by NumPy: gymnasium's ``flatten`` would be slower still."""
        windows, orientations = self.points["window"], self.points["orientation"]
        for b in range(WORLDS):
            for i in range(AGENTS):
                row = self.rows[orientations[b, i] - 1]
                self.plain[b, i] = np.concatenate([row, windows[b, i].reshape(-1)])


def _random_points(space):
    rng = np.random.default_rng(0)
    lead = WORLDS, AGENTS
    return {
        key: (
            rng.integers(part.start, part.start + part.n, lead)
            if isinstance(part, Discrete)
            else rng.integers(part.low, part.high + 1, (*lead, *part.shape))
        ).astype(part.dtype)
        for key, part in space.items()
    }
