"""The table of the kernels of codes; see ``array_table.py``."""

import numpy as np
from gymnasium.spaces import Box
from hypothesis import strategies as st

from abmarl.gridworld.wrapper import Code, code_tables
from abmarl.kernels import codes as kernels
from abmarl.kernels.turns import Turns
from tests.kernels.array_table import ArrayEntry
from tests.naive.codes import points

WORLDS = 2


@st.composite
def coded_agents(draw):
    """Forms (segments of bounds), the form of every agent (-1: none), and codes per world."""
    bounds = st.tuples(st.integers(-3, 3), st.integers(0, 2)).map(lambda one: (one[0], sum(one)))
    segments = st.lists(st.lists(bounds, min_size=1, max_size=3), min_size=1, max_size=3)
    forms = draw(st.lists(segments, min_size=1, max_size=3))
    form_of = draw(st.lists(st.integers(-1, len(forms) - 1), min_size=1, max_size=5))
    codes = [
        [draw(st.integers(0, len(points(forms[f])) - 1)) if f >= 0 else -1 for f in form_of]
        for _ in range(WORLDS)
    ]
    return forms, form_of, codes, draw(st.integers(0, 2**32 - 1))


def tables_of(forms, form_of):
    def space(segment):
        low, high = np.array(segment).T
        return Box(low, high, dtype=int)

    codes = [Code([space(one) for one in form], "space") for form in forms]
    return code_tables(codes, np.array(form_of, np.int16))


def rows_of(widths):
    """Rows for agents with so many entries; 0: none."""
    widths = np.array(widths)
    rows = np.full((len(widths), 2), -1)
    has = widths > 0
    rows[has, 0] = (np.cumsum(widths) - widths)[has]
    rows[has, 1] = widths.sum()
    return rows, max(1, int(widths.sum()) * WORLDS)


def run_decode(given):
    forms, form_of, codes, _ = given
    tables = tables_of(forms, form_of)
    widths = [sum(map(len, forms[f])) if f >= 0 else 0 for f in form_of]
    code_rows, size = rows_of([int(f >= 0) for f in form_of])
    flat = np.zeros(size, np.int16)
    for b in range(WORLDS):
        for i, code in enumerate(codes[b]):
            if code >= 0:
                flat[code_rows[i, 0] + b * code_rows[i, 1]] = code
    rows, size = rows_of(widths)
    out = np.full(size, 99, np.int8)
    turns = np.tile(np.arange(len(form_of), dtype=np.uint16)[::-1], (WORLDS, 1))
    turns = Turns(turns, np.full(WORLDS, len(form_of)), flat, code_rows, True)
    kernels.decode_actions(turns, tables, out, rows)
    return [
        [out[rows[i, 0] + b * rows[i, 1] :][:width].tolist() for i, width in enumerate(widths)]
        for b in range(WORLDS)
    ]


def naive_decode(given):
    forms, form_of, codes, _ = given
    return [
        [points(forms[f])[code] if f >= 0 else [] for f, code in zip(form_of, row, strict=True)]
        for row in codes
    ]


def entry_masks(forms, form_of, seed):
    """Per world and agent a mask [entries, options], with all options of the widest entry."""
    rng = np.random.default_rng(seed)
    options = [max(high - low + 1 for part in form for low, high in part) for form in forms]
    masks = [
        [
            rng.random((sum(map(len, forms[f])), options[f])) < 0.7 if f >= 0 else None
            for f in form_of
        ]
        for _ in range(WORLDS)
    ]
    return options, masks


def run_masks(given):
    forms, form_of, _, seed = given
    tables = tables_of(forms, form_of)
    options, masks = entry_masks(forms, form_of, seed)
    inner_rows, size = rows_of([0 if mask is None else mask.size for mask in masks[0]])
    inner = np.zeros(size, bool)
    for b, i in np.ndindex(WORLDS, len(form_of)):
        if masks[b][i] is not None:
            at = inner_rows[i, 0] + b * inner_rows[i, 1]
            inner[at : at + masks[b][i].size] = masks[b][i].reshape(-1)
    totals = [int(tables.totals[f]) if f >= 0 else 0 for f in form_of]
    rows, size = rows_of(totals)
    out = np.zeros(size, bool)
    agents = np.flatnonzero(np.array(form_of) >= 0)
    kernels.code_masks(tables, agents, WORLDS, rows, np.array(options), inner, inner_rows, out)
    return [
        [out[rows[i, 0] + b * rows[i, 1] :][:total].tolist() for i, total in enumerate(totals)]
        for b in range(WORLDS)
    ]


def naive_masks(given):
    forms, form_of, _, seed = given
    _, masks = entry_masks(forms, form_of, seed)
    found = []
    for b in range(WORLDS):
        found.append([])
        for f, mask in zip(form_of, masks[b], strict=True):
            low = [low for part in forms[f] for low, _ in part] if f >= 0 else []
            allowed = [
                all(mask[k, entry - low[k]] for k, entry in enumerate(point))
                for point in (points(forms[f]) if f >= 0 else ())
            ]
            found[-1].append([bool(one) for one in allowed])
    return found


CODE_TABLE = [
    ArrayEntry("codes.decode_actions", "", coded_agents(), run_decode, naive_decode),
    ArrayEntry("codes.code_masks", "", coded_agents(), run_masks, naive_masks),
]
