"""Agents learn to walk to the end of a corridor without bumping into one another.

Run it:  abmarl train examples/multi_corridor_example.py  (needs abmarl[rllib])
"""

from ray.tune.registry import register_env

from abmarl.examples import MultiCorridor
from abmarl.external import MultiAgentWrapper
from abmarl.managers import TurnBasedManager

sim_name = "MultiCorridor"
sim = MultiAgentWrapper(TurnBasedManager(MultiCorridor()))
register_env(sim_name, lambda config: sim)

# The agents are all alike, so one policy learns from the experience of all.
agent = sim.unwrapped.agents["agent0"]
policies = {"corridor": (None, agent.observation_space, agent.action_space, {})}

params = {
    "experiment": {
        "title": sim_name,
        "sim_creator": lambda config=None: sim,
    },
    "ray_tune": {
        "run_or_experiment": "PG",
        "checkpoint_freq": 50,
        "checkpoint_at_end": True,
        "stop": {"episodes_total": 2000},
        "config": {
            "env": sim_name,
            "env_config": {},
            "horizon": 200,
            "multiagent": {
                "policies": policies,
                "policy_mapping_fn": lambda agent_id: "corridor",
            },
            "num_workers": 7,
            "num_envs_per_worker": 1,
        },
    },
}
