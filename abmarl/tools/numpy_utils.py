"""Arrays among arrays."""

from collections.abc import Iterable

import numpy as np

__all__ = ["array_in_array"]


def array_in_array(array: np.ndarray, arrays: Iterable[np.ndarray]) -> bool:
    """Return whether some array of `arrays` has the shape and the entries of `array`."""
    return any(np.array_equal(array, one) for one in arrays)
