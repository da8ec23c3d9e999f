"""Code as people have it who used Abmarl before: old import paths, agent by agent, from a map."""

import re
import warnings
from abc import ABC, abstractmethod

import numpy as np
import pytest

from abmarl.examples import BattleAgent, TeamBattleSim
from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.sim import Agent, AgentBasedSimulation, PrincipleAgent, check_simulation
from abmarl.sim.gridworld.actor import BinaryAttackActor, MoveActor
from abmarl.sim.gridworld.agent import (
    AttackingAgent,
    GridObservingAgent,
    GridWorldAgent,
    MovingAgent,
)
from abmarl.sim.gridworld.base import GridWorldSimulation
from abmarl.sim.gridworld.done import ActiveDone
from abmarl.sim.gridworld.grid import Grid
from abmarl.sim.gridworld.observer import PositionCenteredEncodingObserver
from abmarl.sim.gridworld.registry import register
from abmarl.sim.gridworld.smart import SmartGridWorldSimulation
from abmarl.sim.gridworld.state import HealthState, PositionState


class Digger(MovingAgent, GridObservingAgent, AttackingAgent):
    """Digs its way through walls."""


REGISTRY = {
    "D": lambda n: Digger(
        id=f"digger{n}", encoding=1, view_range=2, move_range=1, attack_range=1,
        attack_strength=1, attack_accuracy=1, initial_health=1,
    ),
    "W": lambda n: GridWorldAgent(
        id=f"wall{n}", encoding=2, blocking=True, initial_health=1, render_shape="s"
    ),
}  # fmt: skip
MAP = "D W . W 0\n_ W W . D\n"


class DigSim(GridWorldSimulation):
    """A point for every wall that is dug away."""

    def __init__(self, **kwargs):
        self.agents = kwargs["agents"]
        self.position_state = PositionState(**kwargs)
        self.health_state = HealthState(**kwargs)
        self.move_actor = MoveActor(**kwargs)
        self.attack_actor = BinaryAttackActor(**kwargs)
        self.observer = PositionCenteredEncodingObserver(**kwargs)
        self.done = ActiveDone(**kwargs)
        self.finalize()

    def reset(self, **kwargs):
        self.position_state.reset(**kwargs)
        self.health_state.reset(**kwargs)
        self.rewards = dict.fromkeys(self.agents, 0)

    def step(self, action_dict, **kwargs):
        for agent_id, action in action_dict.items():
            attempted, dug = self.attack_actor.process_action(self.agents[agent_id], action)
            self.rewards[agent_id] += len(dug) - 0.1 * (attempted and not dug)
        for agent_id, action in action_dict.items():
            if not self.move_actor.process_action(self.agents[agent_id], action):
                self.rewards[agent_id] -= 0.1

    def get_obs(self, agent_id, **kwargs):
        return self.observer.get_obs(self.agents[agent_id])

    def get_reward(self, agent_id, **kwargs):
        reward, self.rewards[agent_id] = self.rewards[agent_id], 0
        return reward

    def get_done(self, agent_id, **kwargs):
        return self.done.get_done(self.agents[agent_id])

    def get_all_done(self, **kwargs):
        return not any(one.active for one in self.agents.values() if one.encoding == 2)


@pytest.fixture
def dig_sim(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text(MAP)
    return DigSim.build_sim_from_file(path, REGISTRY, attack_mapping={1: [2]})


def test_a_map_is_dug_away(dig_sim):
    sim = AllStepManager(dig_sim)
    obs = sim.reset(seed=1)
    window = obs["digger0"]["position_centered_encoding"]
    assert window.tolist() == [
        [-1, -1, -1, -1, -1],
        [-1, -1, -1, -1, -2],
        [-1, -1, 1, 2, -2],
        [-1, -1, 0, 2, -2],
        [-1, -1, -1, -2, -2],
    ]
    assert sim.sim.to_map() == MAP.translate(str.maketrans("0_", ".."))
    dig = {agent_id: {"attack": 1, "move": np.array([0, 0])} for agent_id in obs}
    _, reward, done, info = sim.step(dig)
    assert reward == {"digger0": 1, "digger5": 1}
    assert done == {"digger0": False, "digger5": False, "__all__": False}
    assert info == {"digger0": {}, "digger5": {}}
    _, reward, done, _ = sim.step(dig)
    assert reward == {"digger0": 1, "digger5": -0.1}
    assert sim.sim.to_map().count("W") == 1


def test_it_keeps_to_the_rules(dig_sim):
    assert check_simulation(dig_sim, num_steps=40).vector_steps == 0


def test_it_is_not_vectorised(dig_sim):
    with pytest.raises(TypeError, match="DigSim handles actions one by one in step"):
        dig_sim.vectorize(2)


def test_a_grid_filled_by_hand():
    grid = Grid(2, 3, overlapping={1: {1}})
    for number, cell in enumerate([(0, 0), (0, 0), (1, 2)]):
        assert grid.place(REGISTRY["D"](number), cell)
    sim = DigSim.build_sim_from_grid(
        grid, extra_agents={"wall0": REGISTRY["W"](0)}, attack_mapping={1: 2}
    )
    sim.reset(seed=3)
    assert list(sim.agents) == ["digger0", "digger1", "digger2", "wall0"]
    assert sorted(sim.grid[0, 0]) == ["digger0", "digger1"]


def test_registered_components_of_users():
    @register
    class WhereAmI(PositionCenteredEncodingObserver):
        key = "around_me"

    sim = SmartGridWorldSimulation.build_sim_from_array(
        np.array([["D", "0", "W"]]),
        REGISTRY,
        states={"PositionState", "HealthState"},
        observers={"WhereAmI"},
        dones={"ActiveDone"},
    )
    sim.reset()
    assert list(sim.get_obs("digger0")) == ["around_me"]


def test_team_battle_as_the_documents_build_it():
    agents = {
        f"agent{i}": BattleAgent(id=f"agent{i}", encoding=i % 2 + 1, render_color="rb"[i % 2])
        for i in range(6)
    }
    sim = AllStepManager(
        TeamBattleSim.build_sim(
            3, 5, agents=agents, overlapping={1: [1], 2: [2]}, attack_mapping={1: [2], 2: [1]}
        )
    )
    obs = sim.reset()
    while obs:
        live = [agent_id for agent_id in obs if sim.agents[agent_id].active]
        actions = {agent_id: sim.agents[agent_id].action_space.sample() for agent_id in live}
        obs, _, done, _ = sim.step(actions)
        if done["__all__"]:
            break
    assert len({agent.encoding for agent in agents.values() if agent.active}) <= 1


@pytest.fixture
def gym_spaces():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("gym").spaces


def queue_class(spaces):
    class Queue(AgentBasedSimulation):
        """Who is last in the queue may go to its head."""

        def __init__(self, size=4):
            self.agents = {
                f"agent{i}": Agent(
                    id=f"agent{i}",
                    action_space=spaces.Discrete(2),
                    observation_space={
                        "place": spaces.Box(0, size - 1, (1,), int),
                        "last": spaces.MultiBinary(1),
                    },
                )
                for i in range(size)
            }
            self.finalize()

        def reset(self, **kwargs):
            self.queue = list(self.agents)
            self.reward = dict.fromkeys(self.agents, 0)
            for place, agent_id in enumerate(self.queue):
                self.agents[agent_id].place = place

        def step(self, action_dict, **kwargs):
            for agent_id, action in action_dict.items():
                if action and self.queue[-1] == agent_id:
                    self.queue = [agent_id, *self.queue[:-1]]
                    self.reward[agent_id] += 1
            for place, agent_id in enumerate(self.queue):
                self.agents[agent_id].place = place

        def get_obs(self, agent_id, **kwargs):
            return {
                "place": [self.agents[agent_id].place],
                "last": [self.queue[-1] == agent_id],
            }

        def get_reward(self, agent_id, **kwargs):
            reward, self.reward[agent_id] = self.reward[agent_id], 0
            return reward

        def get_done(self, agent_id, **kwargs):
            return False

        def get_all_done(self, **kwargs):
            return False

        def get_info(self, agent_id, **kwargs):
            return {}

        def render(self, **kwargs):
            pass

    return Queue


def test_a_simulation_with_spaces_of_gym(gym_spaces):
    sim = queue_class(gym_spaces)()
    assert check_simulation(sim, num_steps=30).steps == 90
    manager = TurnBasedManager(sim)
    assert manager.reset() == {"agent0": {"place": [0], "last": [False]}}
    for number in range(3):
        obs, _, _, _ = manager.step({f"agent{number}": 1})
        assert list(obs) == [f"agent{number + 1}"]
    obs, reward, _, _ = manager.step({"agent3": 1})
    assert (obs, reward) == ({"agent0": {"place": [1], "last": [False]}}, {"agent0": 0})
    assert sim.get_reward("agent3") == 1


class Walker(PrincipleAgent, ABC):
    """An abstract agent that says itself whether it is configured."""

    @abstractmethod
    def __init__(self, speed=None, **kwargs):
        super().__init__(**kwargs)
        self.speed = speed

    @property
    def configured(self):
        return super().configured and self.speed is not None


class Hiker(Walker):
    def __init__(self, food=None, **kwargs):
        super().__init__(**kwargs)
        self.food = food

    @property
    def configured(self):
        return super().configured and self.food is not None


def test_agents_that_say_themselves_whether_they_are_configured():
    assert Hiker(id="a", speed=1, food=2).configured
    assert not Hiker(id="a", speed=1).configured
    message = "agent 'a' (Hiker) is not configured: speed missing"
    with pytest.raises(ValueError, match=re.escape(message)):
        Hiker(id="a", food=2).finalize()
