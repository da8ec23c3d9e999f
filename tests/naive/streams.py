"""The random stream of a world: xoshiro256++ on Python integers, and the draws made of it."""

import numpy as np

MASK64 = 2**64 - 1
MASK32 = 2**32 - 1


def rotate_left(value, count):
    """Rotate a 64-bit word."""
    return ((value << count) | (value >> (64 - count))) & MASK64


class Stream:
    """One xoshiro256++ stream (Blackman and Vigna, "Scrambled linear pseudorandom generators").

    Args:
        words: the state, four ints of 64 bits, not all zero.
    """

    def __init__(self, words):
        self.words = [int(word) for word in words]
        if len(self.words) != 4 or not any(self.words):
            raise ValueError(f"words are {self.words}: give four words that are not all zero")

    def next_u64(self):
        """The next 64 random bits."""
        s0, s1, s2, s3 = self.words
        result = (rotate_left((s0 + s3) & MASK64, 23) + s0) & MASK64
        shifted = (s1 << 17) & MASK64
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= shifted
        s3 = rotate_left(s3, 45)
        self.words = [s0, s1, s2, s3]
        return result

    def next_u32(self):
        """The upper half of the next 64 bits."""
        return self.next_u64() >> 32

    def uniform(self):
        """A float in [0, 1) with 53 random bits."""
        return (self.next_u64() >> 11) * 2.0**-53

    def below(self, n):
        """An int in 0..n-1 without bias (Lemire); nothing is drawn when there is no choice."""
        if n <= 1:
            return 0
        product = self.next_u32() * n
        low = product & MASK32
        if low < n:
            threshold = (2**32 - n) % n
            while low < threshold:
                product = self.next_u32() * n
                low = product & MASK32
        return product >> 32

    def shuffle(self, items):
        """Shuffle a list in place, from its end to its front."""
        for k in range(len(items) - 1, 0, -1):
            j = self.below(k + 1)
            items[k], items[j] = items[j], items[k]

    def choose(self, items, k):
        """``k`` different entries of ``items`` in the order of choice; all of them need no draw."""
        pool = list(items)
        if k >= len(pool):
            return pool
        for m in range(k):
            j = m + self.below(len(pool) - m)
            pool[m], pool[j] = pool[j], pool[m]
        return pool[:k]


def streams(seed, world):
    """The streams (dynamics, observation, sampling) of one world of a seed."""
    words = np.random.SeedSequence(seed, spawn_key=(world,)).generate_state(12, np.uint64)
    words = [int(word) for word in words]
    return Stream(words[0:4]), Stream(words[4:8]), Stream(words[8:12])
