"""What training shows."""

from abmarl.experiments import monitoring


def result(iteration=1, returns=None, steps=None):
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
    first = figures.of(result(steps={"a": 600, "b": 400}), seconds=2.0, share=0.1)
    assert first == {
        "iteration": "1", "return": "1,234.50", "episode length": "-", "episodes": "17",
        "speed": "500 agent-steps/s", "time left": "-",
    }  # fmt: skip
    second = figures.of(result(2, {"red": 2.0, "blue": -1.0}), 1.0, 0.5)
    assert (second["return of red"], second["return of blue"]) == ("2.00", "-1.00")
    assert second["time left"] == "0:00:12"  # 0.4 of it in ten seconds
    assert "time left" not in figures.of(result(3), 1.0, None)  # it was interrupted
    assert "return of red" not in figures.of(result(3, {"red": 2.0}), 1.0, 0.5)


def test_lines(capsys):
    with monitoring.TrainingDisplay("Walk") as shown:
        for iteration in (1, 2, 3):
            shown.update(result(iteration), 1.0, 0.0)
    out = capsys.readouterr().out.splitlines()
    # The first at once, the last in the end, the others come too quickly.
    assert [line.split(",")[0] for line in out] == ["iteration 1", "iteration 3"]
    assert "return 1,234.50, episode length -, episodes 17, speed 600 agent-steps/s" in out[0]


def test_table(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(monitoring, "can_redraw", lambda stream: True)
    with monitoring.TrainingDisplay("Walk") as shown:
        shown.update(result(4, {"red": 2.0, "[blue]": -1.0}), 1.0, 0.0)
    out = capsys.readouterr().out
    assert "Walk" in out
    assert "1,234.50" in out
    assert "return of [blue]" in out
