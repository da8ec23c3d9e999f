"""From where on the grid a trained predator attacks, as a heat map.

Run it:  abmarl analyze DIR examples/predator_prey_analysis.py  (needs abmarl[rllib,render])

DIR is the results folder of predator_prey_training.py, `abmarl list` names it. The picture goes to
attacks.png in the folder in which the command is run.
"""

import numpy as np
from matplotlib.figure import Figure

EPISODES = 100


def run(sim, trainer):
    """Plays episodes and counts the attacks of one predator by the cell that it was on."""
    region = sim.sim.region
    visits, attacks = np.zeros((region, region)), np.zeros((region, region))
    policy_of = trainer.config["multiagent"]["policy_mapping_fn"]
    predator = sim.agents["predator0"]
    for episode in range(EPISODES):
        if episode % 20 == 0:
            print(f"episode {episode} of {EPISODES} ...", flush=True)
        obs = sim.reset()
        done = dict.fromkeys(obs, False)
        done["__all__"] = False
        while not done["__all__"]:
            actions = {
                agent_id: trainer.compute_action(one, policy_id=policy_of(agent_id))
                for agent_id, one in obs.items()
                if not done[agent_id]
            }
            cell = tuple(predator.position)
            visits[cell] += 1
            attacks[cell] += actions["predator0"]["attack"]
            obs, _, done, _ = sim.step(actions)
    draw(visits, attacks)


def draw(visits, attacks):
    """Show both side by side, rows from top to bottom."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    for axes, counts, title in zip(
        figure.subplots(1, 2), (visits, attacks), ("steps", "attacks"), strict=True
    ):
        image = axes.imshow(counts, cmap="viridis")
        axes.set(title=f"{title} of predator0", xlabel="column", ylabel="row")
        figure.colorbar(image, ax=axes, shrink=0.8)
    figure.savefig("attacks.png")
    print(f"attacks.png: {attacks.sum():.0f} attacks in {visits.sum():.0f} steps")
