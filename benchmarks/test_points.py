"""Ravelling and flattening of 24,000 observations, and back."""

import numpy as np
import pytest

from benchmarks.points import AGENTS, WORLDS, Flattened, Ravelled

kinds = pytest.mark.parametrize("kind", [Ravelled, Flattened], ids=["ravel", "flatten"])


@kinds
def test_the_reference_does_the_same(kind):
    points = kind()
    points.batch()
    points.one_by_one()
    assert (points.out == points.plain).all()
    assert len(np.unique(points.out, axis=0)) > 1


@kinds
def test_convert(benchmark, per_agent, kind):
    benchmark.group = "conversion of observations"
    points = kind()
    per_agent(WORLDS * AGENTS)
    benchmark(points.batch)


@kinds
def test_restore(benchmark, per_agent, kind):
    benchmark.group = "conversion of observations, back"
    points = kind()
    points.batch()
    back = points.conversion.layout.empty((WORLDS, AGENTS))
    per_agent(WORLDS * AGENTS)
    benchmark(points.conversion.restore_into, points.out, back)
    assert all((back[key] == array).all() for key, array in points.points.items())
