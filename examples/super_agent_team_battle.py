"""Each of four teams learns as one: a super agent observes and acts for all of its members.

Run it:  abmarl train examples/super_agent_team_battle.py  (needs abmarl[rllib])
"""

from abmarl.examples import team_battle
from abmarl.managers import AllStepManager
from abmarl.sim.wrappers import SuperAgentWrapper

TEAMS = ("red", "blue", "green", "gray")


def make_sim(config=None):
    """Return the battle on 8 x 8, with a super agent for each team."""
    battle = team_battle()
    teams = {
        team: [agent.id for agent in battle.agents.values() if agent.encoding == encoding]
        for encoding, team in enumerate(TEAMS, start=1)
    }
    return AllStepManager(SuperAgentWrapper(battle, super_agent_mapping=teams))


params = {
    "experiment": {
        "title": "SuperAgentTeamBattle",
        "sim_creator": make_sim,
        "batched": True,
    },
    "ray_tune": {
        "run_or_experiment": "PPO",
        "checkpoint_freq": 50,
        "stop": {"timesteps_total": 1_000_000},
        "config": {
            "horizon": 200,
            "multiagent": {
                "policies": list(TEAMS),
                "policy_mapping_fn": lambda agent_id: agent_id,
            },
            "model": {"fcnet_hiddens": [256, 256]},
            "lr": 3e-4,
            "train_batch_size": 6_400,
            "sgd_minibatch_size": 1_600,
            "num_sgd_iter": 4,
            "num_workers": 0,
            "num_envs_per_worker": 32,
        },
    },
}
