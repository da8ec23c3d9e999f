"""Means and shares with 95 % confidence intervals."""

import functools
import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

CONFIDENCE = 0.95
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


@dataclass(frozen=True)
class Interval:
    """An estimate and where the true value lies with a confidence of 95 %.

    Attributes:
        value: The estimate; nan without any data.
        low, high: Bounds of the interval; nan where there are too few data for one.
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "-"
        if math.isnan(self.low):
            return f"{self.value:,.2f}"
        return f"{self.value:,.2f} [{self.low:,.2f}, {self.high:,.2f}]"


def mean_interval(values: np.ndarray) -> Interval:
    """The mean of independent values with Student's interval: mean +- t s / sqrt(n).

    s is the standard deviation with n - 1 in the denominator, and t the 0.975 quantile of
    Student's distribution with n - 1 degrees of freedom.

    Args:
        values: Numbers [n].
    """
    count = len(values)
    mean = float(np.mean(values)) if count else math.nan
    if count < 2:
        return Interval(mean, math.nan, math.nan)
    spread = student_quantile(count - 1) * float(np.std(values, ddof=1)) / math.sqrt(count)
    return Interval(mean, mean - spread, mean + spread)


def share_interval(hits: np.ndarray) -> Interval:
    """The share of hits with Wilson's interval, which is of use at 0 and 1 too.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of
    the American Statistical Association 22 (1927).

    Args:
        hits: bool [n].
    """
    count = len(hits)
    if not count:
        return Interval(math.nan, math.nan, math.nan)
    share = float(np.mean(hits))
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    scale = 1 + z * z / count
    middle = (share + z * z / (2 * count)) / scale
    spread = z / scale * math.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    # Rounding must not push the share out of its interval, nor the interval out of [0, 1].
    return Interval(share, min(share, max(0.0, middle - spread)),
                    max(share, min(1.0, middle + spread)))  # fmt: skip


@functools.cache
def student_quantile(freedom: int) -> float:
    """The 0.975 quantile t of Student's distribution.

    With x = sqrt(freedom) tan(a), the probability of |x| < t is
    2 gamma((freedom + 1) / 2) / (sqrt(pi) gamma(freedom / 2)) times the integral of
    cos(a) ** (freedom - 1) from 0 to atan(t / sqrt(freedom)), a smooth function: it is integrated
    by Gauss and Legendre's rule, and t found by bisection.

    Args:
        freedom: Degrees of freedom, at least 1.
    """
    factor = 2 / math.sqrt(math.pi) * math.exp(
        math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    )  # fmt: skip

    def inside(t: float) -> float:
        end = math.atan(t / math.sqrt(freedom))
        angles = end / 2 * (_NODES + 1)
        return factor * end / 2 * float(_WEIGHTS @ np.cos(angles) ** (freedom - 1))

    low, high = 1.9, 12.8  # the quantiles of infinitely many degrees of freedom, and of one
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < CONFIDENCE else (low, middle)
    return (low + high) / 2
