"""What happened between two scenes: attacks, deaths, rewards and actions."""

import copy
import pickle

import numpy as np
import pytest

from abmarl.examples import shipped
from abmarl.gridworld import (
    CrossMoveActor,
    DriftMoveActor,
    EncodingBasedAttackActor,
    ExclusiveChannelActionWrapper,
    MoveActor,
    OrientationAgent,
    OrientationState,
    PositionState,
    RavelActionWrapper,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)
from abmarl.managers import AllStepManager
from abmarl.render import Scene, SimulationShow, Tracker
from abmarl.render.scenes.describe import describe_action
from benchmarks.object_battle import ObjectBattle
from tests.support.grid_worlds import FighterAgent, act, battle, build, fighter

HIT = {"red0": act(1), "red1": act(1), "blue0": act(0), "blue1": act(0)}


def pairs(scene):
    return [(scene.ids[i], scene.ids[j] if j >= 0 else None) for i, j in scene.attacks.tolist()]


def fading(scene):
    return {scene.ids[slot]: scene.fading[slot] for slot in np.flatnonzero(scene.fading)}


def test_attacks_and_deaths_are_those_of_the_step():
    sim = battle()
    sim.reset(seed=0)
    tracker = Tracker(sim)
    assert pairs(tracker.scene) == []
    sim.step(HIT)
    scene = tracker.look()
    assert pairs(scene) == [("red0", "blue0"), ("red1", None)]
    assert list(fading(scene)) == ["blue0"]
    assert not scene.alive[2]
    assert (scene.row[2], scene.col[2]) == (0, 1)
    assert scene.step == 1


def test_a_death_fades_and_is_gone():
    sim = battle()
    sim.reset(seed=0)
    tracker = Tracker(sim)
    sim.step(HIT)
    left = [fading(tracker.look()).get("blue0", 0)]
    for _ in range(4):
        sim.step({})
        left.append(fading(tracker.look()).get("blue0", 0))
    assert left[0] > left[1] > left[2] > 0
    assert left[3:] == [0, 0]
    assert pairs(tracker.scene) == []


def test_a_second_look_at_the_same_moment_is_the_same():
    sim = battle()
    sim.reset(seed=0)
    tracker = Tracker(sim)
    sim.step(HIT)
    first, second = tracker.look(), tracker.look()
    assert pairs(first) == pairs(second)
    assert fading(first) == fading(second)


def test_another_episode_has_no_past():
    sim = battle()
    sim.reset(seed=0)
    tracker = Tracker(sim)
    sim.step(HIT)
    tracker.look()
    sim.reset(seed=0)
    scene = tracker.look()
    assert (pairs(scene), fading(scene), scene.step) == ([], {}, 0)


def test_the_object_style():
    sim = battle(kind=ObjectBattle)
    sim.reset(seed=0)
    tracker = Tracker(sim)
    sim.step(HIT)
    scene = tracker.look()
    assert pairs(scene) == [("red0", "blue0"), ("red1", None)]
    sim.get_reward("red0")
    assert tracker.episode.reward(0) == pytest.approx(0.99)
    assert tracker.episode.action(0)["attack"] == 1
    assert list(tracker.episode.observations(0)) == ["position_centered_encoding"]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_world_of_many_is_tracked_like_the_single_one(threads):
    """World 4 of a battle, in the second thread's half, and its single twin."""
    single = shipped["team-battle"]()
    vec = single.vectorize(6, seed=7, num_threads=threads, horizon=None)
    vec.reset()
    manager = AllStepManager(single)
    manager.reset(seed=(7, 4))
    one, many = Tracker(single), Tracker(vec, 4)
    noted = 0
    for _ in range(12):
        actions = vec.sample_actions()
        live = [slot for slot in range(24) if vec.episodes.alive[4, slot]]
        places = {
            slot: (name, k) for name, g in vec.groups.items() for k, slot in enumerate(g.slots)
        }
        manager.step(
            {
                single.store.ids[slot]: {
                    "attack": int(actions[places[slot][0]]["attack"][4, places[slot][1]]),
                    "move": actions[places[slot][0]]["move"][4, places[slot][1]].astype(int),
                }
                for slot in live
            }
        )
        vec.step(actions)
        a, b = one.look(), many.look()
        assert pairs(a) == pairs(b)
        assert a.fading.tolist() == b.fading.tolist()
        assert a.step == b.step
        for slot in live:
            assert one.episode.reward(slot) == pytest.approx(many.episode.reward(slot))
            words = [
                describe_action(t.episode.actors, slot, t.episode.action(slot)) for t in (one, many)
            ]
            assert sorted(words[0]) == sorted(words[1])
            seen = [t.episode.observations(slot) for t in (one, many)]
            assert all(np.array_equal(seen[0][key], seen[1][key]) for key in seen[1])
        hits = many.episode.sim.actors["attack"].outcome.hits[many.episode.number]
        assert np.array_equal(np.bincount(a.attacks[a.attacks[:, 1] >= 0, 0], minlength=24), hits)
        noted += len(a.attacks)
    assert noted > 20


def test_worlds_that_end_in_a_vectorised_simulation():
    vec = battle().vectorize(2, seed=0, horizon=2)
    vec.reset()
    tracker = Tracker(vec, 1)
    steps = []
    for _ in range(5):
        vec.step(vec.sample_actions())
        steps.append(tracker.look().step)
        if not steps[-1]:
            assert pairs(tracker.scene) == []
            assert fading(tracker.scene) == {}
    assert 0 in steps


def test_watching_changes_nothing():
    """Watched and unwatched episodes are the same to the last bit; two share a cell in them."""

    def play(watch):
        sim = shipped["team-battle"]()
        manager = AllStepManager(sim)
        obs = manager.reset(seed=3)
        tracker = Tracker(sim) if watch else None
        rng = np.random.default_rng(0)
        for _ in range(8):
            actions = {
                name: {"attack": int(rng.integers(2)), "move": rng.integers(-1, 2, 2)}
                for name in obs
            }
            obs, _, dones, _ = manager.step(actions)
            obs = {name: one for name, one in obs.items() if not dones[name]}
            if tracker:
                tracker.look()
                tracker.episode.observations(0)
        return sim.state_dict(), obs

    (one, seen), (other, likewise) = play(False), play(True)
    assert all(np.array_equal(one[name], other[name]) for name in one)
    assert seen.keys() == likewise.keys()


def test_observations_made_aside_leave_the_streams_alone():
    sim = battle(overlapping={1: 1, 2: 2})
    sim.reset(seed=0)
    tracker = Tracker(sim)
    before = sim.state_dict()
    assert tracker.episode.observations(0)
    after = sim.state_dict()
    assert all(np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))])
def test_a_watched_simulation_can_be_copied(twin):
    sim = shipped["team-battle"]()
    sim.reset(seed=0)
    tracker = Tracker(sim)
    other = twin(sim)
    other.step({"agent0": {"attack": 1, "move": np.zeros(2, int)}})
    assert tracker.look().step == 0
    assert Tracker(other).scene.step == 1
    assert sim.vectorize(2, seed=0).num_envs == 2


def test_rewards_so_far_count_those_that_were_read_and_those_that_were_not():
    sim = battle(rewards={"kill": 1.0, "step": -0.25})
    sim.reset(seed=0)
    tracker = Tracker(sim)
    sim.step(HIT)
    assert tracker.episode.reward(0) == 0.75
    assert sim.get_reward("red0") == 0.75
    sim.step({"red0": act()})
    assert tracker.episode.reward(0) == 0.5
    sim.reset()
    assert tracker.episode.reward(0) == 0


def test_rewards_that_a_manager_has_read_are_counted_once():
    sim = battle(rewards={"step": -0.25})
    manager = AllStepManager(sim)
    obs = manager.reset(seed=0)
    tracker = Tracker(sim)
    for _ in range(3):
        manager.step({name: act() for name in obs})
    assert tracker.episode.reward(0) == -0.75


def test_orientation_and_teams():
    class TurningAgent(FighterAgent, OrientationAgent):
        pass

    agents = [fighter("a", 1, (0, 0), kind=TurningAgent, initial_orientation=3), fighter("b")]
    sim = build(agents, states=[PositionState, OrientationState], actors=[DriftMoveActor], dones=[])
    sim.reset(seed=0)
    scene = Scene.of(sim)
    assert scene.orientation.tolist() == [3, 0]
    assert not scene.outlined


ACTORS = [
    (MoveActor, "move", np.array([-1, 0]), "move 1 up"),
    (MoveActor, "move", np.array([0, 1]), "move 1 right"),
    (MoveActor, "move", np.array([0, 0]), "stay"),
    (CrossMoveActor, "move", 1, "move left"),
    (CrossMoveActor, "move", 0, "stay"),
    (EncodingBasedAttackActor, "attack", {2: 2, 3: 0}, "attack encoding 2 x2"),
    (EncodingBasedAttackActor, "attack", {2: 0, 3: 0}, "no attack"),
    (
        SelectiveAttackActor, "attack", np.eye(3, dtype=int),
        "attack 1 up 1 left, own cell, 1 down 1 right",
    ),
    (
        SelectiveAttackActor, "attack", np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]]),
        "attack on 5 of 9 cells",
    ),
    (RestrictedSelectiveAttackActor, "attack", np.array([4, 0]), "attack 1 left"),
    (
        RestrictedSelectiveAttackActor, "attack", np.array([9, 5]),
        "attack 1 down 1 right, own cell",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("actor", "key", "action", "words"), ACTORS)
def test_actions_in_words(actor, key, action, words):
    agents = [
        fighter("a", 1, (1, 1), simultaneous_attacks=2),
        fighter("b", 2, (0, 0)),
        fighter("c", 3, (0, 1)),
    ]
    parameters = {"attack_mapping": {1: {2, 3}}} if key == "attack" else {}
    sim = build(agents, actors=[actor], dones=[], **parameters)
    assert describe_action(sim.actors, 0, {key: action}) == [words]
    wrapper = ExclusiveChannelActionWrapper if isinstance(action, dict) else RavelActionWrapper
    wrapped = wrapper(sim.actors[key])
    number = wrapped._codes[wrapped.wrapped_component.form_of[0]].encode(wrapped.split(action))
    assert describe_action({key: wrapped}, 0, {key: number}) == [words]


def test_unknown_actors_in_words():
    assert describe_action({}, 0, {"trade": np.arange(3)}) == ["trade: [0, 1, 2]"]
    assert len(describe_action({}, 0, {"trade": np.arange(300)})[0]) < 60


def test_a_state_that_is_loaded_has_no_past():
    sim = battle(rewards={"step": -1.0})
    sim.reset(seed=0)
    before = sim.state_dict()
    tracker = Tracker(sim)
    sim.step(HIT)
    tracker.look()
    after = sim.state_dict()
    for state in (before, after):
        sim.load_state_dict(state)
        scene = tracker.look()
        assert (pairs(scene), fading(scene), tracker.episode.action(0)) == ([], {}, {})
        assert tracker.episode.reward(0) == state["rewards"][0, 0]


def test_a_later_state_of_a_world_of_many_has_no_past():
    vec = battle().vectorize(1, seed=0, horizon=None)
    vec.reset()
    tracker = Tracker(vec)
    vec.store.remove(np.array([[False, False, True, False]]))
    vec.step(vec.sample_actions())
    later = vec.state_dict()
    vec.reset()
    assert tracker.look().alive.all()
    vec.load_state_dict(later)
    scene = tracker.look()
    assert not scene.alive[2]
    assert (pairs(scene), fading(scene), scene.step) == ([], {}, 1)


def test_agents_that_are_out_have_no_last_action():
    """The arrays of actions go on having entries for them."""
    vec = battle().vectorize(1, seed=0, horizon=None)
    vec.reset()
    show = SimulationShow(vec)
    hit = vec.sample_actions()
    for channels in hit.values():
        channels["move"][:], channels["attack"][:] = 0, 1
    for step in range(2):
        vec.step(hit)
        show.look()
        alive = show.scene(0).alive
        assert alive[0]
        assert not alive[2]
        assert "attack" in dict(show.facts(0, 0))["last action"]
        # Blue died in the first step, in which it acted.
        assert ("last action" in dict(show.facts(0, 2))) == (step == 0)


def test_worlds_that_are_watched_side_by_side_have_their_attacks():
    vec = shipped["team-battle"]().vectorize(3, seed=0, horizon=100)
    vec.reset()
    trackers = [Tracker(vec, world) for world in (0, 2)]
    seen = [0, 0]
    for _ in range(20):
        vec.step(vec.sample_actions())
        for k, tracker in enumerate(trackers):
            seen[k] += len(tracker.look().attacks)
    assert min(seen) > 10
