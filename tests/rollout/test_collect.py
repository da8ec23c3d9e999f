"""The columns against a plain loop over the same simulation that copies everything."""

import copy
import re
import signal
import threading

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, Tuple

from abmarl.examples import team_battle
from abmarl.rollout import AliveCurve, collect, load, rollout_nbytes, save, statistics
from abmarl.sim.layout import SpaceLayout
from tests.support.fake_vector import WINDOW, FakeSim


def plainly(vec, steps):
    """What `collect` should see, as lists of deep copies, with random actions."""
    seen = []
    obs, infos = vec.reset()
    for _ in range(steps):
        row = {"obs": copy.deepcopy(obs), "active": copy.deepcopy(infos["active"])}
        row["actions"] = copy.deepcopy(vec.sample_actions())
        obs, rewards, terminated, truncated, infos = vec.step(row["actions"])
        row["next"] = copy.deepcopy(obs)
        row["rewards"], row["terminated"] = copy.deepcopy(rewards), copy.deepcopy(terminated)
        row["truncated"], row["infos"] = copy.deepcopy(truncated), copy.deepcopy(infos)
        seen.append(row)
    return seen


def new_vec(**kwargs):
    return FakeSim().vectorize(**{"num_envs": 6, "seed": 3, "horizon": 9, **kwargs})


def test_every_column_is_what_a_plain_loop_sees(vec):
    rollout = collect(vec, num_steps=40, progress=False)
    rows = plainly(new_vec(), 40)
    assert rollout.num_steps == 40
    assert rollout.num_envs == 6
    assert not rollout.interrupted
    for name in ("red", "blue"):
        for t, row in enumerate(rows):
            assert (rollout.observations[name][WINDOW][t] == row["obs"][name][WINDOW]).all()
            assert (rollout.active[name][t] == row["active"][name]).all()
            assert (rollout.rewards[name][t] == row["rewards"][name]).all()
            assert (rollout.terminated[name][t] == row["terminated"][name]).all()
            assert (rollout.truncated[name][t] == row["truncated"][name]).all()
            for channel, column in rollout.actions[name].items():
                assert (column[t] == row["actions"][name][channel]).all()
            assert (rollout.ended[t] == row["infos"]["ended"]).all()
        last = rollout.last_observations[name][WINDOW]
        assert (last == rows[-1]["next"][name][WINDOW]).all()


def test_next_observations_are_final_where_a_world_ended(vec):
    rollout = collect(vec, num_steps=40, progress=False)
    rows = plainly(new_vec(), 40)
    assert rollout.ended.sum() == len(rollout.final_index) > 10
    assert (rollout.final_index == np.argwhere(rollout.ended)).all()
    for name in ("red", "blue"):
        following = rollout.next_observations(name, WINDOW)
        assert following.dtype == np.int8
        for t, row in enumerate(rows):
            ended = row["infos"]["ended"]
            expected = np.where(
                ended[:, None, None, None],
                row["infos"]["final_obs"][name][WINDOW],
                row["next"][name][WINDOW],
            )
            assert (following[t] == expected).all()


def test_the_table_of_episodes(vec):
    rollout = collect(vec, num_steps=40, progress=False)
    rows = plainly(new_vec(), 40)
    table = rollout.episodes
    assert len(table) == rollout.ended.sum()
    for e in range(len(table)):
        infos = rows[table.step[e]]["infos"]
        b = table.world[e]
        assert infos["ended"][b]
        assert table.length[e] == infos["episode"]["length"][b]
        for name in ("red", "blue"):
            assert table.returns[name][e] == infos["episode"]["return"][name][b].sum()
        alive = infos["final_active"][b]
        red, blue, rock = alive[[0, 1, 3]].sum(), alive[[2, 5]].sum(), alive[4]
        assert [table.survivors[team][e] for team in (1, 2, 3)] == [red, blue, rock]
    assert table.team_names == {1: "red", 2: "blue", 3: "rock"}


def test_statistics_are_those_of_the_columns(vec):
    rollout = collect(vec, "random", 40, progress=False)
    result = statistics(new_vec(), num_steps=40, progress=False)
    assert result.tally.agent_steps == rollout.agent_steps == rollout.tally.agent_steps
    assert result.tally.env_steps == 240
    np.testing.assert_equal(vars(result.episodes), vars(rollout.episodes))


def test_rates_leave_the_first_step_out():
    tally = statistics(new_vec(), num_steps=3, progress=False).tally
    tally.step_seconds, tally.first_seconds = 11.0, 10.0
    tally.agent_steps, tally.first_agent_steps = 80, 30
    assert tally.rate == 50
    tally.steps = 1
    assert tally.rate == 80 / 11


def test_a_second_rollout_goes_on_and_a_seed_starts_anew(vec):
    first = collect(vec, num_steps=5, progress=False)
    second = collect(vec, num_steps=5, progress=False)
    again = collect(vec, num_steps=5, seed=3, progress=False)
    other = collect(vec, num_steps=5, seed=4, progress=False)
    column = [r.observations["red"][WINDOW] for r in (first, second, again, other)]
    assert (column[0] == column[2]).all()
    assert (column[0] != column[1]).any()
    assert (column[0] != column[3]).any()
    assert (first.seed, other.seed) == (3, 4)
    assert [r.continued for r in (first, second, again, other)] == [False, True, False, False]


def test_policies_see_their_group_and_random_ones_share_a_draw(vec):
    calls = []

    class Still:
        def bind(self, vec, name):
            self.name = name

        def __call__(self, observations, active):
            calls.append((self.name, observations[WINDOW].shape, active.shape))
            return {"move": np.full(active.shape, 4)}

    rollout = collect(vec, {"blue": Still()}, 3, progress=False)
    assert calls == [("blue", (6, 2, 3, 3), (6, 2))] * 3
    assert (rollout.actions["blue"]["move"] == 4).all()
    assert rollout.actions["blue"]["move"].dtype == np.int8
    assert vec.samples == 3
    collect(vec, {"red": "random", "blue": "random"}, 3, progress=False)
    assert vec.samples == 6


def test_on_step_is_called_from_the_reset_on(vec):
    heard = []
    collect(vec, num_steps=3, progress=False, on_step=lambda t, infos: heard.append((t, infos)))
    assert [t for t, _ in heard] == [0, 1, 2, 3]
    assert "ended" not in heard[0][1]
    assert "ended" in heard[1][1]


def test_the_alive_curve_counts_running_episodes():
    curve, vec = None, new_vec(num_envs=5)
    curve = AliveCurve(vec)
    collect(vec, num_steps=30, progress=False, on_step=curve)
    rows = plainly(new_vec(num_envs=5), 30)
    counts = {0: [(3, 2, 1)] * 5}
    age = np.zeros(5, int)
    for row in rows:
        infos = row["infos"]
        age += 1
        for b in range(5):
            if infos["ended"][b]:
                alive = infos["final_active"][b]
                red, blue = alive[[0, 1, 3]].sum(), alive[[2, 5]].sum()
                counts.setdefault(age[b], []).append((red, blue, 1))
                counts[0].append((3, 2, 1))
                age[b] = 0
            else:
                red, blue = (infos["active"][g][b].sum() for g in ("red", "blue"))
                counts.setdefault(age[b], []).append((red, blue, 1))
    expected = np.array([np.mean(counts[k], axis=0) for k in range(len(counts))])
    assert curve.running.tolist() == [len(counts[k]) for k in range(len(counts))]
    for column, team in enumerate((1, 2, 3)):
        assert curve.mean[team] == pytest.approx(expected[:, column])


def test_the_alive_curve_grows():
    vec = FakeSim(deadly=0.0).vectorize(num_envs=2, seed=0, horizon=150)
    curve = AliveCurve(vec)
    statistics(vec, num_steps=160, progress=False, on_step=curve)
    assert len(curve.mean[1]) == 151
    assert set(curve.mean[1]) == {3.0}


class Model:
    """What a library has trained; it is no function of observations and who acts."""

    def predict(self, observations):
        return observations

    def __repr__(self):
        return "a model"


@pytest.mark.parametrize(
    ("policies", "error", "message"),
    [
        ({"rad": "random"}, ValueError, "no group 'rad' (did you mean 'red'?); the groups are"),
        (
            {"red": "heuristc"},
            ValueError,
            "no policy 'heuristc' for group 'red' (did you mean 'heuristic'?); there are",
        ),
        ({"red": 3}, TypeError, "the policy of group 'red' must be a name, a Policy or a callable"),
        (
            {"red": "red.zip"},
            ValueError,
            "there are 'random', 'heuristic'; read a checkpoint with "
            "abmarl.external.load_policy(path)",
        ),
        (
            {"red": Model()},
            TypeError,
            "not a model; save the model and give abmarl.external.load_policy(path)",
        ),
        (dict, TypeError, "the policy of group 'red' must be a name, a Policy or a callable"),
    ],
)
def test_policies_that_do_not_exist(vec, policies, error, message):
    with pytest.raises(error, match=re.escape(message)):
        collect(vec, policies, 3, progress=False)


@pytest.mark.parametrize(
    ("steps", "error"), [(0, ValueError), (-4, ValueError), (2.0, TypeError), (True, TypeError)]
)
def test_numbers_of_steps_that_make_no_sense(vec, steps, error):
    with pytest.raises(error, match="num_steps must be"):
        collect(vec, None, steps)


def test_a_simulation_that_does_not_reset_itself():
    vec = FakeSim().vectorize(num_envs=2, autoreset=False)
    with pytest.raises(ValueError, match=re.escape("vectorize(..., autoreset=True)")):
        collect(vec)


@pytest.mark.parametrize("progress", [False, True])
def test_ctrl_c_keeps_the_steps_that_are_complete(vec, progress):
    def press(t, infos):
        if t == 7:
            signal.raise_signal(signal.SIGINT)

    rollout = collect(vec, num_steps=1000, progress=progress, on_step=press)
    assert rollout.interrupted
    assert rollout.num_steps == 7
    whole = collect(new_vec(), num_steps=7, progress=False)
    for (path, left), (other, right) in zip(rollout.arrays(), whole.arrays(), strict=True):
        assert path == other
        assert (left == right).all()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_drops_the_step_under_way(vec):
    step, calls = vec.step, []

    def impatient(actions):
        calls.append(1)
        if len(calls) == 5:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return step(actions)

    vec.step = impatient
    rollout = collect(vec, num_steps=20, progress=False)
    assert rollout.interrupted
    assert rollout.num_steps == 4
    assert rollout.observations["red"][WINDOW].shape == (4, 6, 3, 5, 5)
    assert len(rollout.final_index) == len(rollout.episodes) == rollout.ended.sum()


def test_an_interrupt_before_the_first_step(vec):
    def policy(observations, active):
        raise KeyboardInterrupt

    rollout = collect(vec, {"red": policy}, 5, progress=False)
    assert rollout.interrupted
    assert rollout.num_steps == 0
    assert rollout.next_observations("red", WINDOW).shape == (0, 6, 3, 5, 5)


def test_it_works_outside_of_the_main_thread(vec):
    found = []
    thread = threading.Thread(
        target=lambda: found.append(collect(vec, num_steps=4, progress=False))
    )
    thread.start()
    thread.join()
    assert found[0].num_steps == 4


def test_foreign_signal_handlers_stay(vec):
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        rollout = collect(
            vec,
            num_steps=4,
            progress=False,
            on_step=lambda t, _: signal.raise_signal(signal.SIGINT) if t == 2 else None,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [1]
    assert rollout.num_steps == 4


def test_an_unknown_channel_is_named(vec):
    rollout = collect(vec, num_steps=2, progress=False)
    with pytest.raises(ValueError, match="no observations of group 'red', channel 'x'; there are"):
        rollout.next_observations("red", "x")


def test_repr(vec):
    rollout = collect(vec, num_steps=2, progress=False)
    assert repr(rollout).startswith(
        "<Rollout of FakeSim: 2 steps, 6 worlds, 0 episodes, agents {red: 3, blue: 2}, "
    )


def test_names_and_paths():
    box = Box(0, 1, (2,))
    space = Dict({"a": Discrete(3), "b": Dict({"c": box, "d": Tuple((Discrete(2), box))})})
    found = {leaf.name: leaf for leaf in SpaceLayout(space).leaves}
    assert {name: leaf.path for name, leaf in found.items()} == {
        "a": ("a",),
        "b.c": ("b", "c"),
        "b.d.0": ("b", "d", 0),
        "b.d.1": ("b", "d", 1),
    }
    assert found["b.d.1"].space == box
    assert found["b.d.1"].value({"b": {"d": (5, 6)}}) == 6
    assert [(leaf.name, leaf.path) for leaf in SpaceLayout(box).leaves] == [("point", ())]
    # A channel keeps its key, whatever that is.
    assert [leaf.name for leaf in SpaceLayout(Dict({2: box, 3: box})).leaves] == [2, 3]


def test_flattened_rollouts(tmp_path):
    rollouts = []
    for wrap in (lambda vec: vec, lambda vec: vec.flatten()):
        vec = wrap(team_battle().vectorize(num_envs=5, seed=3, horizon=20))
        rollouts.append(collect(vec, "random", 40, progress=False))
        assert rollouts[-1].nbytes <= rollout_nbytes(vec, 40)
    plain, flat = rollouts
    save(flat, tmp_path / "run.npz")
    flat = load(tmp_path / "run.npz")
    for group in plain.groups:
        windows = plain.observations[group]["position_centered_encoding"]
        assert np.array_equal(
            windows.reshape(*windows.shape[:3], -1), flat.observations[group]["point"]
        )
        assert np.array_equal(plain.rewards[group], flat.rewards[group])
        following = plain.next_observations(group, "position_centered_encoding")
        assert np.array_equal(
            following.reshape(*windows.shape[:3], -1), flat.next_observations(group, "point")
        )


def test_the_heuristic_needs_channels():
    vec = team_battle().vectorize(num_envs=2, seed=3).flatten()
    message = (
        "needs the observation channel 'position_centered_encoding'; group 'red' has ['point']"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        collect(vec, "heuristic", 3)
    vec = team_battle().vectorize(num_envs=2, seed=3).flatten(observations=False)
    with pytest.raises(ValueError, match="cannot fill the action channel 'point'"):
        collect(vec, "heuristic", 3)
