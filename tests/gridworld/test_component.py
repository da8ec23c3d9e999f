"""Components of one's own: what they work on, and that each way of writing one plays the same."""

import numba
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from abmarl.gridworld import GridWorldSimulation, SmartGridWorldSimulation
from abmarl.gridworld.actor import ActorBase, MoveActor
from abmarl.gridworld.agent import GridObservingAgent, MovingAgent
from abmarl.gridworld.done import ActiveDone, DoneBase
from abmarl.gridworld.observer import AbsolutePositionObserver, ObserverBase
from abmarl.gridworld.registry import register
from abmarl.gridworld.state import PositionState, StateBase
from abmarl.kernels.episode import fill_worlds
from abmarl.kernels.program import Call
from abmarl.kernels.turns import action_of, has_action
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


# --- one rule per role, written in three ways ---


@register
class HalfByKernels(StateBase):
    def calls(self, worlds):
        half = np.full(self.store.num_agents, 0.5)
        return [Call(fill_worlds, worlds, self.store.health, half)]


@register
class HalfByArrays(StateBase):
    def start(self, worlds):
        self.store.health[worlds] = 0.5


@register
class HalfByAgents(HalfHealthState):
    """Of the object style, by name."""


@numba.njit
def rest(world, turns):
    """Heal who rests."""
    for b in range(turns.order.shape[0]):
        for i in turns.order[b, : turns.num_turns[b]]:
            if world.active[b, i] and has_action(turns, i):
                world.health[b, i] += 0.25 * turns.actions[action_of(turns, b, i)]


@register
class RestByArrays(ActorBase):
    key = "rest"
    supported_agent_type = MovingAgent

    def space(self, agent):
        return Discrete(2)

    def null(self, agent):
        return 0

    def run(self, turns, num_turns, flat, rows_of, fresh):
        for b in range(len(turns)):
            for i in turns[b, : num_turns[b]]:
                if self.store.active[b, i] and rows_of[i, 0] >= 0:
                    self.store.health[b, i] += 0.25 * flat[rows_of[i, 0] + b * rows_of[i, 1]]


@register
class RestByKernels(RestByArrays):
    outcome = None

    def calls(self, turns):
        return [Call(rest, self.store.world, turns)]


@register
class RestByAgents(RestActor):
    """Of the object style, by name."""


@numba.njit
def write_health(world, views, slots):
    """Write health as observations; ``views`` are the parameters of ``write``."""
    worlds, flat, rows_of, _ = views
    for b in worlds:
        if b < 0:
            return
        for i in slots:
            flat[rows_of[i, 0] + b * rows_of[i, 1]] = world.health[b, i]


@register
class HealthByArrays(ObserverBase):
    key = "health"

    def space(self, agent):
        return Box(0, 1, (1,))

    def observe(self):
        return self.store.health[:, :, None]


@register
class HealthByKernels(HealthByArrays):
    def calls(self, *views):
        return [Call(write_health, self.store.world, views, self.layout.slots)]


@register
class HealthByAgents(HealthObserver):
    """Of the object style, by name."""


@numba.njit
def rested(world, agents_done, worlds_done):
    """Find who is in full health, and where all are."""
    for b in range(len(worlds_done)):
        agents_done[b] = world.health[b] == 1
        worlds_done[b] = agents_done[b].all()


@register
class RestedByKernels(DoneBase):
    def calls(self):
        return [Call(rested, self.store.world, self.agents_done, self.worlds_done)]


@register
class RestedByArrays(DoneBase):
    def done(self):
        return self.store.health == 1

    def all_done(self):
        return self.done().all(axis=1)


@register
class RestedByAgents(RestedDone):
    """Of the object style, by name."""


class Agentwise(SmartGridWorldSimulation):
    """A step agent by agent, for whichever way the actor is written in."""

    def step(self, action_dict, **kwargs):
        for name, action in action_dict.items():
            self.actors["rest"].process_action(self.agents[name], action)


ROLES = {"states": "Half", "actors": "Rest", "observers": "Health", "dones": "Rested"}
RESTING = [{"a": 1, "b": 0}, {"a": 1, "b": 1}, {"b": 1}]  # a is done after the second step
HEALTH = [[0.5, 0.5], [0.75, 0.5], [1.0, 0.75], [1.0, 1.0]]


def clinic(kind=SmartGridWorldSimulation, by_name=True, **written):
    """A simulation whose components work on arrays, but for ``{parameter: way}``."""
    given = {role: f"{name}By{written.get(role, 'Arrays')}" for role, name in ROLES.items()}
    given = {role: name if by_name else globals()[name] for role, name in given.items()}
    parts = {role: [component] for role, component in given.items()}
    parts["states"].append("PositionState")
    return kind.build_sim(3, 5, agents=agents(), **parts)


@pytest.mark.parametrize("by_name", [False, True], ids=["class", "name"])
@pytest.mark.parametrize("way", ["Kernels", "Arrays", "Agents"])
@pytest.mark.parametrize("role", ROLES)
def test_a_role_in_each_way(role, way, by_name):
    by_agents = way == "Agents"
    sims = [clinic(Agentwise, by_name, **{role: way})]
    if (role, way) != ("actors", "Agents"):
        sims.append(clinic(SmartGridWorldSimulation, by_name, **{role: way}))
    parts = [part for one in (sims[0].states, sims[0].dones, sims[0].observers) for part in one]
    ways = [part.works_on for part in (*parts, sims[0].actors["rest"])]
    assert way.lower() in ways
    assert ("agents" in ways) == by_agents
    for sim in sims:
        for _ in range(2):
            sim.reset(seed=0)
            for step, health in enumerate(HEALTH):
                if step:
                    chosen = RESTING[step - 1].items()
                    sim.step({name: {"rest": action} for name, action in chosen})
                seen, _, dones, _ = sim.get_outputs(["a", "b"])
                assert [sim.get_obs(name)["health"] for name in "ab"] == health
                assert [seen[name]["health"] for name in "ab"] == health
                assert list(dones.values()) == [one == 1 for one in health]
                assert sim.get_all_done() == (health == [1, 1])
    if by_agents:
        with pytest.raises(TypeError, match=r"ByAgents works for single agents and worlds only"):
            clinic(SmartGridWorldSimulation, by_name, **{role: way}).vectorize(2)
        return
    vec = sims[1].vectorize(3, seed=0, autoreset=False)
    (group,) = vec.groups
    for _ in range(2):
        obs, _ = vec.reset()
        assert obs[group]["health"][..., 0].tolist() == [HEALTH[0]] * 3
        for before, chosen, health in zip(HEALTH, RESTING, HEALTH[1:], strict=False):
            rows = [[chosen.get(name, 0) for name in "ab"]] * 3
            obs, _, terminated, *_ = vec.step({group: {"rest": np.array(rows)}})
            assert obs[group]["health"][..., 0].tolist() == [health] * 3
            new = [now == 1 > was for was, now in zip(before, health, strict=True)]
            assert terminated[group].tolist() == [new] * 3


# --- what a component works on ---


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


class Farther(AbsolutePositionObserver):
    """Shows another cell to who asks the component for a single agent."""

    def get_obs(self, agent, **kwargs):
        return {self.key: super().get_obs(agent, **kwargs)[self.key] + 100}


class Stated(HealthObserver):
    """What a class says itself counts."""

    works_on = "arrays"


class StatedMove(MoveActor):
    """As its base, but not for many worlds."""

    works_on = "agents"


class StatedHealed(Healed):
    """As its base of the package, unless it is asked to reset."""

    works_on = "kernels"


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
        (Farther, "kernels"),
        (Stated, "arrays"),
        (StatedMove, "agents"),
        (StatedHealed, "kernels"),
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


def test_what_is_overridden_for_single_agents_comes_on_top_of_a_channel():
    parts = {"actors": [Logged], "observers": [Farther], "dones": ["ActiveDone"]}
    sim = declared(states=[PositionState], **parts)
    other = declared(
        states=[PositionState],
        actors=[MoveActor],
        observers=["AbsolutePositionObserver"],
        dones=["ActiveDone"],
    )
    vec = sim.vectorize(2, seed=5)
    obs, _ = vec.reset()
    (group,) = vec.groups
    for one in (sim, other):
        one.reset(seed=5)
        assert [one.get_obs(name)["position"].tolist() for name in "ab"] == (
            obs[group]["position"][0].tolist()
        )
    (observer,) = sim.observers
    agent = sim.agents["a"]
    assert observer.get_obs(agent)["position"].tolist() == (agent.position + 100).tolist()


def test_a_stated_way_wins():
    sim = declared(states=[StatedHealed], observers=[Doubled], dones=["ActiveDone"])
    sim.reset(seed=0)
    assert sim.agents["a"].health == 1.0
    sim.vectorize(2)
    sim.states[0].reset()
    assert sim.agents["a"].health == 0.25
    sim = declared(
        states=[PositionState], actors=[StatedMove], observers=[Doubled], dones=["ActiveDone"]
    )
    with pytest.raises(TypeError, match="StatedMove works for single agents"):
        sim.vectorize(2)
