"""One walker in a corridor through Gymnasium: one world, a few, and foragers in 1,024 worlds.

Run it:  python examples/gymnasium_corridor.py
"""

import gymnasium
import numpy as np

import abmarl.external.gymnasium  # makes the names known to Gymnasium  # noqa: F401
from abmarl.examples import MultiCorridor
from abmarl.external import GymnasiumWrapper
from abmarl.managers import AllStepManager

RIGHT = MultiCorridor.Actions.RIGHT


def one_world(seed):
    """Wrap your own simulation: put it into a manager, and that into the wrapper."""
    env = GymnasiumWrapper(AllStepManager(MultiCorridor(end=8, num_agents=1)), horizon=50)
    obs, _ = env.reset(seed=seed)
    start, total, over = obs["position"].item(), 0, False
    while not over:
        obs, reward, terminated, truncated, _ = env.step(RIGHT)
        total += reward
        over = terminated or truncated
    print(f"from cell {start}: {total} in return for walking right")


def some_worlds(seed, num_envs=4):
    """Make the same by its name; a simulation without arrays is stepped world by world."""
    envs = gymnasium.make_vec("abmarl/MultiCorridor-v0", num_envs=num_envs, end=8)
    obs, _ = envs.reset(seed=seed)
    print("cells of the walkers:", obs["position"][:, 0].tolist())
    _, rewards, *_ = envs.step(np.full(num_envs, RIGHT))
    print("rewards:", rewards.tolist())


def many_worlds(seed, num_envs, steps):
    """Foragers in worlds that are stepped together, with the statistics of their episodes."""
    envs = gymnasium.make_vec("abmarl/Foraging-v0", num_envs, statistics=True, max_episode_steps=50)
    envs.action_space.seed(seed)
    envs.reset(seed=seed)
    returns = []
    for _ in range(steps):
        *_, infos = envs.step(envs.action_space.sample())
        if "episode" in infos:
            returns.extend(infos["episode"]["r"][infos["_episode"]])
    print(f"{len(returns):,} episodes of random foragers, mean return {np.mean(returns):.2f}")


def main(seed=0, num_envs=1024, steps=100):
    """All three, one after the other."""
    one_world(seed)
    some_worlds(seed)
    many_worlds(seed, num_envs, steps)


if __name__ == "__main__":
    main()
