"""Actors that move agents."""

from collections.abc import Hashable
from typing import Any

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box, Discrete

from abmarl.gridworld.actor.base import ActorBase
from abmarl.gridworld.agent import GridWorldAgent, MovingAgent, OrientationAgent
from abmarl.gridworld.registry import register
from abmarl.kernels.move import drift_agents, move_agents, possible_moves
from abmarl.kernels.program import Call
from abmarl.kernels.turns import Turns


class _Mover(ActorBase):
    """Moves agents to cells that are on the grid and available; only the target cell counts.

    Attributes:
        outcome: int8 [B, N]: 1 success, 0 failure, -1 no move.
    """

    key = "move"
    needs_positions = True
    supported_agent_type = MovingAgent
    events = ("move_failed",)
    cross = False

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.outcome = np.full((self.store.num_worlds, self.store.num_agents), -1, np.int8)

    def calls(self, turns: Turns) -> list[Call]:
        world = self.store.world
        return [Call(move_agents, world, turns, self.cross, self.weights, self.outcome)]

    def event(self, name: str) -> np.ndarray:
        return self.outcome == 0 if name == "move_failed" else super().event(name)

    def result(self, agent: MovingAgent, outcome: Any) -> Any:
        return outcome.item(agent._slot) == 1

    def mask_shape(self, slot: int) -> tuple[int, ...]:
        """Return the shape of an agent's action mask."""
        return (5,)

    def masks(self, flat: np.ndarray, slots: np.ndarray, rows_of: np.ndarray) -> None:
        """Write which moves would succeed now to ``flat``, for the agents in ``slots``."""
        self.run_masks(possible_moves, flat, slots, rows_of, self.cross)


@register
class MoveActor(_Mover):
    """Moves agents by up to their ``move_range`` in both directions.

    Channel ``move``: ``Box(-move_range, move_range, (2,), int)``, rows and columns; null [0, 0].
    ``process_action`` returns True when the target cell was in bounds and available (staying
    always is), False without a change otherwise, and None for agents that do not move. Event:
    ``move_failed``. Action masks have shape (2 m + 1, 2 m + 1).
    """

    def parameters(self, agent: MovingAgent) -> Hashable:
        return agent.move_range

    def space(self, agent: MovingAgent) -> Space:
        return Box(-agent.move_range, agent.move_range, (2,), np.int_)

    def null(self, agent: MovingAgent) -> Any:
        return np.zeros(2, int)

    def mask_shape(self, slot: int) -> tuple[int, ...]:
        side = 2 * int(self.store.traits["move_range"][slot]) + 1
        return (side, side)


@register
class CrossMoveActor(_Mover):
    """Moves agents by one cell in one of four directions, whatever their ``move_range``.

    Channel ``move``: ``Discrete(5)``: 0 stay, 1 left, 2 down, 3 right, 4 up; null 0. Results and
    event as for ``MoveActor``; action masks have shape (5,).
    """

    cross = True

    def parameters(self, agent: MovingAgent) -> Hashable:
        return ()

    def space(self, agent: MovingAgent) -> Space:
        return Discrete(5)

    def null(self, agent: MovingAgent) -> Any:
        return 0


@register
class DriftMoveActor(CrossMoveActor):
    """Moves agents that have an orientation, and lets them drift along it.

    Channel ``move``: ``Discrete(5)``: 0 drift, 1 left, 2 down, 3 right, 4 up; null 0. An agent that
    can move the way it wants does so and turns that way. Any other drifts one cell along its
    orientation, if that cell is available. ``process_action`` returns whether the agent has moved
    one way or the other, and None for agents that do not move or have no orientation. Event:
    ``move_failed``. Action masks say which ways the agent can move and turn now.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._orientation = self.store.require("orientation", np.int8)

    def supports(self, agent: GridWorldAgent) -> bool:
        return isinstance(agent, MovingAgent) and isinstance(agent, OrientationAgent)

    def calls(self, turns: Turns) -> list[Call]:
        looks = self._orientation
        return [Call(drift_agents, self.store.world, turns, looks, self.weights, self.outcome)]
