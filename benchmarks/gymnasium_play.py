"""The Gymnasium vector environment beside the vectorised simulation in it: the same worlds."""

import numpy as np

from abmarl.examples import foraging
from abmarl.external import GymnasiumVectorEnv
from benchmarks.interleaved import Contest
from benchmarks.worlds import HORIZON, Play, action_pool

WORLDS = 1024
STEPS = 4


class GymnasiumPlay:
    """A Gymnasium vector environment in the middle of its episodes.

    Args:
        autoreset_mode: ``"SameStep"`` or ``"NextStep"``.
        warm_up: Steps to play first; meanwhile the worlds are started one after another.
    """

    def __init__(self, autoreset_mode="SameStep", warm_up=HORIZON):
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


def contest(autoreset_mode="SameStep"):
    """Foraging through Gymnasium, against the bare vectorised simulation with the same actions."""
    ours, bare = GymnasiumPlay(autoreset_mode), Play(foraging(), WORLDS)
    return Contest(_steps(ours), _steps(bare))


def _steps(play):
    return lambda: sum(play.step() for _ in range(STEPS))
