"""Prey learn to harvest and to stay alive, with action masks, while scripted predators hunt them.

Run it:  python examples/sb3_predator_prey.py  (needs abmarl[sb3])
"""

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy

from abmarl.examples import predator_prey_resources
from abmarl.external import SB3VecEnv


def make_env(num_worlds, seed):
    """Return the ten prey of every world are slots of their own, which share one policy."""
    vec = predator_prey_resources().vectorize(num_worlds, seed=seed, horizon=100)
    return SB3VecEnv(vec, "prey", policies={"predator": "heuristic"})


def mean_return(model, num_worlds):
    """Return the mean return of a prey in fresh worlds."""
    env = make_env(num_worlds, seed=1)
    return evaluate_policy(model, env, n_eval_episodes=env.num_envs, deterministic=False)[0]


def main(steps=2_000_000, worlds=64):
    """Train; returns the mean return of a prey before and after."""
    env = make_env(worlds, seed=0)
    model = MaskablePPO(
        "MlpPolicy", env, learning_rate=1e-3, n_steps=64, batch_size=4096, n_epochs=4, gamma=0.97,
        ent_coef=0.01, seed=0, device="cpu", **env.on_policy(masked=True),
    )  # fmt: skip
    before = mean_return(model, worlds)
    model.learn(steps)
    after = mean_return(model, worlds)
    print(f"mean return of a prey: {before:.2f} at first, {after:.2f} after {steps:,} steps")
    model.save("prey.zip")
    return before, after


if __name__ == "__main__":
    main()
