"""Seeds: from a number that a user gives to the random streams of a world."""

from typing import Any

import numpy as np


def fresh_seed() -> int:
    """Return a seed from the system's entropy."""
    entropy: Any = np.random.SeedSequence().entropy
    return int(entropy % 2**63)


def parse_seed(seed: int | tuple | None) -> tuple:
    """``seed`` as (seed, world): an int s stands for (s, 0).

    Raises:
        TypeError, ValueError: It is not an int >= 0 or a pair of them.
    """
    pair = seed if isinstance(seed, tuple) else (seed, 0)
    for value in pair:
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise TypeError(f"seed must be an int or a pair (seed, world), got {seed!r}.")
    if len(pair) != 2 or min(pair) < 0:
        raise ValueError(f"seed must be an int >= 0 or a pair (seed, world), got {seed!r}.")
    return int(pair[0]), int(pair[1])


def world_streams(seed: int, world: int) -> np.ndarray:
    """Return uint64 [3, 4]: the states of the three random streams of one world of a seed."""
    sequence = np.random.SeedSequence(seed, spawn_key=(world,))
    return sequence.generate_state(12, np.uint64).reshape(3, 4)


def seed_words(seed: int) -> np.ndarray:
    """Return uint64: a seed of any size as an array, the lowest word first."""
    size = max(1, -(-seed.bit_length() // 64))
    return np.frombuffer(seed.to_bytes(8 * size, "little"), "<u8").astype(np.uint64)


def seed_of(words: Any) -> int:
    """Return the seed that ``seed_words`` made an array of.

    Raises:
        ValueError: It is no such array.
    """
    words = np.asarray(words)
    if words.dtype != np.uint64 or words.ndim != 1 or not len(words):
        raise ValueError("The saved state is of another simulation: it has no seed.")
    return int.from_bytes(words.astype("<u8").tobytes(), "little")


def seed_of_worlds(seed: int | tuple | None) -> int:
    """Return the seed of the worlds of a vectorised simulation, as given or, for None, a fresh one.

    Raises:
        TypeError, ValueError: It is not an int >= 0.
    """
    if seed is None:
        return fresh_seed()
    if isinstance(seed, tuple):
        raise TypeError("A vectorised simulation takes an int seed; its worlds are numbered.")
    return parse_seed(seed)[0]
