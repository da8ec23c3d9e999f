"""What is said of a training while it runs."""

import math

import pytest

from abmarl.experiments import monitoring
from abmarl.experiments.monitoring import Watch, never_stopping, not_finite

KEPT = "the last checkpoint is x"


def result(iteration=1, loss=0.5, mean=1.0, red=1.0, episodes=3, restarts=0):
    return {
        "training_iteration": iteration,
        "learners": {
            "__all_modules__": {"num_trained": 3}, "red": {"total_loss": loss, "kl": math.inf}
        },
        "env_runners": {
            "episode_return_mean": mean, "module_episode_returns_mean": {"red": red},
            "num_episodes": episodes, "num_episodes_lifetime": episodes,
        },
        "fault_tolerance": {"num_remote_worker_restarts": restarts},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ({}, None),
        ({"loss": math.nan}, "learners/red/total_loss is nan"),
        ({"loss": math.inf}, "learners/red/total_loss is inf"),
        ({"mean": -math.inf}, "env_runners/episode_return_mean is -inf"),
        ({"mean": math.nan}, "env_runners/episode_return_mean is nan"),
        ({"red": math.nan}, "env_runners/module_episode_returns_mean/red is nan"),
        ({"mean": math.nan, "red": math.nan, "episodes": 0}, None),
    ],
)
def test_what_is_not_finite(parts, found):
    assert not_finite(result(**parts)) == found


def test_each_thing_is_said_once():
    watch = Watch({"env_runners/win_rate/red": 1, "training_iteration": 9, "learner/red/loss": 0})
    assert watch.look(result(episodes=0), KEPT) == [
        "the results have no learner/red/loss: this criterion stops nothing; near are "
        "learners/red/total_loss"
    ]
    *lines, last = watch.look(result(2, loss=math.nan, restarts=1), KEPT)
    assert lines == [
        "an env runner died and was replaced",
        "iteration 2: learners/red/total_loss is nan; the policies may be spoiled from here on, "
        + KEPT,
    ]
    assert last.startswith("the results have no env_runners/win_rate/red: this criterion stops")
    assert watch.look(result(3, loss=math.nan, restarts=1), KEPT) == []
    assert watch.look(result(4, loss=math.nan, restarts=3), KEPT) == [
        "2 env runners died and were replaced"
    ]


def test_criteria_of_evaluations_are_not_missed_before_one():
    stop = {"evaluation/env_runners/episode_return": 3}
    assert never_stopping(result(), stop) == {}
    with_it = {**result(), "evaluation": {"env_runners": {"episode_return_mean": 2.0}}}
    (line,) = never_stopping(with_it, stop).values()
    assert "nothing; near are evaluation/env_runners/episode_return_mean" in line


def progress_result(iteration=1, returns=None, steps=None):
    return {
        "training_iteration": iteration,
        "env_runners": {
            "episode_return_mean": 1234.5,
            "module_episode_returns_mean": returns or {},
            "episode_len_mean": float("nan"),
            "num_episodes_lifetime": 17,
            "num_module_steps_sampled": steps or {"a": 600},
        },
    }


def test_figures(monkeypatch):
    now = iter([0.0, 10.0, 20.0, 30.0, 40.0])
    monkeypatch.setattr(monitoring.time, "monotonic", lambda: next(now))
    figures = monitoring.Figures()
    first = figures.of(progress_result(steps={"a": 600, "b": 400}), seconds=2.0, share=0.1)
    assert first == {
        "iteration": "1", "return": "1,234.50", "episode length": "-", "episodes": "17",
        "speed": "500 agent-steps/s", "time left": "-",
    }  # fmt: skip
    second = figures.of(progress_result(2, {"red": 2.0, "blue": -1.0}), 1.0, 0.5)
    assert (second["return of red"], second["return of blue"]) == ("2.00", "-1.00")
    assert second["time left"] == "0:00:12"  # 0.4 of it in ten seconds
    assert "time left" not in figures.of(progress_result(3), 1.0, None)  # it was interrupted
    assert "return of red" not in figures.of(progress_result(3, {"red": 2.0}), 1.0, 0.5)


def test_lines(capsys):
    with monitoring.TrainingDisplay("Walk") as shown:
        for iteration in (1, 2, 3):
            shown.update(progress_result(iteration), 1.0, 0.0)
    out = capsys.readouterr().out.splitlines()
    # The first at once, the last in the end, the others come too quickly.
    assert [line.split(",")[0] for line in out] == ["iteration 1", "iteration 3"]
    assert "return 1,234.50, episode length -, episodes 17, speed 600 agent-steps/s" in out[0]


def test_table(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(monitoring, "can_redraw", lambda stream: True)
    with monitoring.TrainingDisplay("Walk") as shown:
        shown.update(progress_result(4, {"red": 2.0, "[blue]": -1.0}), 1.0, 0.0)
    out = capsys.readouterr().out
    assert "Walk" in out
    assert "1,234.50" in out
    assert "return of [blue]" in out
