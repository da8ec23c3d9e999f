"""Four teams of six learn to fight one another, each with a policy of its own.

Run it:  abmarl train examples/team_battle_4_policies.py  (needs abmarl[rllib])

The engine steps 64 battles at once in each worker; --set experiment.batched=False is RLlib's own
way, with the same result but much slower.
"""

from ray.rllib.algorithms.ppo import PPOConfig

from abmarl.examples import team_battle
from abmarl.managers import AllStepManager

TEAMS = ("red", "blue", "green", "gray")


def make_sim(config=None):
    """Return the battle on 8 x 8 that ships with the package."""
    return AllStepManager(team_battle())


team_of = {agent_id: TEAMS[agent.encoding - 1] for agent_id, agent in make_sim().agents.items()}


def policy_mapping_fn(agent_id, *args, **kwargs):
    """Return the policy of an agent's team."""
    return team_of[agent_id]


config = (
    PPOConfig()
    .env_runners(num_env_runners=0, num_envs_per_env_runner=64)
    .training(
        lr=3e-4,
        train_batch_size_per_learner=6_400,
        minibatch_size=4_096,
        num_epochs=4,
        entropy_coeff=0.01,
    )
    .rl_module(model_config={"fcnet_hiddens": [64, 64]})
    .multi_agent(policies=set(TEAMS), policy_mapping_fn=policy_mapping_fn)
)

params = {
    "experiment": {
        "title": "TeamBattle",
        "sim_creator": make_sim,
        "batched": True,
    },
    "ray_tune": {
        "checkpoint_freq": 50,
        "stop": {"timesteps_total": 2_000_000},
        "config": config,
    },
}
