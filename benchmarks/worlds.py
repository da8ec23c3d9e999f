"""The worlds that are measured: team battles of every size, played with random actions."""

from itertools import pairwise

import numpy as np

from abmarl.examples import BattleAgent, TeamBattleSim
from abmarl.gridworld.actor import BinaryAttackActor, DriftMoveActor, MoveActor
from abmarl.gridworld.agent import (
    GridObservingAgent,
    GridWorldAgent,
    MovingAgent,
    OrientationAgent,
)
from abmarl.gridworld.done import TargetAgentOverlapDone
from abmarl.gridworld.observer import PositionCenteredEncodingObserver
from abmarl.gridworld.smart import SmartGridWorldSimulation
from abmarl.gridworld.state import MazePlacementState, OrientationState
from abmarl.managers import AllStepManager

TEAMS = (1, 2, 3, 4)
WALL = 5
POOL = 8
HORIZON = 200


def battle(rows=8, cols=8, num_agents=24, corners=True, walls=0, blocking=False, attack_range=1,
           observers=(PositionCenteredEncodingObserver,), attacks=BinaryAttackActor,
           kind=TeamBattleSim, view_range=3):  # fmt: skip
    """Return a team battle: four teams, a cell is shared within a team only.

    Args:
        rows: Rows of the grid.
        cols: Columns of the grid.
        num_agents: How many fighters, a quarter of them in every team.
        corners: Whether a team starts on one cell near its corner, else on random cells.
        walls: How many agents that only stand around, on random cells.
        blocking: Whether those hide what is behind them.
        attack_range: How far the fighters reach.
        observers: What the fighters see.
        attacks: How they attack: an actor, see ``SmartGridWorldSimulation``.
        kind: The class of the simulation; one in the object style has its own components.
        view_range: How far the fighters see.
    """
    starts = [(1, 1), (1, cols - 2), (rows - 2, 1), (rows - 2, cols - 2)]
    agents = {}
    for i in range(num_agents):
        start = {"initial_position": starts[i % 4]} if corners else {}
        agents[f"agent{i}"] = BattleAgent(
            id=f"agent{i}",
            encoding=TEAMS[i % 4],
            attack_range=attack_range,
            view_range=view_range,
            **start,
        )
    for i in range(walls):
        agents[f"wall{i}"] = GridWorldAgent(id=f"wall{i}", encoding=WALL, blocking=blocking)
    parameters = {"actors": (attacks, MoveActor), "observers": observers}
    if kind is not TeamBattleSim:
        parameters = {}
    return kind.build_sim(
        rows,
        cols,
        agents=agents,
        overlapping={team: {team} for team in TEAMS},
        attack_mapping={team: set(TEAMS) - {team} for team in TEAMS},
        **parameters,
        ignore_encodings={WALL} if walls else set(),
    )


def crowd(num_agents, **kwargs):
    """Return a team battle on random cells of a grid of which a tenth is taken."""
    side = round((num_agents * 10) ** 0.5)
    return battle(side, side, num_agents, corners=False, **kwargs)


def field():
    """Return a battle of 162 fighters on random cells of 45 x 45, who see windows of 13 x 13."""
    return battle(45, 45, 162, corners=False, view_range=6)


class RunnerAgent(MovingAgent, GridObservingAgent, OrientationAgent):
    """Sees 3 cells far and drifts."""


def chase(side=8, runners=15, barriers=8, placement=MazePlacementState, ordered=False):
    """Runners drift through a maze, or between barriers, to a target; 24 agents by default.

    Args:
        side: Rows and columns of the grid.
        runners: How many runners.
        barriers: How many barriers.
        placement: The state component that places them.
        ordered: Whether barriers are close to the target and runners far from it.
    """
    agents = {"target": GridWorldAgent(id="target", encoding=1)}
    for i in range(barriers):
        agents[f"barrier{i}"] = GridWorldAgent(id=f"barrier{i}", encoding=2)
    for i in range(runners):
        agents[f"runner{i}"] = RunnerAgent(id=f"runner{i}", encoding=3, view_range=3, move_range=1)
    return SmartGridWorldSimulation.build_sim(
        side,
        side,
        agents=agents,
        overlapping={3: {1, 3}},
        states=[placement, OrientationState],
        actors=[DriftMoveActor],
        observers=[PositionCenteredEncodingObserver],
        dones=[TargetAgentOverlapDone],
        rewards={"move_failed": -0.1, "step": -0.01},
        target_agent="target",
        barrier_encodings=2,
        free_encodings=3,
        cluster_barriers=ordered,
        scatter_free_agents=ordered,
        target_mapping={f"runner{i}": "target" for i in range(runners)},
    )


def action_pool(vec) -> list:
    """Random actions for several steps, made beforehand."""
    return [
        {
            name: {key: part.copy() for key, part in channels.items()}
            for name, channels in one.items()
        }
        for one in (vec.sample_actions() for _ in range(POOL))
    ]


def action_dicts(sim) -> list:
    """Return the same for one world, by agent."""
    vec = sim.vectorize(1, seed=0)
    vec.reset()
    return [
        {
            agent_id: {key: _plain(part[0, k]) for key, part in channels.items()}
            for name, channels in actions.items()
            for k, agent_id in enumerate(vec.groups[name].agent_ids)
        }
        for actions in action_pool(vec)
    ]


class Play:
    """A vectorised simulation in the middle of its episodes.

    Args:
        sim: The simulation to multiply.
        num_envs: How many worlds.
        warm_up: Steps to play first.
        stagger: Whether to start the worlds one after another meanwhile, so that they are at every
            stage of an episode and one step costs as much as the next.
        kwargs: For ``sim.vectorize``.

    Attributes:
        vec: The vectorised simulation.
        active: Agents that act in a step, on average of the warm-up.
    """

    def __init__(self, sim, num_envs, warm_up=HORIZON, stagger=True, **kwargs):
        self.vec = sim.vectorize(num_envs, **{"seed": 0, "horizon": HORIZON, **kwargs})
        self.vec.reset()
        self.pool = action_pool(self.vec)
        self._count = 0
        bounds = np.linspace(0, num_envs, warm_up + 1).astype(int)
        for low, high in pairwise(bounds):
            if stagger and 0 < low < high:
                self.vec.reset(worlds=np.arange(low, high))
            self.step()
        self.active = self.acting()
        if num_envs == 1 and warm_up > 1:
            counts = []
            for _ in range(warm_up):
                counts.append(self.acting())
                self.step()
            self.active = float(np.mean(counts))

    def acting(self) -> int:
        """How many agents act in the next step."""
        return int(np.count_nonzero(self.vec.episodes.alive))

    def step(self) -> int:
        """One step; returns how many agents acted."""
        acting = self.acting()
        self._count += 1
        self.vec.step(self.pool[self._count % POOL])
        return acting


class SinglePlay:
    """One world played through ``AllStepManager``, with dicts in and out.

    Args:
        sim: The simulation.
        like: One with the same agents that vectorises, if ``sim`` does not.
    """

    def __init__(self, sim, like=None):
        self.manager = AllStepManager(sim)
        self._pool = action_dicts(like or sim)
        self._count = 0
        self.reset(seed=0)

    def reset(self, **kwargs):
        """Start an episode."""
        self._live = list(self.manager.reset(**kwargs))
        self._length = 0

    def step(self) -> int:
        """One step, and a reset where it ends the episode; returns how many agents acted."""
        chosen = self._pool[self._count % POOL]
        self._count += 1
        self._length += 1
        acting = len(self._live)
        actions = {agent_id: chosen[agent_id] for agent_id in self._live}
        obs, _, dones, _ = self.manager.step(actions)
        if dones["__all__"] or self._length == HORIZON:
            self.reset()
        elif any(dones.values()):
            self._live = [agent_id for agent_id in obs if not dones[agent_id]]
        return acting

    def episodes(self, count=4, steps=50) -> int:
        """Play the starts of a few episodes, always the same, and return how many acted."""
        acted = 0
        for world in range(count):
            self.reset(seed=(0, world))
            acted += sum(self.step() for _ in range(steps))
        return acted


def _plain(value):
    return int(value) if value.ndim == 0 else value.astype(int)
