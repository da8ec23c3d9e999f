"""What is measured of the adapters: worlds played through other libraries."""

import numpy as np

from abmarl.examples import foraging
from benchmarks.interleaved import Contest
from benchmarks.worlds import HORIZON, POOL, Play, action_dicts, action_pool

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
