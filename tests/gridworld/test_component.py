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
from tests.support.grid_worlds import fighter


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


class Doubled(ObserverBase):
    """Works on the arrays of all worlds."""

    key = "doubled"

    def space(self, agent):
        return Box(0, 2, (), float)

    def observe(self):
        return 2 * self.store.health


class Healed(PositionState):
    """Does what its base does, and a little more in a single world."""

    def reset(self, **kwargs):
        super().reset(**kwargs)
        for agent in self.agents.values():
            agent.health = 0.25


class Logged(MoveActor):
    """Is known to the engine, as it has a space; single agents may be asked for as well."""

    def process_action(self, agent, action_dict, **kwargs):
        return super().process_action(agent, action_dict, **kwargs)


class Stated(HealthObserver):
    """What a class says itself counts."""

    works_on = "arrays"


@pytest.mark.parametrize(
    ("component", "works_on"),
    [
        (PositionState, "kernels"),
        (HalfHealthState, "agents"),
        (Healed, "agents"),
        (MoveActor, "kernels"),
        (Logged, "kernels"),
        (RestActor, "agents"),
        (ActiveDone, "kernels"),
        (RestedDone, "agents"),
        (StrictDone, "agents"),
        (DoneBase, "arrays"),
        (HealthObserver, "agents"),
        (Doubled, "arrays"),
        (Stated, "arrays"),
        (ObserverBase, None),
    ],
)
def test_what_a_component_works_on(component, works_on):
    assert component.works_on == works_on


def test_something_else_to_work_on_is_refused():
    with pytest.raises(TypeError, match=r"Odd.works_on must be one of \['kernels', 'arrays'"):
        type("Odd", (StateBase,), {"works_on": "pencils"})


def test_a_state_may_do_more_than_its_base():
    sim = declared(states=[Healed], dones=["ActiveDone"])
    sim.reset(seed=0)
    other = declared(dones=["ActiveDone"], states=[PositionState])
    other.reset(seed=0)
    assert sim.agents["a"].health == 0.25
    assert sim.agents["a"].position.tolist() == other.agents["a"].position.tolist()


def test_arrays_serve_one_world_and_many():
    sim = declared(states=[PositionState, "HealthState"], dones=["ActiveDone"], observers=[Doubled])
    sim.reset(seed=4)
    vec = sim.vectorize(3, seed=4)
    obs, _ = vec.reset()
    (group,) = vec.groups
    assert obs[group]["doubled"][0].tolist() == [sim.get_obs(name)["doubled"] for name in "ab"]
