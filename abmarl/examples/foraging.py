"""Foragers collect resources while hunters are after them: declared, without a class.

The scenarios are those of the chapter on emergent behaviour in Abmarl's manual: one forager, a
group of foragers, and foragers with hunters.
"""

from typing import Any

from abmarl.gridworld.actor import BinaryAttackActor, MoveActor
from abmarl.gridworld.agent import (
    AttackingAgent,
    GridObservingAgent,
    GridWorldAgent,
    MovingAgent,
)
from abmarl.gridworld.done import ActiveDone, TargetEncodingInactiveDone
from abmarl.gridworld.observer import PositionCenteredEncodingObserver
from abmarl.gridworld.smart import SmartGridWorldSimulation
from abmarl.gridworld.state import HealthState, PositionState

RESOURCE, FORAGER, HUNTER = 1, 2, 3


class Forager(MovingAgent, GridObservingAgent, AttackingAgent):
    """A forager or hunter: sees 3 cells far and moves by 1."""

    def __init__(self, attack_range: int = 1, **kwargs: Any) -> None:
        super().__init__(
            view_range=3,
            move_range=1,
            attack_range=attack_range,
            attack_strength=1.0,
            attack_accuracy=1.0,
            initial_health=1.0,
            **kwargs,
        )


def foraging(
    rows: int = 20,
    cols: int = 20,
    num_foragers: int = 1,
    num_hunters: int = 0,
    num_resources: int = 30,
) -> SmartGridWorldSimulation:
    """Build a simulation of foragers, who collect resources, and of hunters, who kill foragers.

    Foragers reach resources within 1 cell, hunters reach foragers within 2 cells.

    Rewards: +1 for a resource or a kill, -0.05 for a move that fails, -0.01 a step. Everybody
    starts on an empty cell; later, cells can be shared. The world is done when all resources are
    collected or, with hunters, when all foragers are dead.

    Args:
        rows: Rows of the grid.
        cols: Columns of the grid.
        num_foragers: How many foragers.
        num_hunters: How many hunters.
        num_resources: How many resources.
    """
    agents = {}
    for i in range(num_resources):
        name = f"resource{i}"
        agents[name] = GridWorldAgent(
            id=name, encoding=RESOURCE, initial_health=1.0, group="resource",
            render_shape="s", render_color="limegreen",
        )  # fmt: skip
    for i in range(num_foragers):
        name = f"forager{i}"
        agents[name] = Forager(id=name, encoding=FORAGER, group="forager", render_color="royalblue")
    for i in range(num_hunters):
        name = f"hunter{i}"
        agents[name] = Forager(
            id=name, encoding=HUNTER, attack_range=2, group="hunter",
            render_shape="^", render_color="firebrick",
        )  # fmt: skip
    hunted = {FORAGER: {RESOURCE}}
    if num_hunters:
        hunted[HUNTER] = {FORAGER}
    everybody = {agent.encoding for agent in agents.values()}
    return SmartGridWorldSimulation.build_sim(
        rows,
        cols,
        agents=agents,
        overlapping=dict.fromkeys(everybody, everybody),
        states=[PositionState, HealthState],
        actors=[BinaryAttackActor, MoveActor],
        observers=[PositionCenteredEncodingObserver],
        dones=[ActiveDone, TargetEncodingInactiveDone],
        rewards={"kill": 1.0, "move_failed": -0.05, "step": -0.01},
        no_overlap_at_reset=True,
        attack_mapping=hunted,
        target_mapping=hunted,
    )


def foragers_and_hunters() -> SmartGridWorldSimulation:
    """Build a simulation of eight foragers and three hunters among thirty resources on 20 x 20."""
    return foraging(num_foragers=8, num_hunters=3)
