"""What predators and prey see: the cells around them, or where the others are."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box


class GridObservation:
    """The cells around an agent."""

    @staticmethod
    def spaces(sim: Any, agent: Any) -> tuple[dict[str, Box], dict[str, np.ndarray]]:
        """The agent's observation space and its null observation, by channel."""
        side = (2 * agent.view + 1,) * 2
        spaces = {"agents": Box(-1, 2, side, int)}
        return _with_resources(sim, agent, spaces)

    @staticmethod
    def observe(sim: Any, agent: Any) -> dict[str, np.ndarray]:
        """What the agent sees."""
        values = np.zeros((sim.region, sim.region), int)
        for other in sim.agents.values():
            if other is not agent and other.active:
                cell = tuple(other.position)
                values[cell] = max(values[cell], other.value)
        return _seen_resources(sim, agent, {"agents": _window(values, agent)})


class DistanceObservation:
    """Where the others are, relative to an agent."""

    @staticmethod
    def spaces(sim: Any, agent: Any) -> tuple[dict[str, Box], dict[str, np.ndarray]]:
        """The agent's observation space and its null observation, by channel."""
        highest = np.tile([agent.view, agent.view, 2], (len(sim.agents) - 1, 1))
        lowest = highest * np.array([-1, -1, 0])
        spaces = {
            "position": Box(0, sim.region - 1, (2,), int),
            "others": Box(lowest, highest, dtype=int),
        }
        return _with_resources(sim, agent, spaces)

    @staticmethod
    def observe(sim: Any, agent: Any) -> dict[str, np.ndarray]:
        """What the agent sees."""
        others = [other for other in sim.agents.values() if other is not agent]
        seen = np.zeros((len(others), 3), int)
        for row, other in enumerate(others):
            offset = other.position - agent.position
            if other.active and np.abs(offset).max() <= agent.view:
                seen[row] = *offset, other.value
        found = {"position": agent.position.astype(int), "others": seen}
        return _seen_resources(sim, agent, found)


OBSERVATIONS = {"grid": GridObservation, "distance": DistanceObservation}


def _with_resources(sim: Any, agent: Any, spaces: dict) -> tuple[dict, dict]:
    if hasattr(agent, "harvest_amount"):
        side = (2 * agent.view + 1,) * 2
        spaces["resources"] = Box(-1, sim.max_resource, side, float)
    return spaces, {key: np.zeros(space.shape, space.dtype) for key, space in spaces.items()}


def _seen_resources(sim: Any, agent: Any, found: dict) -> dict[str, np.ndarray]:
    if hasattr(agent, "harvest_amount"):
        found["resources"] = _window(sim.resources, agent)
    return found


def _window(values: np.ndarray, agent: Any) -> np.ndarray:
    """The cells around an agent, -1 outside of the region."""
    view = agent.view
    padded = np.pad(values, view, constant_values=-1)
    row, col = agent.position
    return padded[row : row + 2 * view + 1, col : col + 2 * view + 1].copy()
