"""Files of format 1, saved before there was a table of columns: they load, and come out again."""

from pathlib import Path

import numpy as np
import pytest

from abmarl.examples import team_battle
from abmarl.policies import EpsilonSoftPolicy, QTablePolicy
from abmarl.rollout import collect, load
from abmarl.rollout.columns import array_specs, by_attribute
from abmarl.rollout.replay import Replay

SAVED = Path(__file__).with_name("saved")


def channels():
    vec = team_battle().vectorize(num_envs=2, seed=3, horizon=6)
    return collect(vec, {"red": "heuristic"}, 10, progress=False)


def flattened():
    vec = team_battle().vectorize(num_envs=2, seed=4, horizon=6).flatten()
    return collect(vec, None, 10, progress=False)


@pytest.mark.parametrize("make", [channels, flattened])
def test_rollouts_are_the_same_bit_for_bit(make):
    old, new = load(SAVED / f"{make.__name__}.npz"), make()
    assert old.simulation == "team-battle"
    assert old.groups == new.groups
    for (names, before), (others, now) in zip(old.arrays(), new.arrays(), strict=True):
        assert names == others
        assert before.dtype == now.dtype
        assert np.array_equal(before, now)


def test_rollouts_are_simulated_again():
    replay = Replay(team_battle(), load(SAVED / "channels.npz"), world=1)
    replay.check()
    assert replay.mismatch is None


def test_policies():
    policy = QTablePolicy.load(SAVED / "policy.npz")
    assert type(policy) is EpsilonSoftPolicy
    assert policy.epsilon == 0.25
    assert (int(policy.action_space.start), int(policy.observation_space.n)) == (1, 5)
    assert np.array_equal(policy.q_table, np.arange(15.0).reshape(5, 3))


def test_columns_that_are_newer_than_the_file_may_be_missing():
    rollout = load(SAVED / "channels.npz")
    arrays = dict(rollout.arrays())
    specs = [
        spec._replace(column=spec.column._replace(since=2))
        for spec in array_specs(rollout.groups, ())
        if spec.names == ("truncated", "red")
    ]
    assert by_attribute(specs, arrays, version=1) == {
        "truncated": {"red": rollout.truncated["red"]}
    }
    assert by_attribute(specs, {}, version=1) == {}
    with pytest.raises(KeyError, match="truncated"):
        by_attribute(specs, {}, version=2)
