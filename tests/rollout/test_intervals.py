"""Intervals, against tables and by simulation."""

import math

import numpy as np
import pytest

from abmarl.rollout.evaluation import Interval, mean_interval, share_interval, student_quantile


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    # From any table of Student's distribution, two-sided, 5 %.
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (5, 2.5706), (10, 2.2281), (30, 2.0423),
     (100, 1.9840), (1000, 1.9623), (10**7, 1.9600)],
)  # fmt: skip
def test_quantiles_of_student(freedom, quantile):
    assert student_quantile(freedom) == pytest.approx(quantile, abs=6e-5)


def test_mean_by_hand():
    found = mean_interval(np.array([1.0, 2.0, 3.0, 6.0]))
    spread = 3.182446 * math.sqrt(14 / 3) / 2
    assert found.value == 3
    assert (found.low, found.high) == pytest.approx((3 - spread, 3 + spread), rel=1e-6)


def test_too_few_values():
    assert str(mean_interval(np.array([]))) == "-"
    assert str(mean_interval(np.array([2.5]))) == "2.50"
    assert str(mean_interval(np.array([2.5, 2.5]))) == "2.50 [2.50, 2.50]"
    assert str(share_interval(np.array([], bool))) == "-"


def test_shares_by_hand():
    # Wilson's interval of 0 and of 7 hits in 10, as textbooks print it.
    none = share_interval(np.zeros(10, bool))
    assert (none.value, none.low) == (0, 0)
    assert none.high == pytest.approx(0.2775, abs=1e-4)
    seven = share_interval(np.arange(10) < 7)
    assert (seven.low, seven.high) == pytest.approx((0.3968, 0.8922), abs=1e-4)
    every = share_interval(np.ones(10, bool))
    assert (every.value, every.high) == (1, 1)


def test_the_true_value_lies_within_in_95_of_100_cases():
    rng = np.random.default_rng(0)
    means = [mean_interval(rng.normal(3, 2, 6)) for _ in range(3000)]
    assert covered(means, 3) == pytest.approx(0.95, abs=0.012)
    shares = [share_interval(rng.random(40) < 0.3) for _ in range(3000)]
    assert covered(shares, 0.3) == pytest.approx(0.95, abs=0.02)


def covered(intervals: list[Interval], truth):
    return np.mean([one.low <= truth <= one.high for one in intervals])
