"""Actions as one number: ravelled segments laid end to end that share the number 0."""

import itertools
import math


def points(segments):
    """All points in the order of their numbers.

    Args:
        segments: per segment the ``(low, high)`` of its entries.

    Returns:
        Lists of entries; point 0 has every entry at its lowest, and every other one has one
        segment that is not.
    """
    rest = [low for segment in segments for low, _ in segment]
    found, start = [rest], 0
    for segment in segments:
        ranges = [range(low, high + 1) for low, high in segment]
        for entries in itertools.islice(itertools.product(*ranges), 1, None):
            point = list(rest)
            point[start : start + len(segment)] = entries
            found.append(point)
        start += len(segment)
    assert len(found) == 1 + sum(
        math.prod(high - low + 1 for low, high in segment) - 1 for segment in segments
    )
    return found
