"""How many worlds there can be, and how much memory they take."""

import numpy as np

from abmarl.gridworld.actions import Actions
from abmarl.gridworld.memory import available_memory, readable_bytes
from abmarl.gridworld.vector.episodes import Episodes


def bytes_per_world(sim) -> int:
    """What one world of a vectorised simulation takes, with its actions and observations."""
    store = sim.store
    kept = sum(array.nbytes for array in store.state().values())
    kept += sum(array.nbytes for array in Episodes(1, store.num_agents).arrays().values())
    # Each twice: observations run and are final, actions are received and sampled.
    kept += 2 * _entries(sim.observers)
    actors = [layer for actor in sim.actors.values() for layer in actor.layers]
    size = kept + 2 * _entries(actors)
    turns = Actions(store, {})
    size += turns.turns.nbytes + turns.num_turns.nbytes
    for part in (*sim.states, *actors, *sim.observers, *sim.dones):
        size += _scratch(part)
    # A reset, and a step that may fail, is made with a copy of the state at hand.
    return size + kept


def _entries(channels) -> int:
    return sum(part.num_entries * part.dtype.itemsize for part in channels)


def _scratch(part) -> int:
    """Bytes of the arrays [B, N, ...] that a component has beside the store."""
    store = part.store
    own = {id(array) for array in store.state().values()}
    found = []
    for value in vars(part).values():
        found.extend(value if isinstance(value, tuple) else (value,))
    return sum(
        one.nbytes
        for one in found
        if isinstance(one, np.ndarray)
        and one.ndim > 1
        and len(one) == store.num_worlds
        and id(one) not in own
    )


def check_memory(sim, num_envs: int):
    """Refuses what does not fit before anything is allocated, which the system may not do.

    Raises:
        MemoryError: So many worlds of this simulation do not fit.
    """
    one, available = bytes_per_world(sim), available_memory()
    if available is not None and one * num_envs > available:
        raise MemoryError(
            f"{num_envs} worlds need {readable_bytes(one * num_envs)} of memory, "
            f"{readable_bytes(available)} are available; "
            f"num_envs up to {available // one} would fit."
        )


def positive(name, value) -> int:
    """A number of worlds or steps as an int.

    Raises:
        TypeError, ValueError: It is not an int above 0.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be an int, got {value!r}.")
    if value < 1:
        raise ValueError(f"{name} must be 1 or more, got {value}.")
    return int(value)
