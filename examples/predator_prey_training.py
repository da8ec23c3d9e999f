"""Predators learn to hunt and prey to harvest without being caught.

Run it:  abmarl train examples/predator_prey_training.py  (needs abmarl[rllib])
"""

from ray.tune.registry import register_env

from abmarl.examples import Predator, PredatorPreySimulation, Prey
from abmarl.external import MultiAgentWrapper
from abmarl.managers import AllStepManager

sim_name = "PredatorPrey"
sim_config = {
    "region": 6,
    "max_steps": 200,
    "agents": [
        *(Predator(id=f"predator{i}", attack=1) for i in range(2)),
        *(Prey(id=f"prey{i}") for i in range(7)),
    ],
}
sim = MultiAgentWrapper(AllStepManager(PredatorPreySimulation.build(sim_config)))
register_env(sim_name, lambda config: sim)

# The two kinds compete, so each has a policy of its own, which all of the kind share.
agents = sim.unwrapped.agents
policies = {
    kind: (None, agents[f"{kind}0"].observation_space, agents[f"{kind}0"].action_space, {})
    for kind in ("predator", "prey")
}


def policy_mapping_fn(agent_id):
    """Return the policy of an agent's kind."""
    return "prey" if agent_id.startswith("prey") else "predator"


params = {
    "experiment": {
        "title": sim_name,
        "sim_creator": lambda config=None: sim,
    },
    "ray_tune": {
        "run_or_experiment": "PG",
        "checkpoint_freq": 50,
        "checkpoint_at_end": True,
        "stop": {"episodes_total": 20_000},
        "config": {
            "env": sim_name,
            "env_config": sim_config,
            "horizon": 200,
            "multiagent": {
                "policies": policies,
                "policy_mapping_fn": policy_mapping_fn,
            },
            "num_workers": 7,
            "num_envs_per_worker": 1,
        },
    },
}
