"""A forager learns to collect 30 resources on 20 x 20 cells, of which it sees 7 x 7, by PPO.

It leaves the policy, a learning curve and a film:  python examples/sb3_foraging.py --minutes 5
"""

import argparse
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from stable_baselines3 import PPO

from abmarl.examples import foraging
from abmarl.external import SB3VecEnv
from abmarl.render import Recorder


def share_collected(model, episodes=256, film=None):
    """The share of the resources that are collected, on average over fresh worlds."""
    vec = foraging().vectorize(episodes, seed=1, horizon=200)
    env = SB3VecEnv(vec, render_mode="rgb_array")
    obs, left = env.reset(), np.full(episodes, -1)
    while (left < 0).any():
        obs, _, done, _ = env.step(model.predict(obs)[0])
        first = done & (left < 0)
        left[first] = vec.infos()["final_active"][first][:, :30].sum(axis=1)
        if film and left[0] < 0:
            film.add(env.render())
    return 1 - left.mean() / 30


def main(minutes=10.0, steps=2_000_000, worlds=512, episodes=256, out="out/sb3_foraging"):
    """Learn until the time or the steps are up; returns the share that is collected then."""
    curve, start, folder = [], time.monotonic(), Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    env = SB3VecEnv(foraging().vectorize(worlds, horizon=200))
    model = PPO(
        "MlpPolicy", env, learning_rate=lambda left: 1e-3 * left, n_steps=64, batch_size=4096,
        n_epochs=4, gamma=0.98, ent_coef=0.01, policy_kwargs={"net_arch": [128, 128]}, seed=0,
        device="cpu", **env.on_policy(),
    )  # fmt: skip

    def watch(*_):
        if model.num_timesteps % (192 * worlds) == worlds:
            curve.append((model.num_timesteps, 100 * share_collected(model, episodes)))
        return time.monotonic() - start < 60 * minutes

    model.learn(steps, callback=watch)
    model.save(folder / "forager.zip")
    with Recorder(folder / "forager.mp4") as film:
        share = share_collected(model, 2 * episodes, film)
    curve.append((model.num_timesteps, 100 * share))
    figure = Figure((6, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(*zip(*curve, strict=True))
    axes.set(xlabel="steps", ylabel="resources collected, %", ylim=(0, 100))
    figure.savefig(folder / "curve.png", dpi=100)
    print(f"{share:.1%} after {model.num_timesteps:,} steps, {time.monotonic() - start:.0f} s")
    return share


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    main(parser.parse_args().minutes)
