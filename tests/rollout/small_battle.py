"""A battle on 3 x 5 with a wall, to be played with any actors."""

from abmarl.gridworld.actor import BinaryAttackActor, MoveActor
from abmarl.gridworld.agent import (
    AttackingAgent,
    GridObservingAgent,
    GridWorldAgent,
    MovingAgent,
    OrientationAgent,
)
from abmarl.gridworld.done import ActiveDone, OneTeamRemainingDone
from abmarl.gridworld.observer import PositionCenteredEncodingObserver
from abmarl.gridworld.smart import SmartGridWorldSimulation
from abmarl.gridworld.state import HealthState, OrientationState, PositionState


class Fighter(MovingAgent, GridObservingAgent, AttackingAgent, OrientationAgent):
    pass


#     . . . . .
#     . r . b #
#     . . b . .
STARTS = {"red0": (1, 1), "blue0": (1, 3), "blue1": (2, 2), "wall": (1, 4)}


def fighter(name, **kwargs):
    kind = name[:-1]
    parameters = {
        "move_range": 2, "view_range": 2, "attack_range": 2, "attack_strength": 1.0,
        "attack_accuracy": 1.0, "initial_health": 1.0, "initial_orientation": 1,
    }  # fmt: skip
    return Fighter(
        id=name, encoding={"red": 1, "blue": 2}[kind], group=kind, render_color=kind,
        initial_position=STARTS[name], **(parameters | kwargs),
    )  # fmt: skip


def small_battle(actors=(BinaryAttackActor, MoveActor), **kwargs):
    """Agents start in their places; ``kwargs`` are parameters of the red one."""
    agents = [
        fighter("red0", **kwargs),
        fighter("blue0"),
        GridWorldAgent(
            id="wall", encoding=3, initial_position=STARTS["wall"], blocking=True,
            initial_health=1.0, render_shape="s",
        ),
        fighter("blue1"),
    ]  # fmt: skip
    fight = any("Attack" in repr(actor) for actor in actors)
    hostile = {"attack_mapping": {1: {2}, 2: {1}}, "ignore_encodings": {3}} if fight else {}
    rewards = {"kill": 1.0, "killed": -1.0, "attack_missed": -0.1} if fight else {}
    return SmartGridWorldSimulation.build_sim(
        3, 5,
        agents={agent.id: agent for agent in agents},
        states=[PositionState, HealthState, OrientationState],
        actors=list(actors),
        observers=[PositionCenteredEncodingObserver],
        dones=[OneTeamRemainingDone if fight else ActiveDone],
        rewards={"step": -0.01, **rewards},
        **hostile,
    )  # fmt: skip


def one_world(actors=(BinaryAttackActor, MoveActor), seed=0, horizon=None, **kwargs):
    """One world of it that people can play."""
    sim = small_battle(actors, **kwargs)
    return sim.vectorize(num_envs=1, seed=seed, horizon=horizon, autoreset=False, copy=True)
