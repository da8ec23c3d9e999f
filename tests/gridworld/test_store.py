"""The store: fields, traits, saved states, streams."""

import tracemalloc

import numpy as np
import pytest

from abmarl.gridworld import Field, MovingAgent, SmartGridWorldSimulation
from abmarl.gridworld.seeding import world_streams
from tests.support.grid_worlds import WINDOW, FighterAgent, battle, build, fighter, same, wall


class CourierAgent(FighterAgent):
    """Carries parcels."""

    parcels = Field(np.int32, default=3)
    goal = Field(np.float64, shape=(2,))


def test_a_field_is_an_attribute_and_an_array():
    agent = fighter("a", kind=CourierAgent)
    assert agent.parcels == 3
    agent.parcels = 5
    sim = build([agent, fighter("b")])
    assert sim.store.parcels.tolist() == [[5, 3]]
    assert sim.store.goal.shape == (1, 2, 2)
    sim.store.parcels[0, 0] = 7
    assert agent.parcels == 7
    agent.goal = np.array([1.0, 2.0])
    assert sim.store.goal[0, 0].tolist() == [1.0, 2.0]
    sim.reset(seed=0)
    assert agent.parcels == 3
    vec = sim.vectorize(4)
    vec.reset()
    assert vec.store.parcels.shape == (4, 2)
    assert (vec.store.parcels == 3).all()


def test_agents_leave_the_grid_in_all_worlds():
    agents = [fighter("a", 1, (0, 0)), wall("w", 9, (0, 1)), fighter("b", 2, (0, 2), view_range=2)]
    sim = build(agents)
    sim.reset(seed=0)
    assert sim.get_obs("b")[WINDOW][2].tolist() == [-2, 9, 2, 0, 0]
    sim.store.remove(np.array([[False, True, False]]))
    assert sim.get_obs("b")[WINDOW][2].tolist() == [1, 0, 2, 0, 0]
    assert not sim.agents["w"].active
    assert sim.grid[0, 1] == {}
    assert tuple(sim.agents["w"].position) == (0, 1)
    vec = sim.vectorize(3, seed=0)
    vec.reset()
    gone = np.eye(3, dtype=bool)
    for _ in range(2):  # who is gone already stays gone
        vec.store.remove(gone)
        assert vec.store.active.tolist() == (~gone).tolist()
        assert (vec.store.top > 0).sum(axis=1).tolist() == [2, 2, 2]


@pytest.mark.parametrize("gone", [[True], np.zeros((1, 4), int), np.zeros((2, 4), bool)])
def test_who_leaves_is_a_mask(gone):
    sim = battle()
    sim.reset(seed=0)
    with pytest.raises(ValueError, match=r"remove takes bool \(1, 4\) \(worlds, agents\), got"):
        sim.store.remove(gone)
    assert sim.store.active.all()


def test_a_field_takes_what_it_is_declared_for():
    agent = fighter("a", kind=CourierAgent)
    with pytest.raises(ValueError, match="'parcels' of agent 'a' takes int32 of shape"):
        agent.parcels = 0.5
    with pytest.raises(TypeError, match="A field holds numbers"):
        Field(object)


def test_what_is_written_into_an_array_before_the_simulation_stays():
    agent, other = fighter("a", kind=CourierAgent), fighter("b", kind=CourierAgent)
    agent.goal[1] = 4.0
    sim = build([agent, other])
    assert sim.store.goal.tolist() == [[[0.0, 4.0], [0.0, 0.0]]]
    agent.goal[0] = 3.0
    assert sim.store.goal[0, 0].tolist() == [3.0, 4.0]


def test_a_field_cannot_have_a_name_of_the_store():
    class BadAgent(MovingAgent):
        health = Field(np.float64)

    with pytest.raises(ValueError, match="'health' is a name of the store"):
        build([BadAgent(id="a", encoding=1, move_range=1)])


def test_an_agent_is_a_view_of_its_slot():
    sim = battle()
    sim.reset(seed=0)
    red = sim.agents["red1"]
    assert red.position.tolist() == sim.store.position[0, 1].tolist() == [2, 0]
    red.health = 0.25
    assert sim.store.health[0, 1] == 0.25
    sim.store.health[0, 1] = 0.5
    assert red.health == 0.5
    red.health = -3
    assert (red.health, red.active) == (0.0, False)
    red.health = 7
    assert (red.health, red.active) == (1.0, True)


def test_saved_states_come_back():
    sim = battle()
    sim.reset(seed=3)
    saved = sim.state_dict()
    kept = {name: array.copy() for name, array in saved.items()}
    sim.step({"red0": {"attack": 1, "move": np.array([0, 0])}})
    assert same(saved, kept)
    assert not same(saved, sim.state_dict())
    other = battle()
    other.load_state_dict(saved)
    sim.load_state_dict(saved)
    assert same(saved, sim.state_dict())
    assert same(saved, other.state_dict())
    assert other.agents["blue0"].position is not None
    assert other.get_obs("red0")["position_centered_encoding"].tolist() == (
        sim.get_obs("red0")["position_centered_encoding"].tolist()
    )


def crowd():
    """Agents of two encodings that share cells, where a random one of a cell is seen."""
    agents = [fighter(f"a{k}", 1 + k % 2, (k % 2, 1), attack_accuracy=0.5) for k in range(8)]
    return build(agents, overlapping={1: {1, 2}, 2: {2}}, attack_mapping={1: {2}, 2: {1}})


def views(sim):
    return [sim.get_obs(name)["position_centered_encoding"].tolist() for name in sim.agents]


@pytest.mark.parametrize("look_first", [True, False])
def test_a_loaded_state_is_seen_as_it_was_seen(look_first):
    sim, straight, late = crowd(), crowd(), crowd()
    fallen = 0
    for one in (sim, straight):
        one.reset(seed=(3, 4))
    for k in range(12):
        actions = {name: {"attack": 1, "move": np.array([0, k % 3 - 1])} for name in sim.agents}
        for one in (sim, straight):
            one.step({name: actions[name] for name, a in one.agents.items() if a.active})
        expected = views(straight)
        fallen += int((~sim.store.active).sum())
        if look_first:
            assert views(sim) == expected
        saved = sim.state_dict()
        for one in (sim, late):
            one.load_state_dict(saved)
            assert views(one) == expected
            assert same(one.state_dict(), straight.state_dict())
        sim.get_obs("a0")["position_centered_encoding"][:] = 7
        sim.load_state_dict(sim.state_dict())
        assert views(sim) == expected
    assert fallen


def damage(name, at, value):
    def spoil(state):
        state[name] = state[name].copy()
        state[name][at] = value

    return spoil


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (damage("cell", (0, 1), 60000), r"cell\[0, 1\] cannot be 60000"),
        (damage("cell", (0, 1), 1), r"cell\[0, 1\] cannot be 1;"),  # in the padding
        (damage("first", (0, 8), 4), r"first\[0, 8\] cannot be 4"),
        (damage("first", (0, 8), -2), r"first\[0, 8\] cannot be -2"),
        (damage("first", (0, 0), 1), r"first\[0, 0\] cannot be 1"),  # in the padding
        (damage("next_", (0, 2), 4), r"next_\[0, 2\] cannot be 4"),
        (damage("next_", (0, 2), -7), r"next_\[0, 2\] cannot be -7"),
        (damage("next_", (0, 2), 2), r"cell\[0, 2\] cannot be"),  # the list goes round
        (damage("next_", (0, 2), 0), r"cell\[0, 0\] cannot be"),  # who is elsewhere
        (damage("top", (0, 0), 0), r"top\[0, 0\] cannot be 0"),  # an open border
        (damage("top", (0, 8), 3), r"top\[0, 8\] cannot be 3"),
        (damage("walls", (0, 0), 2), r"walls\[0, 0\] cannot be 2"),
        (damage("streams", 0, 0), r"streams\[0, 0\] cannot be 0"),
    ],
)
def test_a_damaged_state_is_refused(spoil, message):
    sim = battle()
    sim.reset(seed=0)
    vec = sim.vectorize(3, seed=0, num_threads=2)
    vec.reset()
    for one in (sim, vec):
        one.load_state_dict(one.state_dict())
        before = one.state_dict()
        state = dict(before)
        spoil(state)
        with pytest.raises(ValueError, match=f"The saved state is damaged: {message}"):
            one.load_state_dict(state)
        assert same(before, one.state_dict())


def test_a_state_of_another_simulation_is_refused():
    sim = battle()
    sim.reset(seed=0)
    before = sim.state_dict()
    for state in (
        None,
        {},
        {**before, "health": before["health"][:, :1]},
        {**before, "obs.team": np.zeros(4, np.int8)},
        {**before, "obs.position_centered_encoding": np.zeros(4, np.int8)},
        {name: array.tolist() for name, array in before.items()},
        build([fighter("a"), wall("w")]).state_dict(),
    ):
        with pytest.raises(ValueError, match="saved state is of another simulation"):
            sim.load_state_dict(state)
        assert same(before, sim.state_dict())


def test_streams_are_those_of_seed_and_world():
    sim = battle()
    sim.store.seed(12, first_world=5)
    found = [sim.store.streams, sim.store.sight_streams, sim.store.sample_streams]
    words = np.random.SeedSequence(12, spawn_key=(5,)).generate_state(12, np.uint64)
    assert np.concatenate([one[0] for one in found]).tolist() == words.tolist()
    assert world_streams(12, 5).reshape(-1).tolist() == words.tolist()


def test_more_than_255_blocking_agents_on_a_cell():
    # a w .    256 walls on the middle cell still hide what is behind them.
    walls = [wall(f"w{i}", 2, (1, 1)) for i in range(256)]
    sim = build([fighter("a", 1, (1, 0), view_range=3), *walls], overlapping={2: 2})
    sim.reset(seed=0)
    assert sim.get_obs("a")["position_centered_encoding"][3].tolist() == [-1, -1, -1, 1, 2, -2, -2]


class ByHandSim(SmartGridWorldSimulation):
    """Leaves it to others to place the agents."""


def test_agents_that_stand_nowhere_do_no_harm():
    """Before the first reset there is nothing to see and nobody is on a list of a cell."""
    sim = build([fighter("a"), fighter("b")])
    assert (sim.get_obs("a")["position_centered_encoding"] == -2).all()
    with pytest.raises(ValueError, match="Nobody is on the grid; call reset"):
        sim.step({"a": {"attack": 0, "move": np.array([1, 1])}})
    agent = fighter("c", at=None)
    agent.position = np.array([1, 1])  # said, but not placed
    other = build([agent], states=[], kind=ByHandSim)
    other.step({"c": {"attack": 0, "move": np.array([0, 1])}})
    assert agent.position.tolist() == [1, 2]


@pytest.mark.slow
def test_bytes_per_agent_in_a_large_world():
    from benchmarks.limits import seen
    from benchmarks.worlds import HORIZON, Play, crowd

    count = 100_000
    sim = crowd(count)
    Play(sim, 1, 2)  # compiles and loads what is not to be weighed
    tracemalloc.start()
    vec = sim.vectorize(1, seed=0, horizon=HORIZON)
    vec.reset()
    vec.step(vec.sample_actions())
    taken = tracemalloc.get_traced_memory()[0] - seen(vec)
    tracemalloc.stop()
    assert 100 < taken / count <= 250
