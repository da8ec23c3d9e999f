"""The seeds that worlds get where RLlib would give them the same one again."""

import numpy as np
import ray


class FirstSeed:
    """Which seed an environment is to reset its simulation with.

    Without a seed, the first episode gets one of its own: a simulation that was made once and
    copied to several env runners would else do the same in all of them. A seed that comes again is
    left out: RLlib gives it before every sample of whole episodes, which would all start alike.
    """

    def __init__(self) -> None:
        self._last: int | None = None
        self._begun = False

    def __call__(self, seed: int | None) -> int | None:
        """The seed for a reset that was asked for with `seed`; None goes on."""
        begun, self._begun = self._begun, True
        if seed is None:
            return None if begun else int(np.random.SeedSequence().generate_state(1)[0])
        if begun and seed == self._last:
            return None
        self._last = seed
        return seed


def seed_of_worlds(seed: int | None, made: int) -> int | None:
    """The seed of the worlds that an env runner makes.

    Args:
        seed: of the env runner; None: a fresh one each time.
        made: how often it has made worlds before. After a failure they go on with another seed.

    Returns:
        The seed; None for a fresh one, as an env runner gets in the place of one that was killed.
    """
    if seed is None or _restarted():
        return None
    if not made:
        return seed
    return int(np.random.SeedSequence(seed, spawn_key=(made,)).generate_state(1)[0])


def _restarted() -> bool:
    """Whether this process plays the part of an actor of Ray that was killed."""
    if not ray.is_initialized():
        return False
    context = ray.get_runtime_context()
    return context.get_actor_id() is not None and bool(context.was_current_actor_reconstructed)
