"""What a large world takes: 250 bytes per agent are promised at 100,000 agents."""

import tracemalloc

import pytest

from benchmarks.limits import seen
from benchmarks.worlds import HORIZON, Play, crowd


@pytest.mark.slow
def test_bytes_per_agent():
    count = 100_000
    sim = crowd(count)
    Play(sim, 1, 2)  # compiles and loads what is not to be weighed
    tracemalloc.start()
    vec = sim.vectorize(1, seed=0, horizon=HORIZON)
    vec.reset()
    vec.step(vec.sample_actions())
    taken = tracemalloc.get_traced_memory()[0] - seen(vec)
    tracemalloc.stop()
    assert 100 < taken / count <= 250
