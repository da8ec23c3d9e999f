"""Actions that are given as one number.

The numbers of an action ("entries") form segments. Within a segment they are ravelled: entry k
counts ``weight[k]``, so that the last one changes fastest. Segments are laid end to end and share
the code 0, where every entry is at its lowest; any other code belongs to one segment and leaves
the other ones at their lowest. With one segment this is plain ravelling.

Tables have a row per form f of actions: ``counts[f]`` segments; segment s starts at the code
``starts[f, s]`` and holds the entries ``firsts[f, s]`` up to ``firsts[f, s + 1]``; ``low[f, k]``
and ``weight[f, k]`` are those of entry k.
"""

from abmarl.kernels.compile import kernel, rule


@rule
def segment_of(f, code, counts, starts):
    """The segment that a code belongs to."""
    s = 0
    while s + 1 < counts[f] and code > starts[f, s + 1]:
        s += 1
    return s


@kernel
def decode_actions(
    turns, num_turns, codes, rows_of, form_of, counts, starts, firsts, low, weight, out, out_rows
):
    """Writes the entries that the codes of the acting agents stand for.

    Agent i of world b has its code in the flat array ``codes`` at
    ``rows_of[i, 0] + b * rows_of[i, 1]`` (below 0: it has none); its entries go to ``out`` in the
    same way.
    """
    for b in range(turns.shape[0]):
        for t in range(num_turns[b]):
            i = turns[b, t]
            if rows_of[i, 0] < 0:
                continue
            f = form_of[i]
            code = codes[rows_of[i, 0] + b * rows_of[i, 1]]
            to = out_rows[i, 0] + b * out_rows[i, 1]
            for k in range(firsts[f, counts[f]]):
                out[to + k] = low[f, k]
            s = segment_of(f, code, counts, starts)
            rest = code - starts[f, s]
            for k in range(firsts[f, s], firsts[f, s + 1]):
                digit = rest // weight[f, k]
                rest -= digit * weight[f, k]
                out[to + k] = low[f, k] + digit


@kernel
def code_masks(
    agents, num_worlds, rows_of, form_of, totals, options, counts, starts, firsts, weight,
    inner, inner_rows, out,
):  # fmt: skip
    """Which codes are allowed, for the listed agents of every world.

    ``totals[f]`` codes are written per agent to the flat bool array ``out``. ``inner`` holds the
    masks of the entries, ``options[f]`` per entry, or, where that is 0, one per code.
    """
    for b in range(num_worlds):
        for a in range(agents.shape[0]):
            i = agents[a]
            f = form_of[i]
            to = rows_of[i, 0] + b * rows_of[i, 1]
            at = inner_rows[i, 0] + b * inner_rows[i, 1]
            for code in range(totals[f]):
                if options[f] == 0:
                    out[to + code] = inner[at + code]
                    continue
                s = segment_of(f, code, counts, starts)
                rest = code - starts[f, s]
                fine = True
                for k in range(firsts[f, counts[f]]):
                    digit = 0
                    if firsts[f, s] <= k < firsts[f, s + 1]:
                        digit = rest // weight[f, k]
                        rest -= digit * weight[f, k]
                    fine &= inner[at + k * options[f] + digit]
                out[to + code] = fine
