"""Points of spaces as rows of numbers: ravelled to one number, or flattened with one-hot blocks.

A row holds the entries of a point one after the other; ``low`` and ``high`` are their bounds, both
inclusive. Ravelling is mixed radix: entry k counts ``weight[k]``, the product of the sizes of all
entries behind it, so the last entry changes fastest, as ``numpy.ravel_multi_index`` has it.

Flattening goes block by block. A row of ``blocks`` int64 [N, 5] is (first entry, number of entries,
first flat entry, size, shift). With size 0 the entries are copied, less the shift; otherwise the
one entry of the block becomes that many, all 0 but number ``entry - shift``, which is 1.
"""

import numpy as np

from abmarl.kernels.compile import kernel


@kernel
def ravel_rows(values, low, high, weight, out):
    """Adds the numbers of the points ``values[M, K]`` to ``out[M]`` int64.

    Returns the first row with an entry out of bounds, -1 when there is none.
    """
    first = -1
    for m in range(values.shape[0]):
        code = np.int64(0)
        wrong = False
        for k in range(values.shape[1]):
            value = np.int64(values[m, k])
            wrong |= (value < low[k]) | (value > high[k])
            code += (value - low[k]) * weight[k]
        out[m] += code
        if wrong and first < 0:
            first = m
    return first


@kernel
def unravel_rows(codes, span, low, weight, out):
    """The points ``out[M, K]`` of the numbers ``codes[M]``, which are not negative.

    The entries may be some of a longer row: ``span`` is the weight of the entry before the first.
    """
    for m in range(codes.shape[0]):
        rest = np.int64(codes[m]) % span
        for k in range(low.shape[0]):
            digit = rest // weight[k]
            rest -= digit * weight[k]
            out[m, k] = low[k] + digit


@kernel
def flatten_rows(values, blocks, out):
    """Flattens the points ``values[M, K]`` into ``out[M, F]``.

    Returns the first row with an entry that its one-hot block has no place for (the block is all
    0 then), -1 when there is none.
    """
    first = -1
    for m in range(values.shape[0]):
        for n in range(blocks.shape[0]):
            at, to, size, shift = blocks[n, 0], blocks[n, 2], blocks[n, 3], blocks[n, 4]
            if size > 0:
                target = out[m, to : to + size]
                for k in range(size):
                    target[k] = 0
                place = np.int64(values[m, at]) - shift
                if 0 <= place < size:
                    target[place] = 1
                elif first < 0:
                    first = m
            else:
                # As slices: entries of computed number would be checked for negative numbers.
                count = blocks[n, 1]
                source, target = values[m, at : at + count], out[m, to : to + count]
                for k in range(count):
                    target[k] = source[k] - shift
    return first


@kernel
def unflatten_rows(values, blocks, low, high, out):
    """The points ``out[M, K]`` of flat rows ``values[M, F]``.

    A one-hot block stands for its largest entry, the first of several. Other entries are brought
    within the bounds ``low[K]`` and ``high[K]`` of the point.
    """
    for m in range(values.shape[0]):
        for n in range(blocks.shape[0]):
            at, to, size, shift = blocks[n, 0], blocks[n, 2], blocks[n, 3], blocks[n, 4]
            if size > 0:
                source = values[m, to : to + size]
                best = 0
                for k in range(1, size):
                    if source[k] > source[best]:
                        best = k
                out[m, at] = shift + best
            else:
                count = blocks[n, 1]
                source, target = values[m, to : to + count], out[m, at : at + count]
                least, most = low[at : at + count], high[at : at + count]
                for k in range(count):
                    target[k] = min(max(source[k] + shift, least[k]), most[k])


@kernel
def first_outside(values, low, high):
    """The first row of ``values[M, F]`` that is not within ``low[F]..high[F]``; -1: none.

    What is not a number is outside.
    """
    for m in range(values.shape[0]):
        fine = True
        for k in range(values.shape[1]):
            fine &= (values[m, k] >= low[k]) & (values[m, k] <= high[k])
        if not fine:
            return m
    return -1


@kernel
def join_masks(first, second, out):
    """``out[M, A * B]``: which pairs of choices are allowed by both ``[M, A]`` and ``[M, B]``."""
    width = second.shape[1]
    for m in range(first.shape[0]):
        for a in range(first.shape[1]):
            for b in range(width):
                out[m, a * width + b] = first[m, a] & second[m, b]
