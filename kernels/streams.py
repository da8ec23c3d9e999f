"""Random streams: one xoshiro256++ generator per world and purpose, as four 64-bit words.

Source: D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators", 2021.
Bounded integers: D. Lemire, "Fast random integer generation in an interval", 2019.

A draw is made only where it decides something: among one there is nothing to choose.
"""

import numpy as np

from abmarl.kernels.compile import kernel, rule

_SCALE = 2.0**-53


@rule
def next_word(streams, b):
    """Return the next 64 random bits of world ``b``; ``streams`` is uint64 [B, 4]."""
    s0, s1, s2, s3 = streams[b, 0], streams[b, 1], streams[b, 2], streams[b, 3]
    total = s0 + s3
    word = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
    shifted = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    streams[b, 1] = s1 ^ s2
    streams[b, 0] = s0 ^ s3
    streams[b, 2] = s2 ^ shifted
    streams[b, 3] = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    return word


@rule
def uniform(streams, b):
    """Return a float64 in [0, 1) with 53 random bits."""
    return np.float64(next_word(streams, b) >> np.uint64(11)) * _SCALE


@rule
def below(streams, b, n):
    """Return an integer in 0..n-1, without bias; n < 2**32. No draw is made for n <= 1."""
    if n <= 1:
        return np.int64(0)
    size = np.uint64(n)
    low_bits = np.uint64(0xFFFFFFFF)
    product = (next_word(streams, b) >> np.uint64(32)) * size
    if product & low_bits < size:
        threshold = (np.uint64(1 << 32) - size) % size
        while product & low_bits < threshold:
            product = (next_word(streams, b) >> np.uint64(32)) * size
    return np.int64(product >> np.uint64(32))


@rule
def shuffle(streams, b, items, count):
    """Shuffle ``items[b, :count]`` (Fisher and Yates, from the end)."""
    for k in range(count - 1, 0, -1):
        j = below(streams, b, k + 1)
        items[b, k], items[b, j] = items[b, j], items[b, k]


@rule
def choose(streams, b, items, count, wanted):
    """Move a random choice of ``wanted`` of ``items[b, :count]`` to the front; return how many.

    When all of them are wanted they stay in order and nothing is drawn.
    """
    if wanted >= count:
        return count
    for k in range(wanted):
        j = k + below(streams, b, count - k)
        items[b, k], items[b, j] = items[b, j], items[b, k]
    return wanted


@kernel
def draw_samples(streams, slots, rows_of, form_of, low, high, widths, out):
    """Fill ``out`` with uniform integers, world by world, agent by agent, entry by entry.

    Agent i of world b has ``widths[f]`` entries, ``f = form_of[i]``, from ``rows_of[i, 0] + b *
    rows_of[i, 1]`` on in the flat array ``out``; entry k is in ``low[f, k]..high[f, k]``.
    """
    for b in range(streams.shape[0]):
        for s in range(slots.shape[0]):
            i = slots[s]
            f = form_of[i]
            at = rows_of[i, 0] + b * rows_of[i, 1]
            for k in range(widths[f]):
                out[at + k] = low[f, k] + below(streams, b, high[f, k] - low[f, k] + 1)
