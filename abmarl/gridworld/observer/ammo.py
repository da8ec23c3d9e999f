"""The observer of ammo."""

import numpy as np
from gymnasium.spaces import Discrete

from abmarl.gridworld.agent import AmmoAgent
from abmarl.gridworld.observer.remembering import RememberingObserver
from abmarl.kernels.grids import show_counts
from abmarl.kernels.program import Call
from abmarl.sim.agents import ObservingAgent


class AmmoObserver(RememberingObserver):
    """Shows the agent how much ammo it has.

    Channel ``ammo``, for observing agents that are an ``AmmoAgent``:
    ``Discrete(initial_ammo + 1)``; null 0. More than the initial ammo is shown as that much.
    """

    key = "ammo"
    supported_agent_type = AmmoAgent

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._most = np.zeros(self.store.num_agents, np.int64)
        for slot in self._viewers:
            self._most[slot] = self.form(slot).high[0]
        has_any = len(self._viewers) > 0
        self._ammo = self.store.ammo if has_any else np.zeros((self.store.num_worlds, 0), np.int32)

    def supports(self, agent):
        """Whether an agent has this channel."""
        return super().supports(agent) and isinstance(agent, ObservingAgent)

    def parameters(self, agent):
        """The initial ammo decides the space."""
        return agent.initial_ammo

    def space(self, agent):
        """How much ammo there can be."""
        return Discrete(max(0, agent.initial_ammo) + 1)

    def null(self, agent):
        """No ammo."""
        return 0

    def calls(self, worlds, flat, rows_of, final) -> list:
        """See ``ObserverBase.write``."""
        store = self.store
        write = Call(
            show_counts, worlds, self._viewers, rows_of, final, self._ammo, self._most,
            store.active, self._shown, self._due, flat,
        )  # fmt: skip
        return [write]
