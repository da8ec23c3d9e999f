"""Evaluations: how many episodes of which world count, and what is told of them."""

import math
import os
import signal

import numpy as np
import pytest

from abmarl.examples import team_battle
from abmarl.rollout import cross_play, evaluate, statistics
from abmarl.rollout.evaluation import Interval, mean_interval, share_interval, student_quantile
from tests.support.fake_vector import FakeSim
from tests.support.grid_worlds import skirmish, strike


def fake(num_envs=5, horizon=9, deadly=0.05):
    return FakeSim(deadly).vectorize(num_envs, seed=3, horizon=horizon)


def scripted(steps):
    """Attacks in the steps given, worlds apart: ``steps[world]`` of every episode, from 0."""

    class Script:
        def bind(self, vec, name):
            self.vec = vec

        def __call__(self, observations, active):
            age = self.vec.episodes.length
            attack = (age == np.asarray(steps))[:, None].astype(np.int8)
            return {"attack": attack, "move": np.zeros((*active.shape, 2), np.int8)}

    return {"fighter": Script()}


@pytest.mark.parametrize(("episodes", "per_world"), [
    (10, [2, 2, 2, 2, 2]), (7, [2, 2, 1, 1, 1]), (3, [1, 1, 1, 0, 0]), (1, [1, 0, 0, 0, 0]),
])  # fmt: skip
def test_so_many_episodes_of_each_world(episodes, per_world):
    found = evaluate(fake(), None, episodes, progress=False)
    assert len(found) == len(found.truncated) == episodes
    assert not found.interrupted
    assert np.bincount(found.episodes.world, minlength=5).tolist() == per_world


def test_these_are_the_first_episodes_of_the_worlds():
    everything = statistics(fake(), None, 200, seed=4, progress=False).episodes
    found = evaluate(fake(), None, 12, seed=4, progress=False).episodes
    for world in range(5):
        count = 3 if world < 2 else 2
        for name in ("length", "step"):
            wanted = getattr(everything, name)[everything.world == world][:count]
            np.testing.assert_array_equal(getattr(found, name)[found.world == world], wanted)


def test_short_episodes_are_not_favoured():
    """Half of the worlds play 1 step, the others 10: the mean is 5.5, and not nearly 1."""
    steps = np.where(np.arange(8) % 2, 9, 0)
    vec = strike().vectorize(8, seed=0, horizon=20)
    found = evaluate(vec, scripted(steps), 80, progress=False)
    assert found.length.value == 5.5
    first = statistics(vec, scripted(steps), 20, progress=False).episodes.length[:80]
    assert first.mean() < 3  # what counting the first ones to finish would say


def test_endings_are_told_apart():
    def share(attack, horizon):
        vec = strike().vectorize(4, seed=0, horizon=horizon)
        found = evaluate(vec, scripted([attack] * 4), 8, progress=False)
        return found.truncated_share.value, found.length.value

    assert share(2, 5) == (0, 3)
    assert share(9, 3) == (1, 3)
    assert share(2, 3) == (0, 3)  # terminated at the horizon
    vec = strike().vectorize(4, seed=0, horizon=4)
    half = evaluate(vec, scripted([1, 9, 1, 9]), 8, progress=False)
    assert half.truncated_share.value == 0.5
    assert half.truncated.tolist() == (half.episodes.length == 4).tolist()


def test_returns_are_the_sums_over_a_group():
    found = evaluate(fake(), None, 40, seed=1, progress=False)
    everything = statistics(fake(), None, 400, seed=1, progress=False).episodes
    for name, interval in found.returns.items():
        picked = [
            everything.returns[name][everything.world == world][:8].tolist() for world in range(5)
        ]
        assert interval.value == pytest.approx(np.mean(picked))
        assert interval.low < interval.value < interval.high


def test_who_wins():
    found = evaluate(fake(deadly=0.4), None, 60, progress=False)
    red, blue = (found.episodes.survivors[team] > 0 for team in (1, 2))
    assert found.contestants == (1, 2)
    assert found.winners.tolist() == np.where(red & ~blue, 1, np.where(blue & ~red, 2, -1)).tolist()
    assert (found.winners == 2).any()
    shares = [*(share.value for share in found.wins.values()), found.draws.value]
    assert sum(shares) == pytest.approx(1)
    assert found.team_names[1] == "red"


def test_nobody_wins_where_there_is_one_team():
    vec = strike().vectorize(3, seed=0, horizon=4)
    found = evaluate(vec, None, 3, progress=False)
    assert (found.contestants, found.wins, found.draws) == ((), {}, None)


def test_the_same_with_any_number_of_threads():
    def numbers(threads):
        vec = team_battle().vectorize(16, seed=0, horizon=60, num_threads=threads)
        found = evaluate(vec, {"red": "heuristic"}, 40, seed=7, progress=False)
        return found.returns, found.wins, found.length

    assert numbers(1) == numbers(2)


def test_nobody_thinks_in_worlds_that_are_done():
    vec = strike().vectorize(3, seed=0, horizon=20)
    seen = []

    def slow(observations, active):
        seen.append(active[:, 0].tolist())
        age = vec.episodes.length
        attack = (age == np.array([0, 2, 4]))[:, None].astype(np.int8)
        return {"attack": attack, "move": np.zeros((3, 1, 2), np.int8)}

    evaluate(vec, {"fighter": slow}, 3, progress=False)
    assert seen == [[True] * 3] + [[False, True, True]] * 2 + [[False, False, True]] * 2


def test_ctrl_c_keeps_what_was_finished():
    vec = fake(horizon=3)
    steps = []

    def policy(observations, active):
        steps.append(1)
        if len(steps) == 8:
            os.kill(os.getpid(), signal.SIGINT)
        return vec.sample_actions()["blue"]

    found = evaluate(vec, {"blue": policy}, 1000, progress=False)
    assert found.interrupted
    assert repr(found).startswith(f"Evaluation({len(found)} of 1,000 episodes, returns: red ")
    assert len(steps) == 8
    assert 10 <= len(found) == len(found.truncated) < 30


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"num_episodes": 0}, ValueError, "num_episodes must be at least 1, not 0"),
        ({"num_episodes": 2.5}, TypeError, "num_episodes must be an int, not 2.5"),
        ({"num_episodes": True}, TypeError, "num_episodes must be an int, not True"),
        ({"policies": {"green": "random"}}, ValueError, "no group 'green'"),
    ],
)
def test_arguments_that_are_wrong(arguments, kind, message):
    with pytest.raises(kind, match=message):
        evaluate(fake(), **{"num_episodes": 3, "progress": False, **arguments})


def test_worlds_have_to_start_anew():
    vec = FakeSim().vectorize(2, autoreset=False)
    with pytest.raises(ValueError, match="an evaluation needs a simulation that resets its worlds"):
        evaluate(vec, None, 3)


def test_cross_play_is_every_combination_from_the_same_seed():
    vec = team_battle().vectorize(16, seed=0, horizon=60)
    both = {"h": "heuristic", "r": "random"}
    found = cross_play(vec, {"red": both, "blue": both}, 16, seed=5, progress=False)
    assert [(m.labels["red"], m.labels["blue"]) for m in found.matches] == [
        ("h", "h"), ("h", "r"), ("r", "h"), ("r", "r")
    ]  # fmt: skip
    assert found.axes == ("red", "blue")
    assert not found.interrupted
    returns, wins = found.matrix(), found.matrix("win rate")
    for match in found.matches:
        policies = {group: both[match.labels[group]] for group in ("red", "blue")}
        alone = evaluate(vec, policies, 16, seed=5, progress=False)
        place = tuple("hr".index(match.labels[group]) for group in ("red", "blue"))
        assert returns[place] == alone.returns["red"].value
        assert wins[place] == alone.wins[1].value
    assert returns[0, 1] > returns[1, 0]


def test_rows_and_columns_of_a_matrix():
    two = {"a": "random", "b": "random"}

    def axes(**policies):
        vec = team_battle().vectorize(2, seed=0, horizon=3)
        return cross_play(vec, policies, 2, progress=False)

    assert axes(blue=two).axes == ("red", "blue")
    assert axes(gray=two, blue=two).axes == ("blue", "gray")
    three = axes(gray=two, blue=two, red=two)
    assert three.axes is None
    assert len(three.matches) == 8
    with pytest.raises(ValueError, match="a matrix needs two groups, and no third one"):
        three.matrix()
    with pytest.raises(ValueError, match="what must be 'return' or 'win rate', got 'wins'"):
        axes(blue=two).matrix("wins")
    alone = cross_play(
        strike().vectorize(2, seed=0, horizon=3), {"fighter": two}, 2, progress=False
    )
    assert alone.axes is None
    assert not alone.has_wins


def test_all_policies_are_tried_before_anything_is_played():
    vec = skirmish().vectorize(2, seed=0, horizon=3)
    with pytest.raises(ValueError, match="no policy 'heuristc'"):
        cross_play(vec, {"fighter_2": {"a": "random", "b": "heuristc"}}, 2)
    assert not vec.started
    with pytest.raises(ValueError, match="no group 'green'"):
        cross_play(vec, {"green": {"a": "random"}}, 2)


def test_ctrl_c_keeps_the_matches_that_were_played():
    vec = fake(horizon=3)
    steps = []

    def policy(observations, active):
        steps.append(1)
        if len(steps) == 8:
            os.kill(os.getpid(), signal.SIGINT)
        return vec.sample_actions()["blue"]

    choices = {"quick": "random", "slow": policy, "never": "random"}
    found = cross_play(vec, {"blue": choices}, 40, progress=False)
    assert found.interrupted
    assert [match.labels["blue"] for match in found.matches] == ["quick", "slow"]
    assert repr(found) == (
        "CrossPlay(2 of 3 combinations played, red: random; blue: quick, slow, never)"
    )
    matrix = found.matrix()
    assert math.isnan(matrix[0, 2])
    assert not np.isnan(matrix[0, :2]).any()


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    # From any table of Student's distribution, two-sided, 5 %.
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (5, 2.5706), (10, 2.2281), (30, 2.0423),
     (100, 1.9840), (1000, 1.9623), (10**7, 1.9600)],
)  # fmt: skip
def test_quantiles_of_student(freedom, quantile):
    assert student_quantile(freedom) == pytest.approx(quantile, abs=6e-5)


def test_mean_by_hand():
    found = mean_interval(np.array([1.0, 2.0, 3.0, 6.0]))
    spread = 3.182446 * math.sqrt(14 / 3) / 2
    assert found.value == 3
    assert (found.low, found.high) == pytest.approx((3 - spread, 3 + spread), rel=1e-6)


def test_too_few_values():
    assert str(mean_interval(np.array([]))) == "-"
    assert str(mean_interval(np.array([2.5]))) == "2.50"
    assert str(mean_interval(np.array([2.5, 2.5]))) == "2.50 [2.50, 2.50]"
    assert str(share_interval(np.array([], bool))) == "-"


def test_shares_by_hand():
    # Wilson's interval of 0 and of 7 hits in 10, as textbooks print it.
    none = share_interval(np.zeros(10, bool))
    assert (none.value, none.low) == (0, 0)
    assert none.high == pytest.approx(0.2775, abs=1e-4)
    seven = share_interval(np.arange(10) < 7)
    assert (seven.low, seven.high) == pytest.approx((0.3968, 0.8922), abs=1e-4)
    every = share_interval(np.ones(10, bool))
    assert (every.value, every.high) == (1, 1)


def test_the_true_value_lies_within_in_95_of_100_cases():
    rng = np.random.default_rng(0)
    means = [mean_interval(rng.normal(3, 2, 6)) for _ in range(3000)]
    assert covered(means, 3) == pytest.approx(0.95, abs=0.012)
    shares = [share_interval(rng.random(40) < 0.3) for _ in range(3000)]
    assert covered(shares, 0.3) == pytest.approx(0.95, abs=0.02)


def covered(intervals: list[Interval], truth):
    return np.mean([one.low <= truth <= one.high for one in intervals])
