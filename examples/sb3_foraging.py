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


def share_collected(model, episodes=256):
    """The share of the resources that are collected, on average over fresh worlds."""
    env = SB3VecEnv(foraging().vectorize(episodes, seed=1, horizon=200))
    resources = env.vec.sim.groups["resource"].slots
    obs, left = env.reset(), np.full(episodes, -1)
    while (left < 0).any():
        obs, _, done, _ = env.step(model.predict(obs)[0])
        first = done & (left < 0)
        left[first] = env.vec.infos()["final_active"][first][:, resources].sum(axis=1)
    return 1 - left.mean() / len(resources)


def main(minutes=10.0, steps=3_000_000, worlds=512, episodes=256, out="out/sb3_foraging"):
    """Train until the time or the steps are up."""
    env = SB3VecEnv(foraging().vectorize(worlds, horizon=200))
    model = PPO(
        "MlpPolicy", env, learning_rate=lambda left: 1e-3 * left, n_steps=64, batch_size=4096,
        n_epochs=4, gamma=0.98, ent_coef=0.01, policy_kwargs={"net_arch": [128, 128]}, seed=0,
        device="cpu", **env.on_policy(),
    )  # fmt: skip
    curve, start = [], time.monotonic()

    def watch(*_):
        if model.num_timesteps % (320 * worlds) == 0:
            curve.append((model.num_timesteps, share_collected(model, episodes)))
            print(f"{curve[-1][0]:>9,} steps: {curve[-1][1]:.1%} collected", flush=True)
        return time.monotonic() - start < 60 * minutes

    model.learn(steps, callback=watch)
    share, seconds = share_collected(model, 2 * episodes), time.monotonic() - start
    print(f"{share:.1%} of the resources after {model.num_timesteps:,} steps, {seconds:.0f} s")
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    model.save(folder / "forager.zip")
    figure = Figure((6, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(*zip((0, 0.0), *curve, strict=True) if not curve else zip(*curve, strict=True))
    return share


if __name__ == "__main__":
    main()
