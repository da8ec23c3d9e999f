"""A forager that sees 7 x 7 cells learns to collect 30 resources on 20 x 20 cells, by PPO.

Needs abmarl[sb3,render]. Run it:  python examples/sb3_foraging.py --minutes 5
"""

import time
from pathlib import Path

import numpy as np
import typer
from matplotlib.figure import Figure
from stable_baselines3 import PPO

from abmarl.examples import foraging
from abmarl.external import SB3VecEnv
from abmarl.render import FrameWriter


def share_collected(model, film=None, worlds=256):
    """Return the share of the resources that are collected, on average over fresh worlds."""
    env = SB3VecEnv(foraging().vectorize(worlds, seed=1, horizon=200), render_mode="rgb_array")
    obs, left = env.reset(), np.full(worlds, -1)
    while (left < 0).any():
        obs, _, done, _ = env.step(model.predict(obs)[0])
        left = np.where(done & (left < 0), env.vec.infos()["final_active"][:, :30].sum(1), left)
        if film and left[0] < 0:
            film.add(env.render())
    return 1 - left.mean() / 30


def main(minutes: float = 10, steps: int = 2_000_000, worlds: int = 512, out: str = "out/forager"):
    """Learn until the time or the steps are up; return the share that is collected then."""
    env = SB3VecEnv(foraging().vectorize(worlds, horizon=200))
    model = PPO(
        "MlpPolicy", env, learning_rate=lambda left: 1e-3 * left, n_steps=64, batch_size=4096,
        n_epochs=4, gamma=0.98, ent_coef=0.01, policy_kwargs={"net_arch": [128, 128]}, seed=0,
        device="cpu", **env.on_policy(),
    )  # fmt: skip
    curve, start = [], time.monotonic()

    def watch(*_):
        if model.num_timesteps % (192 * worlds) == worlds:
            curve.append((model.num_timesteps, 100 * share_collected(model)))
        return time.monotonic() - start < 60 * minutes

    model.learn(steps, callback=watch)
    Path(out).mkdir(parents=True, exist_ok=True)
    model.save(f"{out}/forager.zip")
    with FrameWriter(f"{out}/forager.mp4") as film:
        share = share_collected(model, film)
    axes = Figure((6, 3), layout="constrained").add_subplot(xlabel="steps", ylabel="collected, %")
    axes.plot(*zip(*curve, (model.num_timesteps, 100 * share), strict=True))
    axes.figure.savefig(f"{out}/curve.png")
    print(f"{share:.1%} after {model.num_timesteps:,} steps, {time.monotonic() - start:.0f} s")
    return share


if __name__ == "__main__":
    typer.run(main)
