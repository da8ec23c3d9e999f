"""Components of one's own for single agents, as existing simulations have them."""

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from abmarl.gridworld import GridWorldSimulation, SmartGridWorldSimulation
from abmarl.gridworld.actor import ActorBase, MoveActor
from abmarl.gridworld.agent import GridObservingAgent, MovingAgent
from abmarl.gridworld.done import ActiveDone, DoneBase
from abmarl.gridworld.observer import ObserverBase
from abmarl.gridworld.state import PositionState, StateBase
from tests.gridworld.small import fighter


class HealthObserver(ObserverBase):
    """Puts its channel into the agents' spaces itself."""

    key = "health"
    supported_agent_type = GridObservingAgent

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        for agent in self.agents.values():
            if isinstance(agent, self.supported_agent_type):
                agent.observation_space[self.key] = Box(0, 1, (1,))
                agent.null_observation[self.key] = np.zeros(1)

    def get_obs(self, agent, **kwargs):
        if not isinstance(agent, self.supported_agent_type):
            return {}
        return {self.key: np.array([agent.health], np.float32)}


class RestActor(ActorBase):
    """Heals those who rest."""

    key = "rest"
    supported_agent_type = MovingAgent

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        for agent in self.agents.values():
            agent.action_space[self.key] = Discrete(2)
            agent.null_action[self.key] = 0

    def process_action(self, agent, action_dict, **kwargs):
        if action_dict.get(self.key):
            agent.health = agent.health + 0.25


class HalfHealthState(StateBase):
    """Everybody starts with half of their health."""

    def reset(self, **kwargs):
        for agent in self.agents.values():
            agent.health = 0.5


class RestedDone(DoneBase):
    """Done when in full health."""

    def get_done(self, agent, **kwargs):
        return agent.health == 1.0

    def get_all_done(self, **kwargs):
        return all(self.get_done(agent) for agent in self.agents.values())


class StrictDone(ActiveDone):
    """As another one, and a little more."""

    def get_done(self, agent, **kwargs):
        return super().get_done(agent, **kwargs) or agent.id == "b"


class RestSim(GridWorldSimulation):
    """The object style."""

    def __init__(self, **kwargs):
        self.agents, self.grid = kwargs["agents"], kwargs["grid"]
        self.states = [PositionState(**kwargs), HalfHealthState(**kwargs)]
        self.move, self.rest = MoveActor(**kwargs), RestActor(**kwargs)
        self.observer, self.done = HealthObserver(**kwargs), RestedDone(**kwargs)
        self.finalize()

    def reset(self, **kwargs):
        for state in self.states:
            state.reset(**kwargs)

    def step(self, action_dict, **kwargs):
        for name, action in action_dict.items():
            self.move.process_action(self.agents[name], action)
            self.rest.process_action(self.agents[name], action)

    def get_obs(self, agent_id, **kwargs):
        return self.observer.get_obs(self.agents[agent_id])

    def get_reward(self, agent_id, **kwargs):
        return 0

    def get_done(self, agent_id, **kwargs):
        return self.done.get_done(self.agents[agent_id])

    def get_all_done(self, **kwargs):
        return self.done.get_all_done()


def agents():
    return {name: fighter(name) for name in "ab"}


def test_in_the_object_style():
    sim = RestSim.build_sim(3, 3, agents=agents())
    sim.reset(seed=0)
    assert set(sim.agents["a"].action_space) == {"move", "rest"}
    assert sim.get_obs("a")["health"] == [0.5]
    assert sim.get_obs("a") in sim.agents["a"].observation_space
    stay = np.zeros(2, int)
    for _ in range(2):
        assert not sim.get_done("a")
        sim.step({"a": {"move": stay, "rest": 1}, "b": {"move": stay, "rest": 0}})
    assert (sim.get_done("a"), sim.get_done("b"), sim.get_all_done()) == (True, False, False)


def declared(**parameters):
    given = {
        "states": [PositionState, HalfHealthState],
        "actors": [MoveActor],
        "observers": [HealthObserver, "PositionCenteredEncodingObserver"],
        "dones": [RestedDone],
    }
    return SmartGridWorldSimulation.build_sim(3, 3, agents=agents(), **(given | parameters))


def test_in_a_declared_simulation():
    sim = declared()
    sim.reset(seed=0)
    assert set(sim.get_obs("a")) == {"health", "position_centered_encoding"}
    assert sim.get_obs("a") in sim.agents["a"].observation_space
    assert not sim.get_done("a")
    sim.agents["a"].health = 1.0
    assert (sim.get_done("a"), sim.get_done("b"), sim.get_all_done()) == (True, False, False)
    sim.agents["b"].health = 1.0
    assert sim.get_all_done()


def test_a_part_of_a_component_may_be_by_hand():
    sim = declared(dones=[StrictDone])
    sim.reset(seed=0)
    assert (sim.get_done("a"), sim.get_done("b"), sim.get_all_done()) == (False, True, False)
    sim.agents["a"].active = False
    assert sim.get_done("a")


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        ({}, "HalfHealthState"),
        ({"states": [PositionState]}, "HealthObserver"),
        ({"states": [PositionState], "observers": ["AbsolutePositionObserver"]}, "RestedDone"),
    ],
)
def test_they_cannot_be_vectorised(parts, name):
    with pytest.raises(TypeError, match=f"{name} works for single agents and worlds only"):
        declared(**parts).vectorize(2)


def test_one_that_defines_nothing_is_refused():
    class Nothing(ObserverBase):
        key = "nothing"

    with pytest.raises(TypeError, match="Nothing must define space"):
        declared(observers=[Nothing])
