"""Predators hunt prey, prey harvest resources: a simulation in the array style."""

from typing import Any

import numpy as np

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

RESOURCE, PREY, PREDATOR = 1, 2, 3


class ResourceAgent(GridWorldAgent):
    """Lies around until a prey harvests it; it neither sees nor acts."""

    def __init__(
        self,
        encoding: int = RESOURCE,
        initial_health: float = 1.0,
        render_color: str = "limegreen",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            encoding=encoding,
            initial_health=initial_health,
            render_color=render_color,
            render_shape=kwargs.pop("render_shape", "s"),
            **kwargs,
        )


class PreyAgent(MovingAgent, GridObservingAgent, AttackingAgent):
    """Sees 4 cells far, moves by up to 2, harvests resources within 1 cell."""

    def __init__(
        self,
        encoding: int = PREY,
        view_range: int = 4,
        move_range: int = 2,
        attack_range: int = 1,
        initial_health: float = 1.0,
        render_color: str = "royalblue",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            encoding=encoding,
            view_range=view_range,
            move_range=move_range,
            attack_range=attack_range,
            attack_strength=kwargs.pop("attack_strength", 1.0),
            attack_accuracy=kwargs.pop("attack_accuracy", 1.0),
            initial_health=initial_health,
            render_color=render_color,
            **kwargs,
        )


class PredatorAgent(MovingAgent, GridObservingAgent, AttackingAgent):
    """Sees 2 cells far, moves by 1, kills prey within 1 cell."""

    def __init__(
        self,
        encoding: int = PREDATOR,
        view_range: int = 2,
        move_range: int = 1,
        attack_range: int = 1,
        initial_health: float = 1.0,
        render_color: str = "firebrick",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            encoding=encoding,
            view_range=view_range,
            move_range=move_range,
            attack_range=attack_range,
            attack_strength=kwargs.pop("attack_strength", 1.0),
            attack_accuracy=kwargs.pop("attack_accuracy", 1.0),
            initial_health=initial_health,
            render_color=render_color,
            render_shape=kwargs.pop("render_shape", "^"),
            **kwargs,
        )


class PredatorPreyResourcesSim(SmartGridWorldSimulation):
    """Predators attack prey and prey attack resources; then everybody moves.

    Rewards: a predator +1 per prey killed, a prey +0.5 per resource harvested and -1 when killed;
    both -0.1 for an attack without a hit and for a failed move, and -0.01 a step. An agent is
    done when it is dead or nothing that it is after is left; the world is done as soon as there
    is no prey or no resource.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            states=(PositionState, HealthState),
            actors=(BinaryAttackActor, MoveActor),
            observers=(PositionCenteredEncodingObserver,),
            dones=(ActiveDone, TargetEncodingInactiveDone),
            rewards={"step": -0.01},
            attack_mapping={PREDATOR: {PREY}, PREY: {RESOURCE}},
            target_mapping={PREDATOR: {PREY}, PREY: {RESOURCE}},
            **kwargs,
        )
        # What a kill is worth, per agent.
        self.worth = np.where(self.store.encodings == PREDATOR, 1.0, 0.5)

    def step_batch(self, actions: Any) -> None:
        """Apply the attacks of all agents, then the moves of all agents."""
        attack = self.actors["attack"].process(actions)
        moved = self.actors["move"].process(actions)
        rewards = self.store.rewards
        rewards += self.worth * attack.kills
        rewards[attack.killed] -= 1.0
        rewards[attack.attempted & (attack.hits == 0)] -= 0.1
        rewards[moved == 0] -= 0.1


def predator_prey_resources() -> PredatorPreyResourcesSim:
    """Build a simulation of three predators, ten prey and twenty resources on 12 x 16."""
    agents = [
        *(ResourceAgent(id=f"resource{i}", group="resource") for i in range(20)),
        *(PreyAgent(id=f"prey{i}", group="prey") for i in range(10)),
        *(PredatorAgent(id=f"predator{i}", group="predator") for i in range(3)),
    ]
    return PredatorPreyResourcesSim.build_sim(
        12,
        16,
        agents={agent.id: agent for agent in agents},
        overlapping={RESOURCE: {PREY, PREDATOR}, PREY: {PREY}, PREDATOR: {PREDATOR}},
    )
