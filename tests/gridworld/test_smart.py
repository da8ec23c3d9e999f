"""Simulations written in three ways, rewards, user components and the registry."""

import numba
import numpy as np
import pytest

from abmarl.gridworld import (
    BinaryAttackActor,
    HealthState,
    MoveActor,
    MovingAgent,
    OneTeamRemainingDone,
    PositionCenteredEncodingObserver,
    PositionState,
    SmartGridWorldSimulation,
    register,
    registry,
)
from abmarl.gridworld.done import DoneBase
from abmarl.gridworld.observer import ObserverBase
from abmarl.gridworld.state import StateBase
from abmarl.managers import AllStepManager
from benchmarks.object_battle import ObjectBattle
from tests.support.grid_worlds import act, battle, build, fighter, same

REWARDS = {"attack_missed": -0.1, "kill": 1.0, "killed": -1.0, "move_failed": -0.1, "step": -0.01}
MAPPING = {1: {2}, 2: {1}}


class ArraySim(SmartGridWorldSimulation):
    """Team battle in the array style."""

    def __init__(self, **kwargs):
        super().__init__(
            states=[PositionState, HealthState],
            actors=[BinaryAttackActor, MoveActor],
            observers=[PositionCenteredEncodingObserver],
            dones=[OneTeamRemainingDone],
            rewards={"step": -0.01},
            **kwargs,
        )

    def step_batch(self, actions):
        attack = self.actors["attack"].process(actions)
        rewards = self.store.rewards
        rewards[attack.attempted & (attack.hits == 0)] -= 0.1
        rewards += 1.0 * attack.kills
        rewards[attack.killed] -= 1.0
        rewards[self.actors["move"].process(actions) == 0] -= 0.1


class PlainArraySim(ArraySim):
    """The same with plain arrays of actions."""

    def step_batch(self, actions):
        attacks, moves = actions["attack"], actions["move"]
        arrays = {"attack": attacks, "move": moves}
        for key, actor in self.actors.items():
            process = actor.process
            actor.process = lambda _, process=process, key=key: process(arrays[key])
        try:
            super().step_batch(actions)
        finally:
            for actor in self.actors.values():
                del actor.process


def crowd():
    return {
        f"a{i}": fighter(
            f"a{i}", 1 + i % 2, attack_strength=0.5, attack_accuracy=0.75, initial_health=None
        )
        for i in range(8)
    }


def three_styles():
    declared = build(
        crowd().values(), dones=[OneTeamRemainingDone], rewards=REWARDS, attack_mapping=MAPPING,
        overlapping={1: {1, 2}, 2: {1}},
    )  # fmt: skip
    others = [
        kind.build_sim(
            3, 5, agents=crowd(), attack_mapping=MAPPING, overlapping={1: {1, 2}, 2: {1}}
        )
        for kind in (ArraySim, ObjectBattle)
    ]
    return [declared, *others]


def plain(output):
    return [{key: _plain(value) for key, value in part.items()} for part in output]


def _plain(value):
    if isinstance(value, dict):
        return {key: entry.tolist() for key, entry in value.items()}
    return pytest.approx(value, abs=1e-12) if isinstance(value, float) else value


@pytest.mark.parametrize("shuffled", [False, True])
def test_three_styles_give_the_same_episodes(shuffled):
    managers = [AllStepManager(sim, randomize_action_input=shuffled) for sim in three_styles()]
    rng = np.random.default_rng(0)
    for seed in range(10):
        first = [manager.reset(seed=seed) for manager in managers]
        live = list(first[0])
        assert plain([first[0]]) == plain([first[1]]) == plain([first[2]])
        for _ in range(40):
            actions = {name: act(int(rng.integers(2)), rng.integers(-1, 2, 2)) for name in live}
            found = [manager.step(actions) for manager in managers]
            assert plain(found[0]) == plain(found[1]) == plain(found[2])
            states = [manager.sim.store for manager in managers]
            for store in states[1:]:
                assert np.array_equal(store.position, states[0].position)
                assert np.array_equal(store.health, states[0].health)
                assert np.array_equal(store.streams, states[0].streams)
                assert np.array_equal(store.sight_streams, states[0].sight_streams)
            dones = found[0][2]
            if dones["__all__"]:
                break
            live = [name for name in live if not dones[name]]


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_step_that_fails_half_way_changes_nothing(shuffled):
    """The attacks of agents before the bad action have been processed by then."""
    sims = three_styles()
    for sim in sims:
        manager = AllStepManager(sim, randomize_action_input=shuffled)
        manager.reset(seed=0)
        for _ in range(3):
            seen = {name: sim.get_obs(name) for name in sim.agents}
            before = sim.state_dict()
            live = [name for name, agent in sim.agents.items() if agent.active]
            actions = {name: act(1, (0, 1)) for name in live}
            actions[live[-1]]["move"] = np.array([0, 2])
            with pytest.raises(ValueError, match="which is not in Box"):
                manager.step(actions)
            assert same(before, sim.state_dict())
            assert plain([seen]) == plain([{name: sim.get_obs(name) for name in sim.agents}])
            manager.step({name: act() for name in live})


class StumblingSim(ObjectBattle):
    """Fails after everything was done, in a step that calls the one of its base."""

    def step(self, action_dict, **kwargs):
        super().step(action_dict, **kwargs)
        self.store.health[0, 0] = 0.125
        self.agents["a1"].active = False
        raise KeyError("sorry")


def test_a_step_within_a_step_is_undone_as_a_whole():
    sim = StumblingSim.build_sim(3, 5, agents=crowd(), attack_mapping=MAPPING)
    sim.reset(seed=0)
    before = sim.state_dict()
    for _ in range(2):
        with pytest.raises(KeyError, match="sorry"):
            sim.step({name: act(1, (0, 1)) for name in sim.agents})
        assert same(before, sim.state_dict())


def test_the_object_style_is_for_single_worlds():
    with pytest.raises(TypeError, match="ObjectBattle handles actions one by one"):
        three_styles()[2].vectorize(2)


# --- components and rules of one's own


class FogState(StateBase):
    """Gives every agent a random shade, in NumPy."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.shade = self.store.require("shade", np.int32, default=-1)

    def start(self, worlds):
        self.shade[worlds] = np.arange(self.store.num_agents)


class HealthObserver(ObserverBase):
    """Shows the healths of all agents."""

    key = "healths"

    def space(self, agent):
        from gymnasium.spaces import Box

        return Box(0.0, 1.0, (self.store.num_agents,), np.float64)

    def observe(self, out=None):
        return np.repeat(self.store.health[:, None], self.store.num_agents, axis=1)


class LonelyDone(DoneBase):
    """Over when fewer than three agents live."""

    def all_done(self):
        return self.store.active.sum(axis=1) < 3


@numba.njit
def weakness(health, kill):
    return (1.0 - health) + 0.5 * kill


def test_user_components_and_rules():
    parameters = {
        "states": [PositionState, HealthState, FogState],
        "observers": [PositionCenteredEncodingObserver, HealthObserver],
        "dones": [LonelyDone],
        "rewards": {"weak": weakness, "far": lambda position: position[:, :, 1] * 0.25, "step": -1},
    }
    sim = battle(**parameters)
    sim.reset(seed=0)
    assert sim.store.shade.tolist() == [[0, 1, 2, 3]]
    assert sim.get_obs("red0")["healths"].tolist() == [1.0] * 4
    sim.step({"red0": act(1), "blue1": act(0)})
    assert sim.get_obs("red0")["healths"].tolist() == [1.0, 1.0, 0.0, 1.0]
    # weakness, distance of the column, and a step for those who acted
    rewards = [sim.get_reward(name) for name in sim.agents]
    assert rewards == [0.5 - 1.0, 0.0, 1.0 + 0.25, 0.5 - 1.0]
    assert not sim.get_all_done()
    vec = sim.vectorize(3, seed=0, num_threads=2)
    obs, _ = vec.reset()
    assert {name: o["healths"].shape for name, o in obs.items()} == {
        "fighter_1": (3, 2, 4),
        "fighter_2": (3, 2, 4),
    }
    actions = {
        name: {"attack": np.zeros((3, 2), int), "move": np.zeros((3, 2, 2), int)} for name in obs
    }
    actions["fighter_1"]["attack"][1, 0] = 1
    _, found, *_ = vec.step(actions)
    assert found["fighter_1"].tolist() == [[-1.0, -1.0], [-0.5, -1.0], [-1.0, -1.0]]


@pytest.mark.parametrize(
    ("rewards", "error", "message"),
    [
        ({"kil": 1}, ValueError, "There is no event 'kil' to reward; did you mean 'kill'"),
        ({"kill": np.nan}, ValueError, "The reward of 'kill' must be a finite number, got nan"),
        ({"kill": "much"}, ValueError, "The reward of 'kill' must be a finite number, got 'much'"),
        ({"kill": True}, ValueError, "The reward of 'kill' must be a finite number"),
        ([1], TypeError, "rewards must be a dict like"),
        (
            {"mine": lambda encodings: encodings},
            ValueError,
            "Reward rule 'mine' asks for 'encodings'; did you mean 'encoding'",
        ),
        (
            {"mine": lambda xyz: xyz},
            ValueError,
            r"asks for 'xyz'; known are \['position', 'health', 'active', 'encoding', 'teams', "
            r"'rewards', 'attack_missed', 'kill', 'killed', 'move_failed'\]",
        ),
    ],
)
def test_rewards_that_do_not_exist(rewards, error, message):
    with pytest.raises(error, match=message):
        battle(rewards=rewards)


def test_events_are_rewarded():
    sim = battle(rewards=REWARDS)
    sim.reset(seed=0)
    sim.step({"red0": act(1), "red1": act(1, (1, 0)), "blue1": act(0, (0, 1))})
    assert [sim.get_reward(name) for name in sim.agents] == [
        1.0 - 0.01, -0.1 - 0.1 - 0.01, -1.0, -0.01
    ]  # fmt: skip
    assert sim.get_reward("red0") == 0.0
    sim.rewards["red0"] -= 0.5
    assert sim.get_reward("red0") == -0.5


def test_the_registry():
    assert registry["actor"]["MoveActor"] is MoveActor
    register(LonelyDone)
    register(LonelyDone)
    sim = battle(dones=["LonelyDone"], actors=["BinaryAttackActor", "MoveActor"])
    assert isinstance(sim.dones[0], LonelyDone)
    again = type("LonelyDone", (DoneBase,), {})
    with pytest.raises(ValueError, match="A done component 'LonelyDone' is registered already"):
        register(again)
    with pytest.raises(TypeError, match="A component is a subclass of"):
        register(int)
    del registry["done"]["LonelyDone"]


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"actors": ["MoveActr"]}, ValueError, "no actor component 'MoveActr'; did you mean 'Move"),
        ({"states": ["Nothing at all"]}, ValueError, "no state component 'Nothing at all'; known"),
        ({"dones": [MoveActor]}, TypeError, "dones are given as subclasses of DoneBase"),
        ({"observers": PositionCenteredEncodingObserver}, TypeError, "observers must be a set"),
        ({"actors": {MoveActor}}, TypeError, "actors act in their order"),
        ({"actors": [MoveActor, MoveActor]}, ValueError, "Two actors have the same channel"),
        ({"attack_maping": {}}, TypeError, "takes 'attack_maping'; did you mean 'attack_mapping'"),
    ],
)
def test_components_that_do_not_exist(parameters, error, message):
    with pytest.raises(error, match=message):
        build([fighter("a")], **parameters)


def test_collections_do_not_change_the_order():
    one = build([fighter("a")], states={HealthState, PositionState})
    other = build([fighter("a")], states=(HealthState, PositionState))
    for sim in (one, other):
        assert [type(state) for state in sim.states] == [PositionState, HealthState]


@pytest.mark.parametrize("order", ["fixed", "random"])
def test_plain_arrays_within_a_step_are_the_actions_of_those_who_act(order):
    """Also with an agent that moves and does not learn, and agents that are out early."""

    def vectorized(kind):
        agents = [fighter(f"r{k}") for k in range(3)]
        agents += [fighter(f"b{k}", encoding=2) for k in range(3)]
        agents += [MovingAgent(id="stray", encoding=3, move_range=1)]
        sim = kind.build_sim(
            4, 4, agents={one.id: one for one in agents}, attack_mapping={1: {2}, 2: {1}}
        )
        return sim.vectorize(6, seed=3, order=order, horizon=15)

    one, other = vectorized(ArraySim), vectorized(PlainArraySim)
    one.reset()
    other.reset()
    for _ in range(60):
        actions = one.sample_actions()
        found, expected = other.step(actions), one.step(actions)
        assert str(found) == str(expected)
        assert (one.store.cell == other.store.cell).all()
        assert (one.store.rewards == other.store.rewards).all()
