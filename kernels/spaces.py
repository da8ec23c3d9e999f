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
    """Add the numbers of the points ``values[M, K]`` to ``out[M]`` int64.

    Return the first row with an entry out of bounds, -1 when there is none.
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
    """Write the points ``out[M, K]`` of the numbers ``codes[M]``, which are not negative.

    The entries may be some of a longer row: ``span`` is the weight of the entry before the first.
    """
    for m in range(codes.shape[0]):
        # Unsigned division has no rounding to mend, and nothing here is negative.
        rest = np.uint64(codes[m]) % np.uint64(span)
        for k in range(low.shape[0]):
            place = np.uint64(weight[k])
            digit = rest // place
            rest -= digit * place
            out[m, k] = low[k] + np.int64(digit)


@kernel
def flatten_rows(values, blocks, out):
    """Flatten the points ``values[M, K]`` into ``out[M, F]``.

    Return the first row with an entry that its one-hot block has no place for (the block is all
    0 then), -1 when there is none.
    """
    num_rows = values.shape[0]
    first = num_rows
    for n in range(blocks.shape[0]):
        at, to, size, shift = blocks[n, 0], blocks[n, 2], blocks[n, 3], blocks[n, 4]
        # Slices, because an entry of a computed number is checked for being negative every time.
        if size > 0:
            places, target = values[:, at], out[:, to : to + size]
            for m in range(num_rows):
                for k in range(size):
                    target[m, k] = 0
                place = np.int64(places[m]) - shift
                if 0 <= place < size:
                    target[m, place] = 1
                elif m < first:
                    first = m
        else:
            count = blocks[n, 1]
            source, target = values[:, at : at + count], out[:, to : to + count]
            for m in range(num_rows):
                for k in range(count):
                    target[m, k] = source[m, k] - shift
    return first if first < num_rows else -1


@kernel
def unflatten_rows(values, blocks, low, high, out):
    """Write the points ``out[M, K]`` of flat rows ``values[M, F]``.

    A one-hot block stands for its largest entry, the first of several. Other entries are brought
    within the bounds ``low[K]`` and ``high[K]`` of the point.
    """
    for n in range(blocks.shape[0]):
        at, to, size, shift = blocks[n, 0], blocks[n, 2], blocks[n, 3], blocks[n, 4]
        if size > 0:
            source = values[:, to : to + size]
            for m in range(values.shape[0]):
                best = 0
                for k in range(1, size):
                    if source[m, k] > source[m, best]:
                        best = k
                out[m, at] = shift + best
        else:
            count = blocks[n, 1]
            source, target = values[:, to : to + count], out[:, at : at + count]
            least, most = low[at : at + count], high[at : at + count]
            for m in range(values.shape[0]):
                for k in range(count):
                    target[m, k] = min(max(source[m, k] + shift, least[k]), most[k])


@kernel
def first_outside(values, low, high):
    """Return the first row of ``values[M, F]`` that is not within ``low[F]..high[F]``; -1: none.

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
    """Set ``out[M, A * B]`` for pairs of choices that ``[M, A]`` and ``[M, B]`` both allow."""
    width = second.shape[1]
    for m in range(first.shape[0]):
        for a in range(first.shape[1]):
            for b in range(width):
                out[m, a * width + b] = first[m, a] & second[m, b]


@kernel
def blank_rows(gone, columns, nulls, out):
    """Put null points where agents are gone.

    Agent j of world b, whose row is ``out[b, columns[j]]`` of [B, N, W], shows ``nulls[j]`` where
    ``gone[b, j]``.
    """
    for b in range(gone.shape[0]):
        for j in range(gone.shape[1]):
            if gone[b, j]:
                row, null = out[b, columns[j]], nulls[j]
                for k in range(null.shape[0]):
                    row[k] = null[k]
