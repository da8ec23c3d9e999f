"""Done components that look at who is alive."""

import numpy as np

from abmarl.gridworld.done.base import DoneBase
from abmarl.kernels.done import none_active, not_active, one_team_left
from abmarl.kernels.program import Call


class ActiveDone(DoneBase):
    """An agent is done when it is inactive, the world when every agent is."""

    def calls(self) -> list:
        """Who is not active, and where nobody is."""
        active = self.store.active
        return [
            Call(not_active, active, self.agents_done),
            Call(none_active, active, self.worlds_done),
        ]


class OneTeamRemainingDone(ActiveDone):
    """An agent is done when it is inactive, the world when the active ones are of one team.

    Every active agent counts, walls and resources included.

    Args:
        ignore_encodings: Encodings of agents that do not count.
    """

    def __init__(self, ignore_encodings=None, **kwargs):
        super().__init__(**kwargs)
        ignored = set() if ignore_encodings is None else ignore_encodings
        if isinstance(ignored, int | np.integer):
            ignored = {ignored}
        if not isinstance(ignored, set | frozenset | list | tuple):
            raise TypeError(f"ignore_encodings must be a set of encodings, got {ignored!r}.")
        for encoding in ignored:
            if isinstance(encoding, bool) or not isinstance(encoding, int | np.integer):
                raise TypeError(f"ignore_encodings must hold encodings, ints, got {encoding!r}.")
        self.ignore_encodings = set(ignored)
        self._counted = ~np.isin(self.store.traits["encoding"], list(self.ignore_encodings))

    def calls(self) -> list:
        """Who is not active, and where the active ones that count are of one team, or none."""
        active = self.store.active
        return [
            Call(not_active, active, self.agents_done),
            Call(one_team_left, active, self.store.teams(), self._counted, self.worlds_done),
        ]
