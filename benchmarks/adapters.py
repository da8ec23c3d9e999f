"""Worlds played through other libraries, and what the adapters must show in `benchmarks.limits`."""

import numpy as np

from abmarl.examples import foraging
from benchmarks.interleaved import Contest
from benchmarks.measuring import PAIRS, SECONDS, rate, ratios, show
from benchmarks.worlds import HORIZON, POOL, Play, action_dicts, action_pool, field

WORLDS = 1024
STEPS = 4


class ParallelPlay:
    """One world played through ``PettingZooParallelWrapper``, with dicts in and out.

    Args:
        sim: The simulation.
        warm_up: Steps to play first.
    """

    def __init__(self, sim, warm_up=HORIZON):
        # PettingZoo is an extra, which the other benchmarks do without.
        from abmarl.external.pettingzoo import PettingZooParallelWrapper

        self.env = PettingZooParallelWrapper(sim, horizon=HORIZON)
        self._pool = action_dicts(sim)
        self._count = 0
        self.env.reset(seed=0)
        for _ in range(warm_up):
            self.step()

    def step(self) -> int:
        """One step, and a reset where it ends the episode; returns how many agents acted."""
        env = self.env
        chosen = self._pool[self._count % POOL]
        self._count += 1
        acting = env.agents
        env.step({agent_id: chosen[agent_id] for agent_id in acting})
        if not env.agents:
            env.reset()
        return len(acting)


class GymnasiumPlay:
    """A Gymnasium vector environment in the middle of its episodes.

    Args:
        autoreset_mode: ``"SameStep"`` or ``"NextStep"``.
        warm_up: Steps to play first; meanwhile the worlds are started one after another.
    """

    def __init__(self, autoreset_mode="SameStep", warm_up=HORIZON):
        from abmarl.external import GymnasiumVectorEnv

        vec = foraging().vectorize(
            WORLDS, seed=0, horizon=HORIZON, autoreset=autoreset_mode == "SameStep"
        )
        self.env = GymnasiumVectorEnv(vec, autoreset_mode)
        self.env.reset()
        self._pool = [
            {key: part[:, 0] for key, part in actions[self.env.group].items()}
            for actions in action_pool(vec)
        ]
        self._count = 0
        for number in range(warm_up):
            mask = np.arange(WORLDS) % warm_up == number
            if mask.any():
                self.env.reset(options={"reset_mask": mask})
            self.step()

    def step(self) -> int:
        """One step; returns how many agents acted."""
        self._count += 1
        self.env.step(self._pool[self._count % len(self._pool)])
        return WORLDS


def gymnasium_play(autoreset_mode="SameStep"):
    """Foraging through Gymnasium, against the bare vectorised simulation with the same actions."""
    ours, bare = GymnasiumPlay(autoreset_mode), Play(foraging(), WORLDS)
    return Contest(_steps(ours), _steps(bare))


def _steps(play):
    return lambda: sum(play.step() for _ in range(STEPS))


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
