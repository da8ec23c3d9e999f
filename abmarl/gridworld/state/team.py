"""The state component of teams."""

import numpy as np

from abmarl.gridworld.state.base import StateBase
from abmarl.kernels.episode import fill_worlds
from abmarl.kernels.program import Call


class TeamState(StateBase):
    """Puts every agent into its initial team; agents without one are in that of their encoding.

    With it, teams are variables: ``store.team`` int32 [B, N], which a simulation may change.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._team = self.store.require("team", np.int32)
        self._team[:] = self.store.initial_teams

    def calls(self, worlds) -> list:
        """Sets the teams."""
        return [Call(fill_worlds, worlds, self._team, self.store.initial_teams)]
