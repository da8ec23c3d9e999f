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
        ours, reference: Do it once. What they return, where it is a number above 0, is how much
            was done: times are taken per unit of it.
        before_ours, before_reference: Called before, untimed.
        control: Two more calls of the same kind that tell what the machine has to give just now;
            the ratio is divided by theirs.
    """

    ours: Callable
    reference: Callable
    before_ours: Callable = _nothing
    before_reference: Callable = _nothing
    control: tuple = ()

    def ratio(self, seconds=0.4, batches=3) -> float:
        """How many times faster ours is.

        Args:
            seconds: How long a batch takes.
            batches: A batch has one median for every call; the best medians are compared.
        """
        self.once()
        medians = [self.medians(seconds) for _ in range(batches)]
        ours, reference, *control = (min(side) for side in zip(*medians, strict=True))
        return reference / ours / (control[1] / control[0] if control else 1.0)

    def once(self) -> list:
        """Seconds per unit of every call, made once each."""
        return [
            _timed(self.before_ours, self.ours),
            _timed(self.before_reference, self.reference),
            *(_timed(_nothing, call) for call in self.control),
        ]

    def medians(self, seconds) -> list:
        """Return the same, medians of as many turns as fit in the time, five at least."""
        found = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(found) < 5:
            found.append(self.once())
        return [statistics.median(side) for side in zip(*found, strict=True)]


def _timed(before, call):
    before()
    start = time.perf_counter()
    units = call()
    elapsed = time.perf_counter() - start
    # Arrays and the like are results, not amounts.
    return elapsed / units if isinstance(units, int | float) and units else elapsed
