"""MultiCorridor: agents walk along a corridor to its end without bumping into one another.

The rules are those of the tutorial in Abmarl's manual.
"""

from enum import IntEnum
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiBinary

from abmarl.examples.sim.base import PlainSimulation, check_int
from abmarl.sim.agents import Agent


class MultiCorridor(PlainSimulation):
    """Agents start on different cells of a corridor and are done at its last one.

    Rewards of an agent: -1 for a step or for staying, -5 for a move against the left wall or
    another agent, which gets -2 for it, and ``end ** 2`` for reaching the end. Agents at the end
    are in nobody's way.

    Observations: ``position``, int [1], and ``left`` and ``right``, int8 [1], which are 1 when
    somebody is on the cell there.

    Args:
        end: how many cells the corridor has, 2 or more.
        num_agents: how many agents, from 1 to one less than there are cells.

    Attributes:
        corridor: object array [end], the agent on each cell or None.
        reward: rewards gathered since they were read, by agent id.

    Raises:
        TypeError: a number is not an int.
        ValueError: a number is out of its range.
    """

    class Actions(IntEnum):
        """What an agent can do."""

        LEFT = 0
        STAY = 1
        RIGHT = 2

    def __init__(self, end: int = 10, num_agents: int = 5) -> None:
        check_int("end", end, 2)
        check_int("num_agents", num_agents, 1)
        if num_agents > end - 1:
            raise ValueError(
                f"{num_agents} agents do not fit into a corridor of {end} cells, whose last one is "
                f"free at first; num_agents may be up to {end - 1}"
            )
        self.end = int(end)
        self.agents = {
            f"agent{i}": Agent(
                id=f"agent{i}",
                action_space=Discrete(3),
                observation_space={
                    "position": Box(0, self.end - 1, (1,), np.int64),
                    "left": MultiBinary(1),
                    "right": MultiBinary(1),
                },
                null_action=int(self.Actions.STAY),
                null_observation={
                    "position": np.zeros(1, int),
                    "left": np.zeros(1, np.int8),
                    "right": np.zeros(1, np.int8),
                },
            )
            for i in range(num_agents)
        }
        self.finalize()

    def reset(self, seed: Any = None, **kwargs: Any) -> None:
        """Put every agent on a random cell of its own, not on the last one.

        Args:
            seed: int or (seed, world); None goes on with the random stream.
            **kwargs: ignored.
        """
        self.reseed(seed)
        cells = self.rng.permutation(self.end - 1)
        self.corridor = np.full(self.end, None, dtype=object)
        for agent, cell in zip(self.agents.values(), cells.tolist(), strict=False):
            agent.position = cell
            self.corridor[cell] = agent
        self.reward = dict.fromkeys(self.agents, 0)

    def step(self, action_dict: dict[str, int], **kwargs: Any) -> None:
        """Let agents move one after the other, in the order of the dict.

        Args:
            action_dict: one of `Actions` by agent id.
            **kwargs: ignored.

        Raises:
            ValueError: an action is none, or comes from an agent that is unknown or done. Nothing
                has changed then.
        """
        self.check_actions(action_dict)
        for agent_id, action in action_dict.items():
            if action == self.Actions.STAY:
                self.reward[agent_id] -= 1
            else:
                self._move(self.agents[agent_id], -1 if action == self.Actions.LEFT else 1)

    def get_obs(self, agent_id: str, **kwargs: Any) -> dict[str, np.ndarray]:
        """Return the agent's position and whether somebody is beside it."""
        cell = self.agents[agent_id].position
        left = cell > 0 and self.corridor[cell - 1] is not None
        right = cell < self.end - 1 and self.corridor[cell + 1] is not None
        return {
            "position": np.array([cell]),
            "left": np.array([left], np.int8),
            "right": np.array([right], np.int8),
        }

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Return whether the agent is at the end."""
        return self.agents[agent_id].position == self.end - 1

    def get_all_done(self, **kwargs: Any) -> bool:
        """Return whether all agents are at the end."""
        return all(map(self.get_done, self.agents))

    def draw(self, axes: Any) -> None:
        """Draw the corridor and its agents."""
        axes.set(xlim=(-0.5, self.end - 0.5), ylim=(-0.5, 0.5), yticks=[])
        axes.set_xticks(np.arange(self.end + 1) - 0.5, labels=[])
        axes.grid(axis="x")
        cells = [agent.position for agent in self.agents.values()]
        axes.scatter(cells, np.zeros(len(cells)), marker="s", s=200, color="green")

    def _move(self, agent: Any, direction: int) -> None:
        cell = agent.position + direction
        if cell < 0:
            self.reward[agent.id] -= 5
            return
        other = self.corridor[cell]
        if other is not None:
            self.reward[agent.id] -= 5
            self.reward[other.id] -= 2
            return
        self.corridor[agent.position] = None
        agent.position = cell
        if cell == self.end - 1:
            self.reward[agent.id] += self.end**2
        else:
            self.corridor[cell] = agent
            self.reward[agent.id] -= 1
