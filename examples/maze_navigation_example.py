"""An agent learns to find its target in a maze; there is only one, so it needs no policy by name.

Run it:  abmarl train examples/maze_navigation_example.py  (needs abmarl[rllib])
"""

from abmarl.examples import maze_navigation
from abmarl.managers import AllStepManager


def make_sim(config=None):
    """Return the maze that ships with the package."""
    return AllStepManager(maze_navigation())


params = {
    "experiment": {
        "title": "MazeNavigation",
        "sim_creator": make_sim,
        "batched": True,
    },
    "ray_tune": {
        "run_or_experiment": "PPO",
        "checkpoint_freq": 20,
        "stop": {"timesteps_total": 500_000},
        "config": {
            "horizon": 200,
            "lr": 3e-4,
            "gamma": 0.98,
            "train_batch_size": 6_400,
            "sgd_minibatch_size": 1_600,
            "num_sgd_iter": 4,
            "num_workers": 0,
            "num_envs_per_worker": 64,
        },
    },
}
