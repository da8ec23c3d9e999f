"""The table of the kernels in ``kernels/spaces.py``, each with a twin on nested lists."""

import numpy as np
from hypothesis import strategies as st

from abmarl.kernels import spaces
from tests.kernels.array_table import ArrayEntry


@st.composite
def bounded_rows(draw, outside=True):
    """(bounds [K] of (low, high), rows [M][K]), a few entries out of bounds if `outside`."""
    low, size = st.integers(-9, 9), st.sampled_from([1, 2, 3, 7, 49, 1000])
    bounds = draw(st.lists(st.tuples(low, size), max_size=6))
    bounds = [(low, low + size - 1) for low, size in bounds]
    off = st.sampled_from([0] * 20 + [1]) if outside else st.just(0)
    rows = [
        [
            draw(st.integers(low, high)) + draw(off) * draw(st.sampled_from([-2000, 2000]))
            for low, high in bounds
        ]
        for _ in range(draw(st.integers(1, 4)))
    ]
    return bounds, rows


def sides(bounds):
    return np.array(bounds, np.int64).reshape(-1, 2).T.copy()


def weights_of(bounds):
    sizes = [high - low + 1 for low, high in bounds]
    return np.array([int(np.prod(sizes[k + 1 :], dtype=object)) for k in range(len(sizes))])


def within(bounds, row):
    return all(low <= value <= high for (low, high), value in zip(bounds, row, strict=True))


def run_ravel(given):
    bounds, rows = given
    out = np.full(len(rows), 5)
    values = np.array(rows, np.int16).reshape(len(rows), len(bounds))
    first = spaces.ravel_rows(values, *sides(bounds), weights_of(bounds).astype(int), out)
    fine = [within(bounds, row) for row in rows]
    return [int(first), [code - 5 for code, good in zip(out.tolist(), fine, strict=True) if good]]


def naive_ravel(given):
    bounds, rows = given
    wrong = [m for m, row in enumerate(rows) if not within(bounds, row)]
    codes = []
    for row in rows:
        if within(bounds, row):
            code = 0
            for (low, high), value in zip(bounds, row, strict=True):
                code = code * (high - low + 1) + value - low
            codes.append(code)
    return [wrong[0] if wrong else -1, codes]


def run_unravel(given):
    """The entries in two parts, as a channel and the next one have them."""
    bounds, _ = given
    codes = np.array(naive_ravel(given)[1], np.int64)
    sizes = [high - low + 1 for low, high in bounds]
    weights = weights_of(bounds).astype(int)
    out = np.zeros((len(codes), len(bounds)), np.int16)
    for start, stop in ((0, len(bounds) // 2), (len(bounds) // 2, len(bounds))):
        part = np.zeros((len(codes), stop - start), np.int16)
        span = int(np.prod(sizes[start:], dtype=object))
        spaces.unravel_rows(codes, span, sides(bounds)[0][start:stop], weights[start:stop], part)
        out[:, start:stop] = part
    return out.tolist()


def naive_unravel(given):
    return given[1]


@st.composite
def flat_rows(draw):
    """Blocks of (size, shift, bounds of the entries), and rows [M] of blocks of numbers."""
    blocks = []
    for _ in range(draw(st.integers(0, 4))):
        size, shift = draw(st.sampled_from([0, 0, 1, 3])), draw(st.integers(-2, 2))
        if size:
            bounds = [(shift, shift + size - 1)]
        else:
            count = draw(st.integers(0, 3))
            bounds = [(-draw(st.integers(0, 3)), draw(st.integers(0, 3))) for _ in range(count)]
        blocks.append((size, shift, bounds))
    rows = [
        [[draw(st.integers(-4, 4)) for _ in bounds] for _, _, bounds in blocks]
        for _ in range(draw(st.integers(1, 3)))
    ]
    return blocks, rows


def table_of(blocks):
    """The blocks as the kernels want them, and the widths of points and flat rows."""
    found, at, to = [], 0, 0
    for size, shift, bounds in blocks:
        found.append((at, len(bounds), to, size, shift))
        at += len(bounds)
        to += size or len(bounds)
    return np.array(found, np.int64).reshape(-1, 5), at, to


def run_flatten(given):
    blocks, rows = given
    table, width, flat = table_of(blocks)
    out = np.full((len(rows), flat), 99)
    values = np.array([[one for part in row for one in part] for row in rows], np.int8).reshape(
        len(rows), width
    )
    first = spaces.flatten_rows(values, table, out)
    return [int(first), out.tolist()]


def naive_flatten(given):
    blocks, rows = given
    found, wrong = [], -1
    for m, row in enumerate(rows):
        flat = []
        for (size, shift, _), values in zip(blocks, row, strict=True):
            if not size:
                flat += [value - shift for value in values]
                continue
            flat += [int(k + shift == values[0]) for k in range(size)]
            if not shift <= values[0] < shift + size and wrong < 0:
                wrong = m
        found.append(flat)
    return [wrong, found]


@st.composite
def flat_points(draw):
    """Blocks as above, and flat rows of small numbers, with many that are equal."""
    blocks, _ = draw(flat_rows())
    width = table_of(blocks)[2]
    numbers = st.sampled_from([-5.0, -1.0, -0.5, 0.0, 0.0, 0.25, 1.0, 1.0, 4.0])
    row = st.lists(numbers, min_size=width, max_size=width)
    return blocks, draw(st.lists(row, min_size=1, max_size=3))


def run_unflatten(given):
    blocks, rows = given
    table, width, flat = table_of(blocks)
    bounds = sides([pair for _, _, pairs in blocks for pair in pairs])
    out = np.full((len(rows), width), 99.0)
    spaces.unflatten_rows(np.array(rows).reshape(len(rows), flat), table, *bounds, out)
    return out.tolist()


def naive_unflatten(given):
    blocks, rows = given
    found = []
    for row in rows:
        row, point = list(row), []
        for size, shift, bounds in blocks:
            if size:
                block, row = row[:size], row[size:]
                point.append(shift + block.index(max(block)))
                continue
            for low, high in bounds:
                point.append(min(max(row.pop(0) + shift, low), high))
        found.append(point)
    return found


@st.composite
def odd_rows(draw):
    bounds, rows = draw(bounded_rows())
    odd = st.sampled_from([None] * 30 + [float("nan"), float("inf"), -float("inf")])
    rows = [[draw(odd) or value for value in row] for row in rows]
    return [(low, float("inf") if low > 5 else high) for low, high in bounds], rows


def run_first_outside(given):
    bounds, rows = given
    low, high = np.array(bounds, float).reshape(-1, 2).T.copy()
    return int(spaces.first_outside(np.array(rows, float).reshape(len(rows), -1), low, high))


def naive_first_outside(given):
    bounds, rows = given
    wrong = [m for m, row in enumerate(rows) if not within(bounds, row)]
    return wrong[0] if wrong else -1


@st.composite
def two_masks(draw):
    rows, widths = draw(st.integers(1, 3)), (draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    return [
        draw(st.lists(st.lists(st.booleans(), min_size=width, max_size=width), min_size=rows,
                      max_size=rows))
        for width in widths
    ]  # fmt: skip


def run_join(given):
    first, second = map(np.array, given)
    out = np.zeros((len(first), first.shape[1] * second.shape[1]), bool)
    spaces.join_masks(first, second, out)
    return out.tolist()


def naive_join(given):
    return [[a and b for a in one for b in other] for one, other in zip(*given, strict=True)]


@st.composite
def gone_agents(draw):
    """gone [B][J], the columns of the agents among N, their null points [J][W], rows [B][N][W]."""
    columns = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4, unique=True))
    worlds, width = draw(st.integers(1, 3)), draw(st.integers(0, 3))

    def grid(entry, *sizes):
        for size in reversed(sizes):
            entry = st.lists(entry, min_size=size, max_size=size)
        return draw(entry)

    number = st.integers(-9, 9)
    return (
        grid(st.booleans(), worlds, len(columns)), columns,
        grid(number, len(columns), width), grid(number, worlds, 5, width),
    )  # fmt: skip


def run_blank(given):
    gone, columns, nulls, rows = given
    width = len(nulls[0])
    out = np.array(rows, np.int8).reshape(len(rows), 5, width)
    points = np.array(nulls, int).reshape(len(nulls), width)
    spaces.blank_rows(np.array(gone), np.array(columns), points, out)
    return out.tolist()


def naive_blank(given):
    gone, columns, nulls, rows = given
    return [
        [
            nulls[columns.index(n)] if n in columns and gone[b][columns.index(n)] else row
            for n, row in enumerate(world)
        ]
        for b, world in enumerate(rows)
    ]


SPACE_TABLE = [
    ArrayEntry("spaces.blank_rows", "", gone_agents(), run_blank, naive_blank),
    ArrayEntry("spaces.ravel_rows", "", bounded_rows(), run_ravel, naive_ravel),
    ArrayEntry("spaces.unravel_rows", "", bounded_rows(False), run_unravel, naive_unravel),
    ArrayEntry("spaces.flatten_rows", "", flat_rows(), run_flatten, naive_flatten),
    ArrayEntry("spaces.unflatten_rows", "", flat_points(), run_unflatten, naive_unflatten),
    ArrayEntry("spaces.first_outside", "", odd_rows(), run_first_outside, naive_first_outside),
    ArrayEntry("spaces.join_masks", "", two_masks(), run_join, naive_join),
]
