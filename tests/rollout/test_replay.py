"""Rollouts that are simulated again: every moment, every way there, and what differs."""

import numpy as np
import pytest

from abmarl.examples import shipped, team_battle
from abmarl.rollout import collect
from abmarl.rollout.replay import STRIDE, Moments, Replay, check_same
from abmarl.rollout.whereabouts import whereabouts
from tests.support.grid_worlds import small_battle

STEPS = 2 * STRIDE + 20


def battle(steps=STEPS, worlds=3, name="team-battle", **kwargs):
    vec = shipped[name]().vectorize(
        **{"num_envs": worlds, "seed": 7, "horizon": 30, "num_threads": 1} | kwargs
    )
    return collect(vec, "random", steps, name=name, progress=False)


@pytest.fixture(scope="module")
def rollout():
    return battle()


def checked(rollout, world=0, name="team-battle"):
    replay = Replay(shipped[name](), rollout, world)
    replay.check()
    return replay


def test_moments(rollout):
    for world in range(3):
        moments = Moments(rollout, world)
        episode = 0
        expected = [(0, True, False, 0)]
        for step in range(1, STEPS + 1):
            ended = bool(rollout.ended[step - 1, world])
            expected.append((step, False, ended, episode))
            if ended and step < STEPS:
                episode += 1
                expected.append((step, True, False, episode))
        found = zip(moments.step, moments.fresh, moments.final, moments.episode, strict=True)
        assert [(int(s), bool(f), bool(e), int(k)) for s, f, e, k in found] == expected
        for step in range(STEPS + 1):
            first = next(k for k, one in enumerate(expected) if one[0] == step)
            assert moments.of_step(step) == first


@pytest.mark.parametrize("name", shipped)
@pytest.mark.parametrize("order", ["fixed", "random"])
def test_shipped_simulations_do_it_again(name, order):
    found = battle(50, name=name, order=order)
    for world in (0, 2):
        replay = checked(found, world, name)
        assert replay.mismatch is None
        assert replay.good == len(replay.moments) > 50


def test_deaths(rollout):
    """Against a loop over the worlds of the rollout themselves."""
    vec = team_battle().vectorize(num_envs=3, seed=7, horizon=30, autoreset=False, copy=True)
    vec.reset()
    moments = [Moments(rollout, world) for world in range(3)]
    deaths = [[] for _ in range(3)]
    for t in range(STEPS):
        before = vec.store.active.copy()
        actions = {
            name: {key: column[t] for key, column in channels.items()}
            for name, channels in rollout.actions.items()
        }
        *_, infos = vec.step(actions)
        for world in range(3):
            if (before[world] & ~vec.store.active[world]).any():
                deaths[world].append(moments[world].of_step(t + 1))
        if infos["ended"].any():
            vec.reset(worlds=infos["ended"])
    assert min(map(len, deaths)) > 20
    for world in range(3):
        assert checked(rollout, world).deaths.tolist() == deaths[world]


def test_any_way_to_a_moment_is_the_same(rollout):
    replay = checked(rollout, 1)
    straight = []
    replay.go(0, lambda elsewhere: None)
    for moment in range(len(replay.moments)):
        replay.go(moment, lambda elsewhere: None)
        straight.append({k: v for k, v in replay.vec.state_dict().items() if k != "signature"})
    rng = np.random.default_rng(1)
    for moment in rng.integers(0, len(replay.moments), 30).tolist():
        moves = []
        replay.go(moment, moves.append)
        assert replay.now == moment
        assert not any(moves[1:])  # one jump at most, then steps
        state = replay.vec.state_dict()
        assert all(np.array_equal(state[key], then) for key, then in straight[moment].items())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("observations", "observation 'position_centered_encoding' of agent 'agent5'"),
        ("rewards", "reward of agent 'agent5'"),
        ("terminated", "terminated of agent 'agent5'"),
        ("truncated", "truncated of agent 'agent5'"),
        ("ended", "the episode "),
        ("actions", ""),
    ],
)
def test_mismatches_are_found_where_they_are(change, words):
    found = battle()
    if change == "ended":
        found.ended[12, 1] ^= True
    elif change == "observations":
        found.observations["blue"]["position_centered_encoding"][12, 1, 1, 2, 2] += 1
    elif change == "actions":
        alive = np.flatnonzero(found.active["blue"][12, 1])[0]
        column = found.actions["blue"]["move"]
        column[12, 1, alive] = -column[12, 1, alive] + (column[12, 1, alive] == 0)
    elif change == "rewards":
        found.rewards["blue"][12, 1, 1] += 0.5
    else:
        getattr(found, change)["blue"][12, 1, 1] ^= True
    for world in (0, 2):
        assert checked(found, world).mismatch is None
    mismatch = checked(found, 1).mismatch
    assert mismatch.world == 1
    if change == "actions":
        assert mismatch.step == 13
    else:
        assert mismatch.what.startswith(words)
        assert mismatch.step == (12 if change == "observations" else 13)
    assert str(mismatch).startswith(f"world 1, after {mismatch.step} steps: ")


def test_actions_that_are_refused(rollout):
    found = battle()
    found.actions["red"]["attack"][20, 0, 0] = 100
    replay = checked(found)
    assert replay.mismatch.step == 21
    assert replay.mismatch.what.startswith("the recorded action is refused: ")
    with pytest.raises(ValueError, match="attack"):
        whereabouts(team_battle(), found)


def test_the_end_of_the_record_is_compared_too():
    found = battle(20)
    found.last_observations["gray"]["position_centered_encoding"][0, 0, 0, 0] += 1
    assert checked(found).mismatch.step == 20
    found = battle(40)
    ((t, world),) = found.final_index[:1].tolist()
    found.final_observations["red"]["position_centered_encoding"][0, 0, 0, 0] += 1
    mismatch = checked(found, world).mismatch
    assert mismatch.step == t + 1


def test_rollouts_that_went_on():
    vec = team_battle().vectorize(num_envs=1, seed=7, horizon=30)
    vec.reset()
    found = collect(vec, "random", 10, progress=False)
    assert found.continued
    replay = checked(found)
    assert replay.good == 0
    assert "earlier steps" in replay.mismatch.what
    with pytest.raises(ValueError, match="earlier steps"):
        whereabouts(team_battle(), found)


def test_other_simulations_are_refused(rollout):
    with pytest.raises(ValueError, match="has the groups red, blue, the rollout has red, blue, g"):
        Replay(small_battle(), rollout)
    with pytest.raises(ValueError, match=r"world is 3, but there are 3"):
        Replay(team_battle(), rollout, 3)
    vec = small_battle().vectorize(num_envs=2, seed=0, horizon=5)
    small = collect(vec, "random", 5, progress=False)
    other = small_battle(view_range=1).vectorize(num_envs=1)
    with pytest.raises(ValueError, match="group 'red' has the observation_space"):
        check_same(other, small)


# --- where they were ---


@pytest.mark.parametrize("name", ["team-battle", "predator-prey-resources", "reach-the-target"])
def test_whereabouts_against_a_plain_loop(name):
    found = battle(60, name=name)
    sim = shipped[name]()
    vec = sim.vectorize(num_envs=3, seed=7, horizon=30, num_threads=1)
    been = {group: np.zeros((vec.rows, vec.cols), int) for group in vec.groups}
    attacked = {group: np.zeros((vec.rows, vec.cols), int) for group in vec.groups}
    vec.reset()
    for t in range(60):
        for group, members in vec.groups.items():
            for world in range(3):
                for k, slot in enumerate(members.slots):
                    if found.active[group][t, world, k]:
                        cell = tuple(vec.store.position[world, slot])
                        been[group][cell] += 1
        actions = {
            g: {key: column[t] for key, column in channels.items()}
            for g, channels in found.actions.items()
        }
        before = vec.store.position.copy()
        vec.step(actions)
        attempted = vec.part_of(0)[0].actors["attack"].outcome.attempted
        for group, members in vec.groups.items():
            for world in range(3):
                for slot in members.slots:
                    attacked[group][tuple(before[world, slot])] += attempted[world, slot]
    where = whereabouts(sim, found)
    assert where.mismatch == ""
    for group in vec.groups:
        assert np.array_equal(where.been[group], been[group])
        if group in where.attacked:
            assert np.array_equal(where.attacked[group], attacked[group])
            assert attacked[group].any()
    assert set(where.attacked) == {g for g, c in found.actions.items() if "attack" in c}


def test_worlds_that_differ_are_left_out(rollout):
    found = battle()
    found.observations["red"]["position_centered_encoding"][5, 2, 0, 0, 0] += 1
    where, whole = whereabouts(team_battle(), found), whereabouts(team_battle(), battle())
    assert where.mismatch.startswith("world 2, after 5 steps: observation 'position_centered_enc")
    missing = sum(int(whole.been[g].sum() - where.been[g].sum()) for g in whole.been)
    assert missing == sum(int(column[5:, 2].sum()) for column in found.active.values())
