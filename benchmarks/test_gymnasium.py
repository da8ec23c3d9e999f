"""Steps of Gymnasium's vector environment in the modes in which worlds reset themselves."""

import pytest

from benchmarks.adapters import WORLDS, GymnasiumPlay


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_step(benchmark, per_agent, warm_up, mode):
    benchmark.group = f"step through Gymnasium, {WORLDS} worlds"
    play = GymnasiumPlay(mode, warm_up)
    per_agent(WORLDS)
    benchmark(play.step)
