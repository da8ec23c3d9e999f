"""How much memory many worlds take."""

from abmarl.gridworld.memory import available_memory, readable_bytes

# Per agent and world: who is alive, what was earned, how it ended (see ``Episodes``).
_EPISODE_BYTES = 26


def bytes_per_world(sim) -> int:
    """What one world of a vectorised simulation takes, with its actions and observations."""
    size = sum(array.nbytes for array in sim.store.state().values())
    size += sum(2 * part.num_entries * part.dtype.itemsize for part in sim.observers)
    size += sum(part.num_entries * part.dtype.itemsize for part in sim.actors.values())
    return size + _EPISODE_BYTES * sim.store.num_agents


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
