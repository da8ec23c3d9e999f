"""Rollouts of the simulations that ship, with the real engine."""

import numpy as np
import pytest

from abmarl.examples import shipped
from abmarl.rollout import AliveCurve, collect, load, rollout_nbytes, save, statistics

STEPS = 60


def new_vec(name="team-battle", **kwargs):
    return shipped[name]().vectorize(**{"num_envs": 8, "seed": 11, "horizon": 25, **kwargs})


@pytest.fixture(params=shipped)
def name(request):
    return request.param


def identical(left, right):
    for (path, one), (other, two) in zip(left.arrays(), right.arrays(), strict=True):
        assert path == other
        assert one.dtype == two.dtype
        assert np.array_equal(one, two), path


def test_columns_against_a_plain_loop(name):
    rollout = collect(new_vec(name), num_steps=STEPS, progress=False)
    vec = new_vec(name, copy=True)
    obs, infos = vec.reset()
    active = infos["active"]
    finals = []
    for t in range(STEPS):
        actions = vec.sample_actions()
        for group, channels in rollout.observations.items():
            for channel, column in channels.items():
                assert np.array_equal(column[t], obs[group][channel])
            assert np.array_equal(rollout.active[group][t], active[group])
            for channel, column in rollout.actions[group].items():
                assert np.array_equal(column[t], actions[group][channel])
        obs, rewards, terminated, truncated, infos = vec.step(actions)
        active = infos["active"]
        for group in rollout.groups:
            assert np.array_equal(rollout.rewards[group][t], rewards[group])
            assert np.array_equal(rollout.terminated[group][t], terminated[group])
            assert np.array_equal(rollout.truncated[group][t], truncated[group])
        assert np.array_equal(rollout.ended[t], infos["ended"])
        finals += [(t, b, infos) for b in np.flatnonzero(infos["ended"])]
    assert len(rollout.episodes) == len(finals) > 0
    teams = np.broadcast_to(vec.store.teams(), (8, vec.store.num_agents))
    for e, (t, b, infos) in enumerate(finals):
        assert rollout.final_index[e].tolist() == [t, b]
        assert rollout.episodes.length[e] == infos["episode"]["length"][b] <= 25
        for group, channels in rollout.final_observations.items():
            for channel, rows in channels.items():
                assert np.array_equal(rows[e], infos["final_obs"][group][channel][b])
            total = infos["episode"]["return"][group][b].sum()
            assert rollout.episodes.returns[group][e] == pytest.approx(total)
        for team, alive in rollout.episodes.survivors.items():
            assert alive[e] == (infos["final_active"][b] & (teams[b] == team)).sum()


def test_rewards_add_up_to_the_returns(name):
    rollout = collect(new_vec(name), num_steps=STEPS, progress=False)
    table = rollout.episodes
    for e in range(len(table)):
        end, begin = table.step[e] + 1, table.step[e] + 1 - table.length[e]
        for group, rewards in rollout.rewards.items():
            total = rewards[begin:end, table.world[e]].sum()
            assert table.returns[group][e] == pytest.approx(total)


def test_an_agent_that_ends_acts_no_more(name):
    rollout = collect(new_vec(name), num_steps=STEPS, progress=False)
    for group, active in rollout.active.items():
        over = rollout.terminated[group] | rollout.truncated[group]
        assert not (over & ~active).any()
        expected = (active & ~over)[:-1] | rollout.ended[:-1, :, None]
        assert np.array_equal(active[1:], expected)


@pytest.mark.parametrize("order", ["fixed", "random"])
def test_the_seed_decides_and_threads_do_not(name, order):
    one = collect(new_vec(name, order=order), "random", STEPS, progress=False)
    two = collect(new_vec(name, order=order, num_threads=2), "random", STEPS, progress=False)
    identical(one, two)
    other = collect(new_vec(name, order=order, seed=12), "random", STEPS, progress=False)
    assert any(
        not np.array_equal(column, other.observations[group][channel])
        for group, channels in one.observations.items()
        for channel, column in channels.items()
    )


def test_heuristics_are_as_reproducible(name):
    identical(*(collect(new_vec(name), "heuristic", STEPS, progress=False) for _ in range(2)))


def test_the_actions_of_a_rollout_make_it_again(name, tmp_path):
    save(collect(new_vec(name), "heuristic", STEPS, progress=False), tmp_path / "run.npz")
    first = load(tmp_path / "run.npz")
    vec = new_vec(name, seed=first.seed, horizon=first.horizon, order=first.order)

    class Replay:
        def __init__(self, channels, steps):
            self.channels, self.steps = channels, steps

        def __call__(self, observations, active):
            t = next(self.steps)
            return {channel: column[t] for channel, column in self.channels.items()}

    policies = {group: Replay(first.actions[group], iter(range(STEPS))) for group in first.groups}
    second = collect(vec, policies, STEPS, progress=False)
    identical(first, second)
    assert [g.observation_space for g in first.groups.values()] == [
        g.observation_space for g in second.groups.values()
    ]


def test_memory_is_known_beforehand(name):
    vec = new_vec(name)
    rollout = collect(vec, "heuristic", STEPS, progress=False)
    assert rollout.nbytes <= rollout_nbytes(vec, STEPS) <= 1.3 * rollout.nbytes


def test_final_observations_show_the_end():
    """What replaces the reset's view at an end is the view of the world that ended."""
    rollout = collect(new_vec(num_envs=64), num_steps=STEPS, progress=False)
    window = "position_centered_encoding"
    following = rollout.next_observations("red", window)
    t, b = rollout.final_index[0]
    assert np.array_equal(following[t, b], rollout.final_observations["red"][window][0])
    if t + 1 < STEPS:
        assert not np.array_equal(following[t, b], rollout.observations["red"][window][t + 1, b])
    assert np.array_equal(following[:-1][~rollout.ended[:-1]],
                          rollout.observations["red"][window][1:][~rollout.ended[:-1]])  # fmt: skip


def mean_return(name, policies, group):
    vec = shipped[name]().vectorize(num_envs=64, seed=1, horizon=100)
    result = statistics(vec, policies, 200, progress=False)
    return result.episodes.returns[group].mean()


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("team-battle", "red"),
        ("predator-prey-resources", "predator"),
        ("predator-prey-resources", "prey"),
        ("foraging", "forager"),
        ("foragers-and-hunters", "hunter"),
        ("foragers-and-hunters", "forager"),
    ],
)
def test_a_heuristic_group_does_better_than_a_random_one(name, group):
    assert mean_return(name, {group: "heuristic"}, group) > mean_return(name, "random", group) + 1


def test_alive_curve():
    vec = new_vec(num_envs=64, horizon=200)
    curve = AliveCurve(vec)
    statistics(vec, "heuristic", 150, progress=False, on_step=curve)
    assert list(curve.mean) == [1, 2, 3, 4]
    for mean in curve.mean.values():
        assert mean[0] == 6
        assert len(mean) == len(curve.running)
    assert curve.running[0] > 64
    assert (np.diff(curve.running) <= 0).all()
