"""Saving and loading everything that the worlds of a vectorised simulation are."""

from abmarl.gridworld.saving import check_arrays, check_worlds, without_signature
from abmarl.gridworld.seeding import seed_of, seed_words

_PARAMETERS = ("num_envs", "seed", "horizon", "num_threads", "order", "autoreset", "copy")


class Savable:
    """The part of a vectorised simulation that saves, loads and copies it.

    Attributes:
        loads: how many states were loaded, for those who watch the worlds from step to step.
    """

    loads = 0

    def state_dict(self) -> dict:
        """A copy of everything that the worlds are: arrays, episodes, random streams, outputs."""
        state = {name: array.copy() for name, array in self._arrays().items()}
        return {"signature": self.store.signature, "seed": seed_words(self.seed), **state}

    def load_state_dict(self, state):
        """Goes back to what ``state_dict`` returned, of this or an equal vectorised simulation.

        Raises:
            ValueError: It is of a different simulation, or damaged; nothing has changed.
        """
        saved = without_signature(state, self.store)
        seed = seed_of(saved.pop("seed", None))
        check_arrays(self._arrays(), saved)
        check_worlds(self.store, saved)
        self.seed = seed
        self._go_back(saved)
        self.started = True
        self.loads += 1

    def _go_back(self, saved):
        """Loads a state that is known to be right."""
        for name, array in self._arrays().items():
            array[...] = saved[name]
        self._touch()

    def _keep(self, worlds):
        """What some worlds are, for ``_put_back``; all of them where foreign code may reach them.

        A reset of few worlds is cheap that way: what it cannot change is not copied.
        """
        if self._guarded or len(worlds) == self.num_envs:
            return [(array, ..., array.copy()) for array in self._arrays().values()]
        arrays = [*self.store.state().values(), *self.episodes.arrays().values()]
        arrays += self.channels.observed_blocks()
        return [(array, worlds, array.take(worlds, axis=0)) for array in arrays]

    def _put_back(self, kept):
        """Undoes what has happened since ``_keep``."""
        for array, worlds, saved in kept:
            array[worlds] = saved
        self._touch()

    def _touch(self):
        for store in (self.store, *(shard.store for shard in self._shards)):
            store.touch()

    def _arrays(self):
        arrays = dict(self.store.state())
        arrays.update({f"episodes.{k}": array for k, array in self.episodes.arrays().items()})
        for key, (flat, final, _) in self.channels.observations.items():
            arrays[f"obs.{key}"], arrays[f"final_obs.{key}"] = flat, final
        return arrays

    def __reduce__(self):
        # Arrays are shared with the shards: a copy is built anew and gets the state.
        parameters = {name: getattr(self, name) for name in _PARAMETERS}
        return _rebuild, (type(self), self.sim, parameters, self.state_dict(), self.started)


def _rebuild(kind, sim, parameters, state, started):
    vec = kind(sim, **parameters)
    vec.load_state_dict(state)
    vec.started = started
    return vec
