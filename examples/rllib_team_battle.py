"""Four teams learn to fight one another, each with a policy of its own: PPO of RLlib.

Run it:  python examples/rllib_team_battle.py  (needs abmarl[rllib])
"""

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

from abmarl.examples import team_battle
from abmarl.external.rllib import batched


def main(iterations=20, num_envs=256, steps=32, mode="columns"):
    """Trains, and prints how the teams fare.

    Args:
        iterations: how many.
        num_envs: worlds.
        steps: of each world per iteration.
        mode: see `batched`.

    Returns:
        The mean return of each team in the last iteration.
    """
    config = (
        PPOConfig()
        .env_runners(num_env_runners=0)
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64, 64]))
        .training(
            train_batch_size_per_learner=num_envs * steps,
            minibatch_size=min(2048, num_envs * steps),
            num_epochs=2,
            lr=1e-3,
            gamma=0.97,
        )
        .debugging(seed=0)
    )
    # One policy per group of agents, because the config names none.
    algo = batched(config, team_battle, mode=mode, num_envs=num_envs, horizon=200).build_algo()
    for iteration in range(1, iterations + 1):
        found = algo.train()["env_runners"]
        returns = found.get("module_episode_returns_mean", {})
        wins = found.get("win_rate", {})
        teams = ", ".join(
            f"{team} {returns[team]:.1f} ({wins[team]:.0%})" for team in sorted(returns)
        )
        print(f"{iteration:>3}: mean returns and wins: {teams or 'no battle has ended yet'}")
    algo.stop()
    return returns


if __name__ == "__main__":
    ray.init(include_dashboard=False, log_to_driver=False)
    main()
    ray.shutdown()
