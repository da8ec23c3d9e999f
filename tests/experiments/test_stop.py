"""When training stops."""

import pytest

from abmarl.experiments.experiment import ExperimentError
from abmarl.experiments.stop import reached, share_done, stop_criteria, value_at

RESULT = {
    "training_iteration": 5,
    "env_runners": {
        "num_episodes_lifetime": 40,
        "episode_return_mean": 1.5,
        "module_episode_returns_mean": {"red": -2.0},
    },
}


def test_old_names_are_paths_now():
    lines = []
    given = {
        "episodes_total": 50, "policy_reward_mean/red": 1, "training_iteration": 9,
        "env_runners": {"episode_return_mean": 2},
    }  # fmt: skip
    assert stop_criteria(given, "stop", lines) == {
        "env_runners/num_episodes_lifetime": 50,
        "env_runners/module_episode_returns_mean/red": 1,
        "training_iteration": 9,
        "env_runners/episode_return_mean": 2,
    }
    assert lines == [
        "stop: episodes_total=50 -> env_runners/num_episodes_lifetime",
        "stop: policy_reward_mean/red=1 -> env_runners/module_episode_returns_mean/red",
    ]
    assert stop_criteria(None, "stop", lines) == {}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1], r"stop must be a dict of criterion to value, not \[1\]"),
        ({"episodes": 5}, r"has no criterion 'episodes' \(did you mean 'episodes_total'\?\)"),
        ({"episodes_total": "many"}, r"stop\['episodes_total'\] must be a number, not 'many'"),
        ({"episodes_total": True}, "must be a number, not True"),
    ],
)
def test_criteria_that_are_wrong(given, message):
    with pytest.raises(ExperimentError, match=message):
        stop_criteria(given, "stop", [])


def test_criteria_are_reached_at_their_value():
    assert value_at(RESULT, "env_runners/module_episode_returns_mean/red") == -2.0
    assert value_at(RESULT, "env_runners/nothing/here") is None
    assert reached(RESULT, {"training_iteration": 6}) is None
    assert reached(RESULT, {"training_iteration": 5}) == "training_iteration"
    assert reached(RESULT, {"env_runners/episode_return_mean": 1.6}) is None
    assert reached({"env_runners": {"episode_return_mean": float("nan")}},
                   {"env_runners/episode_return_mean": -100}) is None  # fmt: skip


def test_a_criterion_that_is_a_group_of_results():
    with pytest.raises(ExperimentError, match=r"choose one, as env_runners/module_.*_mean/red"):
        reached(RESULT, {"env_runners/module_episode_returns_mean": 3})


def test_share_of_what_counts_up():
    stop = {"training_iteration": 20, "env_runners/num_episodes_lifetime": 80}
    assert share_done(RESULT, stop) == 0.5
    assert share_done(RESULT, {"env_runners/episode_return_mean": 2}) == 0.0
    assert share_done(RESULT, {"training_iteration": 2}) == 1.0
