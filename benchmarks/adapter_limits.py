"""What the adapters must show: `benchmarks.limits` prints it with the rest."""

from benchmarks.adapted import ParallelPlay, gymnasium_play
from benchmarks.measuring import PAIRS, SECONDS, rate, ratios, show
from benchmarks.worlds import Play, field


def adapters(yardstick):
    """Worlds through other libraries, beside the bare ones."""
    pettingzoo(yardstick)
    gymnasium()
    stable_baselines3()


def pettingzoo(yardstick):
    """Measure a battle of 162 agents through PettingZoo, beside one vectorised world of it."""
    parallel, bare = ParallelPlay(field()), Play(field(), 1)
    found = [
        {
            "yardstick": yardstick.rate() if yardstick else float("nan"),
            "parallel": rate(parallel.step),
            "bare": rate(bare.step),
        }
        for _ in range(PAIRS)
    ]
    show("PettingZoo, agent-steps/s", [turn["parallel"] for turn in found], form="{:,.0f}")
    show("PettingZoo / one vectorised world", ratios(found, "parallel", "bare"))
    if yardstick:
        per_fifty = [50 * ratio for ratio in ratios(found, "parallel", "yardstick")]
        show("PettingZoo, agent-steps per 50 yardstick steps", per_fifty, ">= 1")


def gymnasium():
    """Measure what is left of the rate of a vectorised simulation behind an adapter."""
    for mode, wanted in (("SameStep", ">= 0.8"), ("NextStep", "")):
        contest = gymnasium_play(mode)
        found = [contest.ratio(SECONDS, 1) for _ in range(PAIRS)]
        show(f"Gymnasium, {mode} / vectorised", found, wanted)


def stable_baselines3():
    """PPO on foraging worlds, against the same PPO on an environment that costs nothing."""
    from benchmarks.sb3_learning import learning

    for worlds in (1024, 1536):
        contest = learning(worlds)
        found = [contest.ratio(SECONDS, 1)]
        show(f"PPO on {worlds:,} worlds / constant arrays", found, ">= 0.6")
