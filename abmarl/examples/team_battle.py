"""Team battle: teams of agents move over a grid and attack one another until one team is left."""

from typing import Any

from abmarl.gridworld.actor import BinaryAttackActor, MoveActor
from abmarl.gridworld.agent import AttackingAgent, GridObservingAgent, MovingAgent
from abmarl.gridworld.done import OneTeamRemainingDone
from abmarl.gridworld.observer import PositionCenteredEncodingObserver
from abmarl.gridworld.smart import SmartGridWorldSimulation
from abmarl.gridworld.state import HealthState, PositionState

REWARDS = {"attack_missed": -0.1, "kill": 1.0, "killed": -1.0, "move_failed": -0.1, "step": -0.01}
TEAMS = {"red": (1, 1), "blue": (1, 6), "green": (6, 1), "gray": (6, 6)}


class BattleAgent(MovingAgent, GridObservingAgent, AttackingAgent):
    """Sees 3 cells far, moves by 1, kills whom it hits within 1 cell."""

    def __init__(
        self,
        view_range: int = 3,
        move_range: int = 1,
        attack_range: int = 1,
        attack_strength: float = 1.0,
        attack_accuracy: float = 1.0,
        initial_health: float = 1.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            view_range=view_range,
            move_range=move_range,
            attack_range=attack_range,
            attack_strength=attack_strength,
            attack_accuracy=attack_accuracy,
            initial_health=initial_health,
            **kwargs,
        )


class TeamBattleSim(SmartGridWorldSimulation):
    """In a step all attacks come first, then all moves; the world is done when one team is left.

    Rewards: an attack without a hit -0.1, a kill +1, being killed -1, a failed move -0.1, and
    -0.01 a step for every agent that acts.

    Args:
        attack_mapping: ``{encoding: encodings}``: who attacks whom.
        **kwargs: See ``SmartGridWorldSimulation``; components and rewards can be replaced.
    """

    def __init__(
        self,
        states: Any = (PositionState, HealthState),
        actors: Any = (BinaryAttackActor, MoveActor),
        observers: Any = (PositionCenteredEncodingObserver,),
        dones: Any = (OneTeamRemainingDone,),
        rewards: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            states=states,
            actors=actors,
            observers=observers,
            dones=dones,
            rewards=REWARDS if rewards is None else rewards,
            **kwargs,
        )


def team_battle() -> TeamBattleSim:
    """Build a simulation of four teams of six on 8 x 8.

    A team starts on one cell and shares cells with itself only.
    """
    agents = {}
    for i in range(24):
        team = i % 4
        name, start = list(TEAMS.items())[team]
        agents[f"agent{i}"] = BattleAgent(
            id=f"agent{i}",
            encoding=team + 1,
            initial_position=start,
            group=name,
            render_color=name,
        )
    return TeamBattleSim.build_sim(
        8,
        8,
        agents=agents,
        overlapping={team: {team} for team in (1, 2, 3, 4)},
        attack_mapping={team: {1, 2, 3, 4} - {team} for team in (1, 2, 3, 4)},
    )
