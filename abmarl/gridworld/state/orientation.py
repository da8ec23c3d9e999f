"""The state component of orientation."""

import numpy as np

from abmarl.gridworld.agent import OrientationAgent
from abmarl.gridworld.state.base import StateBase
from abmarl.kernels.placement import reset_orientation
from abmarl.kernels.program import Call


class OrientationState(StateBase):
    """Gives every agent its initial orientation, or a random one where it has none."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        store = self.store
        self._orientation = store.require("orientation", np.int8)
        self._turning = np.zeros(store.num_agents, bool)
        for agent in self.agents.values():
            self._turning[store.index[agent.id]] = isinstance(agent, OrientationAgent)

    def calls(self, worlds) -> list:
        """Sets ``store.orientation``, int8 [B, N], of the agents that have one."""
        store = self.store
        reset = Call(
            reset_orientation, worlds, self._turning, store.traits, store.streams,
            self._orientation,
        )  # fmt: skip
        return [reset]
