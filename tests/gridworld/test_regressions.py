"""One test per past bug."""

import numpy as np
import pytest
from gymnasium.spaces import MultiDiscrete

from abmarl.gridworld import (
    GridWorldSimulation,
    HealthState,
    MovingAgent,
    PositionState,
    SmartGridWorldSimulation,
)
from abmarl.gridworld.actor import ActorBase
from abmarl.gridworld.agent import AttackingAgent
from tests.support.grid_worlds import build, fighter


def test_an_agent_without_a_cell_neither_moves_nor_hits():
    # Cell 0 lies in the corner of the padding: a step up from it left the arrays.
    sim = build([fighter("a"), fighter("b")])
    agent = sim.agents["a"]
    assert sim.actors["move"].process_action(agent, {"move": np.array([-1, -1])}) is False
    assert sim.actors["attack"].process_action(agent, {"attack": 1}) == (True, [])


def test_health_may_be_reset_before_positions():
    class Sim(GridWorldSimulation):
        def __init__(self, **kwargs):
            self.agents = kwargs["agents"]
            self.health, self.position = HealthState(**kwargs), PositionState(**kwargs)
            self.finalize()

        def reset(self, **kwargs):
            self.health.reset(**kwargs)
            self.position.reset(**kwargs)

        step = get_obs = get_reward = get_done = get_all_done = None

    agents = {"a": fighter("a", initial_health=0.25)}
    sim = Sim.build_sim(3, 5, agents=agents)
    sim.reset(seed=1)
    assert sim.agents["a"].health == 0.25


class Lever(ActorBase):
    """Agents of one class with spaces of different sizes."""

    key = "pull"
    supported_agent_type = MovingAgent

    def space(self, agent):
        return MultiDiscrete([3] * agent.levers)

    def null(self, agent):
        return np.zeros(agent.levers, int)

    def run(self, turns, num_turns, flat, rows_of, fresh):
        return None


def test_a_group_has_one_space_per_channel():
    # The rows of the group were as long as those of its first agent.
    agents = {}
    for name, levers in (("a", 1), ("b", 5000)):
        agents[name] = fighter(name)
        agents[name].levers = levers
    sim = SmartGridWorldSimulation.build_sim(
        3, 5, agents=agents, states=[PositionState], actors=[Lever],
        observers=["PositionCenteredEncodingObserver"], dones=["ActiveDone"],
    )  # fmt: skip
    with pytest.raises(ValueError, match="have different spaces on channel 'pull'"):
        sim.vectorize(2)


def test_a_failed_build_leaves_the_agents_free():
    agents = {"a": fighter("a")}
    with pytest.raises(ValueError, match="There is no done component"):
        SmartGridWorldSimulation.build_sim(3, 5, agents=agents, dones=["Never"])
    sim = SmartGridWorldSimulation.build_sim(3, 5, agents=agents, states=[PositionState])
    assert sim.agents["a"] is agents["a"]


def test_an_agent_that_does_not_fit_a_grid_disturbs_nobody():
    sim = build([fighter("a", at=(1, 1))])
    sim.reset(seed=0)
    with pytest.raises(ValueError, match="Another agent with the id 'a'"):
        sim.grid.place(fighter("a"), (0, 0))
    with pytest.raises(ValueError, match="has no encoding"):
        sim.grid.place(AttackingAgent(id="c"), (0, 0))
    assert list(sim.grid[1, 1]) == ["a"]
