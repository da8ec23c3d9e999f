"""Two times taken in turns, so that whatever else the machine does meets both alike."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


def _nothing():
    pass


@dataclass
class Contest:
    """Two ways to do the same.

    Attributes:
        ours, reference: Do it once. What they return, where it is not None, is how much was done:
            times are taken per unit of it.
        before_ours, before_reference: Called before, untimed.
    """

    ours: Callable
    reference: Callable
    before_ours: Callable = _nothing
    before_reference: Callable = _nothing

    def ratio(self, seconds=0.4, batches=3) -> float:
        """How many times faster ours is.

        Args:
            seconds: How long a batch takes.
            batches: A batch has one median for each side; the best medians are compared.
        """
        self._once()
        medians = [self._medians(seconds) for _ in range(batches)]
        ours, reference = (min(side) for side in zip(*medians, strict=True))
        return reference / ours

    def _once(self):
        return _timed(self.before_ours, self.ours), _timed(self.before_reference, self.reference)

    def _medians(self, seconds):
        found = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(found) < 5:
            found.append(self._once())
        return [statistics.median(side) for side in zip(*found, strict=True)]


def _timed(before, call):
    before()
    start = time.perf_counter()
    units = call()
    elapsed = time.perf_counter() - start
    # Arrays and the like are results, not amounts.
    return elapsed / units if isinstance(units, int | float) and units else elapsed
