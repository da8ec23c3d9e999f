"""Codes: points of a channel as one number, made of ravelled segments laid end to end."""

import numpy as np
from gymnasium.spaces import Discrete

from abmarl.sim.conversion import RavelConversion

_MOST_POINTS = np.iinfo(np.int64).max


class Code:
    """How the points of one form are numbered.

    The segments share the code 0; see ``abmarl.kernels.codes``.

    Args:
        segments: The spaces whose entries, one after the other, are those of the form.
        name: What the space is called in messages.

    Attributes:
        conversions: How the points of each segment are ravelled.
        starts: The code after which each segment begins.
        target: The ``Discrete`` space of the codes.

    Raises:
        TypeError, ValueError: A space cannot be ravelled.
    """

    def __init__(self, segments, name):
        self.conversions = [RavelConversion(space, name) for space in segments]
        self.starts = [0]
        for conversion in self.conversions:
            self.starts.append(self.starts[-1] + conversion.num_points - 1)
        total = self.starts.pop() + 1
        if total > _MOST_POINTS:
            raise ValueError(
                f"{name} has {total} points and a 64-bit integer counts {_MOST_POINTS} at most."
            )
        self.target = Discrete(total)

    def encode(self, points):
        """The code of a point, given segment by segment; None when several are not at 0."""
        codes = [one.convert(point) for one, point in zip(self.conversions, points, strict=True)]
        acting = [s for s, code in enumerate(codes) if code]
        if len(acting) > 1:
            return None
        return self.starts[acting[0]] + codes[acting[0]] if acting else 0

    def decode(self, number) -> list:
        """The point with a code, segment by segment."""
        acting = max(s for s, start in enumerate(self.starts) if start < number or s == 0)
        return [
            one.restore(number - self.starts[s] if s == acting else 0)
            for s, one in enumerate(self.conversions)
        ]


class CodeTables:
    """The codes of several forms as the tables that kernels read.

    Args:
        codes: A ``Code`` per form.
    """

    def __init__(self, codes):
        widths = [[one.layout.width for one in code.conversions] for code in codes]
        most = max((len(found) for found in widths), default=1)
        widest = max((sum(found) for found in widths), default=1)
        shape = (max(1, len(codes)), max(1, widest))
        self.counts = np.zeros(shape[0], np.int64)
        self.totals = np.zeros(shape[0], np.int64)
        self.starts = np.zeros((shape[0], most), np.int64)
        self.firsts = np.zeros((shape[0], most + 1), np.int64)
        self.low, self.weight = np.zeros(shape, np.int64), np.ones(shape, np.int64)
        for f, code in enumerate(codes):
            self.counts[f], self.totals[f] = len(code.conversions), int(code.target.n)
            self.starts[f, : len(code.starts)] = code.starts
            self.firsts[f, 1 : len(widths[f]) + 1] = np.cumsum(widths[f])
            for s, conversion in enumerate(code.conversions):
                own = slice(self.firsts[f, s], self.firsts[f, s + 1])
                self.low[f, own], self.weight[f, own] = conversion.layout.low, conversion.weights
