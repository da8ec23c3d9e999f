"""The seeds that RLlib's own env runner gives to single worlds, put right."""

import numpy as np


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
