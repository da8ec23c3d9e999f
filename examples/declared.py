"""A simulation without a class: components and rewards are declared.

Run it:  abmarl rollout examples/declared.py --record guards.gif  (needs abmarl[render])
"""

import numpy as np

from abmarl.gridworld import (
    AttackingAgent,
    Field,
    GridObservingAgent,
    GridWorldAgent,
    MovingAgent,
    SmartGridWorldSimulation,
)

GUARD, THIEF, WALL = 1, 2, 3


class Runner(MovingAgent, GridObservingAgent, AttackingAgent):
    """A guard or a thief. The field is an attribute of the agent and an array of the store."""

    bruises = Field(np.int32)


def close_to_a_wall(position):
    """Return rewards [B, N]; the parameters of a reward rule name arrays of the store."""
    row, col = position[..., 0], position[..., 1]
    edge = (row == 0) | (row == 8) | (col == 0) | (col == 11)
    return np.where(edge, -0.005, 0.0)


def make_sim():
    """Two guards chase five thieves on 9 x 12; walls hide what is behind them."""
    ability = {"view_range": 4, "move_range": 1, "attack_range": 1, "initial_health": 1.0}
    agents = {}
    for i in range(2):
        agents[f"guard{i}"] = Runner(
            id=f"guard{i}", encoding=GUARD, group="guard", render_color="royalblue",
            attack_strength=0.5, attack_accuracy=0.8, **ability,
        )  # fmt: skip
    for i in range(5):
        agents[f"thief{i}"] = Runner(
            id=f"thief{i}", encoding=THIEF, group="thief", render_color="goldenrod",
            attack_strength=0.1, attack_accuracy=0.5, **ability,
        )  # fmt: skip
    for col in range(3, 9):
        agents[f"wall{col}"] = GridWorldAgent(
            id=f"wall{col}", group="wall", encoding=WALL, blocking=True, initial_position=(4, col),
            initial_health=1.0, render_shape="s", render_color="dimgray",
        )  # fmt: skip
    return SmartGridWorldSimulation.build_sim(
        9,
        12,
        agents=agents,
        states=["PositionState", "HealthState"],
        actors=["BinaryAttackActor", "MoveActor"],
        observers=["PositionCenteredEncodingObserver"],
        dones=["OneTeamRemainingDone"],
        attack_mapping={GUARD: {THIEF}, THIEF: {GUARD}},
        ignore_encodings={WALL},
        rewards={"kill": 1.0, "killed": -1.0, "step": -0.01, "close_to_a_wall": close_to_a_wall},
    )
