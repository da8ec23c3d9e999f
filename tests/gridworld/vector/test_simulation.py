"""The vectorised simulation: groups, outputs, self-reset, saved states, threads, masks."""

import copy
import gc
import multiprocessing
import pickle
import threading
import tracemalloc

import numpy as np
import pytest

from abmarl.examples import foraging, predator_prey_resources, team_battle
from abmarl.gridworld import OneTeamRemainingDone
from abmarl.gridworld.vector.simulation import bytes_per_world
from tests.naive import action_masks
from tests.naive.streams import streams
from tests.naive.team_battle import sample_actions
from tests.naive.world import NaiveAgent, NaiveWorld
from tests.support.equivalence import random_actions
from tests.support.grid_worlds import WINDOW, battle, build, fighter, same, wall


def still(vec):
    """Actions that do nothing."""
    return {
        name: {
            key: np.zeros((vec.num_envs, len(group), *space.shape), space.dtype)
            for key, space in group.action_space.spaces.items()
        }
        for name, group in vec.groups.items()
    }


def test_groups():
    agents = [
        fighter("a", 1),
        fighter("b", 2, group="blue"),
        fighter("c", 1),
        wall("w"),
        fighter("d", 1, view_range=2),
        fighter("e", 2, group="blue"),
    ]
    vec = build(agents).vectorize(4)
    found = {name: (group.agent_ids, group.slots.tolist()) for name, group in vec.groups.items()}
    assert found == {
        "fighter_1": (("a", "c"), [0, 2]),
        "blue": (("b", "e"), [1, 5]),
        "fighter_1_2": (("d",), [4]),
    }
    assert {name: len(group) for name, group in vec.groups.items()} == {
        "fighter_1": 2, "blue": 2, "fighter_1_2": 1
    }  # fmt: skip
    assert vec.groups["blue"].encoding == 2
    with pytest.raises(ValueError, match="The agents of group 'x' differ in class or parameters"):
        build([fighter("a", group="x"), fighter("b", group="x", view_range=2)]).vectorize(1)


@pytest.mark.parametrize("copy", [False, True])
def test_shapes_and_dtypes(copy):
    vec = battle().vectorize(3, copy=copy)
    obs, infos = vec.reset()
    assert obs["fighter_1"][WINDOW].shape == (3, 2, 3, 3)
    assert obs["fighter_1"][WINDOW].dtype == np.int8
    assert infos["active"]["fighter_2"].tolist() == [[True, True]] * 3
    actions = vec.sample_actions()
    assert actions["fighter_1"]["attack"].shape == (3, 2)
    assert actions["fighter_1"]["move"].shape == (3, 2, 2)
    kept = obs["fighter_1"][WINDOW].copy()
    found, rewards, terminated, truncated, infos = vec.step(actions)
    for array, dtype in ((rewards, float), (terminated, bool), (truncated, bool)):
        assert array["fighter_2"].shape == (3, 2)
        assert array["fighter_2"].dtype == dtype
    assert (obs["fighter_1"][WINDOW] is found["fighter_1"][WINDOW]) != copy
    if copy:
        assert np.array_equal(kept, obs["fighter_1"][WINDOW])
    group = vec.groups["fighter_1"]
    one = {WINDOW: found["fighter_1"][WINDOW][0, 0]}
    assert one in group.observation_space
    assert infos["ended"].shape == (3,)
    assert infos["final_active"].shape == (3, 4)
    assert infos["episode"]["length"].dtype == np.int64


def test_horizon_and_self_reset():
    vec = battle().vectorize(2, seed=0, horizon=3)
    vec.reset()
    for step in range(1, 7):
        _, _, terminated, truncated, infos = vec.step(still(vec))
        late = step % 3 == 0
        assert infos["ended"].tolist() == [late] * 2
        assert (truncated["fighter_1"] == late).all()
        assert not terminated["fighter_1"].any()
        assert infos["active"]["fighter_1"].all()
        if late:
            assert infos["episode"]["length"].tolist() == [3, 3]
            assert infos["final_active"].all()


def test_an_agent_ends_once_and_is_shown_once_more():
    vec = battle().vectorize(2, seed=0)
    vec.reset()
    actions = still(vec)
    actions["fighter_1"]["attack"][1, 0] = 1
    obs, _, terminated, _, infos = vec.step(actions)
    assert terminated["fighter_2"].tolist() == [[False, False], [True, False]]
    assert infos["active"]["fighter_2"].tolist() == [[True, True], [False, True]]
    assert obs["fighter_2"][WINDOW][1, 0].tolist() == [[-1] * 3, [1, 0, 0], [0, 0, 2]]
    obs, rewards, terminated, _, infos = vec.step(still(vec))
    assert not terminated["fighter_2"].any()
    assert (obs["fighter_2"][WINDOW][1, 0] == -2).all()
    assert rewards["fighter_2"][1, 0] == 0.0


def test_without_self_reset_worlds_stand_still():
    """Their observations, streams and rewards stay, a user's rule notwithstanding."""
    agents = [fighter("a", 1, (0, 0)), fighter("b", 2, (0, 0)), fighter("c", 1, (2, 4))]
    sim = build(agents, overlapping={1: 2}, rewards={"gift": lambda health: health})
    vec = sim.vectorize(3, seed=0, horizon=2, autoreset=False)
    vec.reset()
    vec.reset(worlds=[1])
    vec.step(still(vec))
    obs, _, _, _, infos = vec.step(still(vec))
    for name, channels in obs.items():
        assert np.array_equal(channels[WINDOW], infos["final_obs"][name][WINDOW])
    before = vec.state_dict()
    for _ in range(3):
        _, rewards, _, truncated, infos = vec.step(vec.sample_actions())
        assert not infos["ended"].any()
        assert not any(array.any() for array in (*rewards.values(), *truncated.values()))
    after = vec.state_dict()
    for name in ("cell", "health", "streams", "sight_streams", "obs." + WINDOW, "episodes.length"):
        assert np.array_equal(before[name], after[name]), name
    obs, infos = vec.reset(worlds=np.array([False, True, False]))
    assert infos["active"]["fighter_1"].tolist() == [[False, False], [True, True], [False, False]]
    vec.step(still(vec))
    assert vec.state_dict()["episodes.length"].tolist() == [2, 1, 2]


def test_the_first_reset_may_leave_worlds_out():
    vec = battle().vectorize(3, seed=0)
    _, infos = vec.reset(worlds=[1])
    assert infos["active"]["fighter_1"].tolist() == [[False] * 2, [True] * 2, [False] * 2]
    masks = vec.action_masks()
    assert not masks["fighter_1"]["attack"][0, :, 1:].any()
    obs, *_ = vec.step(vec.sample_actions())
    assert (obs["fighter_1"][WINDOW][0] == -2).all()
    vec.reset()
    other = battle().vectorize(3, seed=0)
    other.reset()
    assert np.array_equal(vec.store.active, other.store.active)


def naive_battle():
    """The battle of ``small`` as a naive world."""
    kind = {"view_range": 1, "move_range": 1, "attack_range": 1, "attack_strength": 1.0}
    cells = [(0, 0), (2, 0), (0, 1), (1, 2)]
    world = NaiveWorld(3, 5, [NaiveAgent([1, 1, 2, 2][k], **kind) for k in range(4)])
    for k, cell in enumerate(cells):
        world.place(k, cell)
    return world


def test_sampled_actions_are_those_of_the_rules():
    vec = battle().vectorize(2, seed=9)
    vec.reset()
    for _ in range(3):
        found = vec.sample_actions()
    stream, world = streams(9, 1)[2], naive_battle()
    for _ in range(3):
        expected = sample_actions(world, stream)
    rows = {"red0": (1, 0), "red1": (1, 1), "blue0": (2, 0), "blue1": (2, 1)}
    for number, (team, k) in enumerate(rows.values()):
        channels = found[f"fighter_{team}"]
        assert channels["attack"][1, k] == expected[number]["attack"]
        assert tuple(channels["move"][1, k]) == expected[number]["move"]


def test_sampled_actions_cover_the_space_evenly():
    vec = battle().vectorize(500, seed=0)
    vec.reset()
    moves = vec.sample_actions()["fighter_1"]["move"].reshape(-1, 2)
    cells, counts = np.unique(moves, axis=0, return_counts=True)
    assert len(cells) == 9
    assert counts.min() > 80


def test_action_masks():
    vec = battle().vectorize(2, seed=0)
    with pytest.raises(ValueError, match=r"Call reset\(\) before action_masks\(\)"):
        vec.action_masks()
    vec.reset()
    masks, world = vec.action_masks(), naive_battle()
    for name, first in (("fighter_1", 0), ("fighter_2", 2)):
        for k in range(2):
            found = {key: mask[1, k].tolist() for key, mask in masks[name].items()}
            assert found == {
                "attack": action_masks.attack_mask(world, first + k, {1: {2}, 2: {1}}),
                "move": action_masks.move_mask(world, first + k),
            }


def test_saved_and_resumed_is_straight_through():
    straight, first = (battle(dones=[OneTeamRemainingDone]).vectorize(5, seed=2) for _ in range(2))
    rng = np.random.default_rng(0)
    straight.reset()
    first.reset()
    pool = [random_actions(straight, rng) for _ in range(30)]
    for actions in pool[:10]:
        straight.step(actions)
        first.step(actions)
    saved = first.state_dict()
    for actions in pool[10:]:
        first.step(actions)  # does not change what was saved
    second = battle(dones=[OneTeamRemainingDone]).vectorize(5, seed=77, num_threads=2)
    second.load_state_dict(saved)
    for actions in pool[10:]:
        straight.step(actions)
        second.step(actions)
        assert same(straight.state_dict(), second.state_dict())
    assert same(first.state_dict(), second.state_dict())


@pytest.mark.parametrize("seed", [0, 5, 2**64 - 1, 2**64, 3 * 2**200 + 1])
def test_a_loaded_state_brings_its_seed(seed):
    vec, other = battle().vectorize(2, seed=seed), battle().vectorize(2, seed=1)
    vec.reset()
    other.load_state_dict(vec.state_dict())
    assert other.seed == seed
    for wrong in (None, np.zeros(0, np.uint64), np.array(3, np.uint64), np.array([3.0])):
        with pytest.raises(ValueError, match="another simulation: it has no seed"):
            vec.load_state_dict({**vec.state_dict(), "seed": wrong})


def test_a_saved_state_of_another_batch_is_refused():
    vec, other = battle().vectorize(2), battle().vectorize(3)
    vec.reset()
    other.reset()
    before = vec.state_dict()
    with pytest.raises(ValueError, match="The saved state is of another simulation"):
        vec.load_state_dict(other.state_dict())
    assert same(before, vec.state_dict())


# --- memory


def held_by(sim, num_envs):
    """Bytes that a run of that many worlds takes at most."""
    gc.collect()
    tracemalloc.start()
    try:
        vec = sim.vectorize(num_envs, seed=0, horizon=4)
        vec.reset()
        for _ in range(6):
            vec.step(vec.sample_actions())
        vec.reset()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def guarded():
    """With a rule of one's own, which may fail; the step is undone then."""
    return battle(rewards={"mine": lambda health: health})


@pytest.mark.parametrize("make", [team_battle, predator_prey_resources, foraging, battle, guarded])
def test_memory_is_estimated(make):
    sim = make()
    held_by(sim, 2)  # loads what is loaded once
    more = (held_by(sim, 1100) - held_by(sim, 100)) / 1000
    assert bytes_per_world(sim) == pytest.approx(more, rel=0.1)


# --- threads and processes


def test_number_of_threads(monkeypatch):
    monkeypatch.delenv("ABMARL_NUM_THREADS", raising=False)
    assert battle().vectorize(4).num_threads == 1
    monkeypatch.setenv("ABMARL_NUM_THREADS", "3")
    assert battle().vectorize(4).num_threads == 3
    assert battle().vectorize(2).num_threads == 2
    assert battle().vectorize(4, num_threads=1).num_threads == 1
    for value in ("many", "0", "1.5"):
        monkeypatch.setenv("ABMARL_NUM_THREADS", value)
        with pytest.raises(ValueError, match=f"ABMARL_NUM_THREADS must be .*got '{value}'"):
            battle().vectorize(4)


def play(seed, steps=60, num_threads=1):
    """The last state of a team battle under random actions."""
    vec = team_battle().vectorize(4, seed=seed, horizon=40, num_threads=num_threads)
    vec.reset()
    for _ in range(steps):
        vec.step(vec.sample_actions())
    return vec.state_dict()


def test_two_simulations_from_two_threads():
    expected, found = {seed: play(seed) for seed in (1, 2)}, {}
    threads = [
        threading.Thread(target=lambda seed=seed: found.update({seed: play(seed, num_threads=2)}))
        for seed in (1, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all(same(expected[seed], found[seed]) for seed in (1, 2))


def _go_on(vec, queue):
    for _ in range(20):
        vec.step(vec.sample_actions())
    queue.put(vec.state_dict())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python warns of forks with threads
def test_fork_after_use_with_two_threads():
    vec = team_battle().vectorize(4, seed=1, horizon=40, num_threads=2)
    vec.reset()
    for _ in range(20):
        vec.step(vec.sample_actions())
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_go_on, args=(vec, queue))
    process.start()
    found = queue.get(timeout=60)
    process.join(60)
    assert process.exitcode == 0
    for _ in range(20):
        vec.step(vec.sample_actions())
    assert same(found, vec.state_dict())


def test_actions_can_be_sampled_before_the_first_reset():
    # Streams that were not started gave zeros only, and drawing without bias never ended.
    early, late = battle().vectorize(3, seed=4), battle().vectorize(3, seed=4)
    late.reset()
    first, second = early.sample_actions(), late.sample_actions()
    for name, channels in first.items():
        for key, array in channels.items():
            assert np.array_equal(array, second[name][key])


def test_copies_and_pickles_go_on_alike():
    vec = battle().vectorize(3, seed=4, num_threads=2)
    vec.reset()
    for _ in range(3):
        vec.step(vec.sample_actions())
    twins = [copy.deepcopy(vec), pickle.loads(pickle.dumps(vec))]
    early = pickle.loads(pickle.dumps(battle().vectorize(3, seed=4)))
    assert early.seed == twins[1].seed == 4
    assert not early.started
    for _ in range(10):
        actions = vec.sample_actions()
        expected = vec.step(actions)
        for twin in twins:
            found = twin.step(twin.sample_actions())
            for name, channels in expected[0].items():
                for key, array in channels.items():
                    assert np.array_equal(found[0][name][key], array)
                assert np.array_equal(found[1][name], expected[1][name])


def test_a_state_of_another_simulation_is_refused():
    vec = battle().vectorize(2, seed=4)
    state = vec.state_dict()
    state["signature"] = np.zeros(32, np.uint8)
    with pytest.raises(ValueError, match="saved state is of another simulation"):
        vec.load_state_dict(state)
