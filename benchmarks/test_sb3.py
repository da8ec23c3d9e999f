"""How fast PPO of Stable-Baselines3 is, beside an environment that costs nothing."""

import pytest

pytest.importorskip("stable_baselines3")

from benchmarks.sb3_learning import learning
from benchmarks.worlds import HORIZON

WANTED = 0.6


@pytest.mark.filterwarnings("ignore::DeprecationWarning:gym")
@pytest.mark.parametrize("worlds", [1024, 1536])
def test_learning(benchmark, per_agent, worlds):
    benchmark.group = "PPO of Stable-Baselines3, an episode of 200 steps"
    quick = not benchmark.enabled
    contest = learning(32 if quick else worlds, 1 if quick else 4)
    per_agent(HORIZON * worlds)
    if quick:
        contest.once()
        benchmark(lambda: None)
        return
    ratio = contest.ratio(seconds=10, batches=1)
    benchmark.extra_info["rate beside a constant environment"] = round(ratio, 3)
    benchmark.pedantic(contest.ours, rounds=3)
    assert ratio >= WANTED
