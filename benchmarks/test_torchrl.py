"""What TorchRL adds to a step: a vectorised simulation against its environment."""

import pytest

from abmarl.examples import team_battle
from benchmarks.interleaved import Contest
from benchmarks.worlds import HORIZON, Play

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

WORLDS = 1024
WAYS = {
    "masks": {},
    "no masks": {"action_masks": False},
    "no masks, shared memory": {"action_masks": False, "copy": False},
}


class Stepped:
    """An environment of team battles, with the same actions in every step; it resets worlds."""

    def __init__(self, **kwargs):
        from abmarl.external import TorchRLEnv

        torch.set_num_threads(1)
        vec = team_battle().vectorize(WORLDS, seed=0, horizon=HORIZON, autoreset=False)
        self.env = TorchRLEnv(vec, **kwargs)
        self.now = self.env.reset()
        self.acts = self.env.rand_action(self.now.clone())

    def step(self):
        for group in self.env.group_map:
            self.now[group, "action"] = self.acts[group, "action"]
        _, self.now = self.env.step_and_maybe_reset(self.now)


@pytest.mark.parametrize("way", WAYS)
def test_step(benchmark, per_agent, warm_up, way):
    benchmark.group = f"step of {WORLDS} worlds by TorchRL"
    play, stepped = Play(team_battle(), WORLDS, warm_up), Stepped(**WAYS[way])
    for _ in range(warm_up):
        stepped.step()
    per_agent(play.active)
    if not benchmark.disabled:
        bare = Contest(stepped.step, lambda: play.vec.step(play.pool[0]))
        benchmark.extra_info["speed, the bare simulation is 1"] = round(bare.ratio(), 2)
    benchmark(stepped.step)
