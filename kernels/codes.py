"""Actions that are given as one number.

The numbers of an action ("entries") form segments. Within a segment they are ravelled: entry k
counts ``weight[k]``, so that the last one changes fastest. Segments are laid end to end and share
the code 0, where every entry is at its lowest; any other code belongs to one segment and leaves
the other ones at their lowest. With one segment this is plain ravelling.
"""

from typing import NamedTuple

import numpy as np

from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.turns import action_of, has_action


class Codes(NamedTuple):
    """How actions are numbered, with a row per form f of actions.

    Attributes:
        form_of: int16 [N], the form of every agent, -1 for agents without the channel.
        counts: int64 [F], how many segments there are.
        totals: int64 [F], how many codes there are.
        starts: int64 [F, S], the code that every segment starts at.
        firsts: int64 [F, S + 1], the first entry of every segment, and the end of the last one.
        low, weight: int64 [F, K], of every entry.
    """

    form_of: np.ndarray
    counts: np.ndarray
    totals: np.ndarray
    starts: np.ndarray
    firsts: np.ndarray
    low: np.ndarray
    weight: np.ndarray


@rule
def segment_of(codes, f, code):
    """Return the segment that a code belongs to."""
    s = 0
    while s + 1 < codes.counts[f] and code > codes.starts[f, s + 1]:
        s += 1
    return s


@kernel
def decode_actions(turns, codes, out, out_rows):
    """Write the entries that the codes of the acting agents stand for.

    ``turns.actions`` holds the codes; the entries go to ``out`` in the same way, by ``out_rows``.
    """
    firsts, weight = codes.firsts, codes.weight
    for b in range(turns.order.shape[0]):
        for t in range(turns.num_turns[b]):
            i = turns.order[b, t]
            if not has_action(turns, i):
                continue
            f = codes.form_of[i]
            code = turns.actions[action_of(turns, b, i)]
            to = out_rows[i, 0] + b * out_rows[i, 1]
            for k in range(firsts[f, codes.counts[f]]):
                out[to + k] = codes.low[f, k]
            s = segment_of(codes, f, code)
            rest = code - codes.starts[f, s]
            for k in range(firsts[f, s], firsts[f, s + 1]):
                digit = rest // weight[f, k]
                rest -= digit * weight[f, k]
                out[to + k] = codes.low[f, k] + digit


@kernel
def code_masks(codes, agents, num_worlds, rows_of, options, inner, inner_rows, out):
    """Tell which codes are allowed, for the listed agents of every world.

    ``codes.totals[f]`` entries are written per agent to the flat bool array ``out``. ``inner``
    holds the masks of the entries, ``options[f]`` per entry, or, where that is 0, one per code.
    """
    firsts, weight = codes.firsts, codes.weight
    for b in range(num_worlds):
        for a in range(agents.shape[0]):
            i = agents[a]
            f = codes.form_of[i]
            to = rows_of[i, 0] + b * rows_of[i, 1]
            at = inner_rows[i, 0] + b * inner_rows[i, 1]
            for code in range(codes.totals[f]):
                if options[f] == 0:
                    out[to + code] = inner[at + code]
                    continue
                s = segment_of(codes, f, code)
                rest = code - codes.starts[f, s]
                fine = True
                for k in range(firsts[f, codes.counts[f]]):
                    digit = 0
                    if firsts[f, s] <= k < firsts[f, s + 1]:
                        digit = rest // weight[f, k]
                        rest -= digit * weight[f, k]
                    fine &= inner[at + k * options[f] + digit]
                out[to + code] = fine
