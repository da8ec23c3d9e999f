"""Done components that look at who is alive."""

import numpy as np

from abmarl.gridworld.done.base import DoneBase
from abmarl.kernels.done import none_active, one_team_left


class ActiveDone(DoneBase):
    """An agent is done when it is inactive, the world when every agent is."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._over = np.zeros(self.store.num_worlds, bool)

    def all_done(self):
        """bool [B]: nobody is active."""
        none_active(self.store.active, self._over)
        return self._over


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

    def all_done(self):
        """bool [B]: the active agents that count are of one team, or none is left."""
        one_team_left(self.store.active, self.store.teams(), self._counted, self._over)
        return self._over
