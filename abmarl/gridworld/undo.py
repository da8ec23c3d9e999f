"""What is wrapped around the ``reset`` and ``step`` of a simulation, a user's own included."""

import functools

import numpy as np

from abmarl.gridworld.seeding import parse_seed


def seeding(reset):
    """Wraps ``reset`` so that its outermost call starts the random streams of the seed.

    It also begins the episode for the store, and leaves everything as before when it fails.
    """

    @functools.wraps(reset)
    def wrapped(self, *args, seed=None, **kwargs):
        if seed is not None:
            kwargs["seed"] = seed
        if self._resetting:
            return reset(self, *args, **kwargs)
        entropy, world = (None, 0) if seed is None else parse_seed(seed)
        before = self._snapshot()
        self._resetting = True
        try:
            if seed is not None:
                self.store.seed(entropy, first_world=world)
            store = self.store
            resting = np.flatnonzero(store.traits["blocking"] & ~store.active[0])
            store.begin()
            found = reset(self, *args, **kwargs)
            for slot in resting.tolist():  # who was not placed anew hides things again
                store.update_wall(slot)
            return found
        except BaseException:
            self._restore(before)
            raise
        finally:
            self._resetting = False

    return wrapped


def undoing(step):
    """Wraps ``step`` so that it leaves everything as before when it fails."""

    @functools.wraps(step)
    def wrapped(self, *args, **kwargs):
        if self._stepping or not self.runs_foreign_code:
            return step(self, *args, **kwargs)
        before = self._snapshot()
        self._stepping = True
        try:
            return step(self, *args, **kwargs)
        except BaseException:
            self._restore(before)
            raise
        finally:
            self._stepping = False

    return wrapped
