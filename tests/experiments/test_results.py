"""Results folders and their logs."""

import csv
import json
import sys

import pytest

from abmarl import __version__
from abmarl.experiments.experiment import ExperimentError
from abmarl.experiments.results import Results, base_folder, earlier
from abmarl.external.runtime import hush


@pytest.fixture
def results(tmp_path):
    (tmp_path / "walk.py").write_text("params = {}\n")
    return Results.create(tmp_path / "base", "My walk", str(tmp_path / "walk.py"), set=["lr=1"])


def test_what_is_in_a_new_folder(results, tmp_path):
    assert results.folder.parent == tmp_path / "base"
    assert results.folder.name.startswith("My-walk_20")
    assert results.experiment.read_text() == "params = {}\n"
    about = json.loads((results.folder / "run.json").read_text())
    assert about["abmarl"] == __version__
    assert (about["title"], about["set"]) == ("My walk", ["lr=1"])
    assert Results.open(results.folder).about == about
    assert [one.folder for one in earlier(tmp_path / "base")] == [results.folder]


def test_two_in_a_second(tmp_path):
    (tmp_path / "walk.py").write_text("")
    made = [Results.create(tmp_path, "w", str(tmp_path / "walk.py")).folder for _ in range(3)]
    assert len(set(made)) == 3


def test_the_base_is_where_the_file_says(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    assert str(base_folder()) == "/home/somebody/abmarl_results"
    assert base_folder(str(tmp_path)) == tmp_path / "abmarl_results"
    assert str(base_folder("~/runs")) == "/home/somebody/runs/abmarl_results"
    for wrong in (3, "s3://bucket/runs"):
        with pytest.raises(ExperimentError, match="must be a folder of this machine"):
            base_folder(wrong)


def test_checkpoints(results):
    with pytest.raises(ExperimentError, match="has no checkpoints: training ended before"):
        results.checkpoint()
    for name in ("checkpoint_000010", "checkpoint_000002", ".checkpoint_000011.9.part"):
        (results.folder / name).mkdir()
    (results.folder / "checkpoint_000099").write_text("no folder")
    assert list(results.checkpoints()) == [2, 10]
    assert results.checkpoint() == (10, results.folder / "checkpoint_000010")
    assert results.checkpoint(2)[0] == 2
    assert results.checkpoint_path(3).name == "checkpoint_000003"
    with pytest.raises(ExperimentError, match="has no checkpoint 3; there are 2, 10"):
        results.checkpoint(3)


def test_films_are_counted_on(results):
    first = results.film_path(7)
    assert first.name == "Episode_000007_0.mp4"
    first.touch()
    assert results.film_path(7).name == "Episode_000007_1.mp4"
    assert results.film_path(8).name == "Episode_000008_0.mp4"


def test_folders_that_are_none(tmp_path, results):
    with pytest.raises(ExperimentError, match="is no folder; 'abmarl list' names"):
        Results.open(tmp_path / "no")
    with pytest.raises(ExperimentError, match=r"is no results folder of 'abmarl train': it has no"):
        Results.open(tmp_path)
    results.remember(format=99, abmarl="9.9")
    with pytest.raises(ExperimentError, match=r"was made by abmarl 9\.9, whose results this"):
        Results.open(results.folder)
    (results.folder / "run.json").write_text("{")
    with pytest.raises(ExperimentError, match="is damaged"):
        Results.open(results.folder)


def test_checkpoints_of_another_ray(results):
    pytest.importorskip("ray")
    (results.folder / "checkpoint_000001").mkdir()
    results.remember(experiment="walk.py", ray="1.3.0")
    with pytest.raises(ExperimentError, match=r"was trained with Ray 1\.3\.0, here is "):
        results.checkpoint()


def result(iteration, **runners):
    return {"training_iteration": iteration, "env_runners": runners, "config": {"lr": 1}}


def test_logs(results):
    pytest.importorskip("tensorboardX")
    from abmarl.experiments.monitoring import Logs

    logs = Logs(results.folder)
    logs.write(result(1, num_episodes=0, episode_return_mean=float("nan")))
    logs.write(result(2, num_episodes=3, episode_return_mean=-1.5, connector_timer=3))
    logs.close()
    logs = Logs(results.folder)
    logs.write(result(3, num_episodes=4))
    logs.close()
    with (results.folder / "progress.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["training_iteration"] for row in rows] == ["1", "2", "3"]
    assert [row["env_runners/episode_return_mean"] for row in rows] == ["", "-1.5", ""]
    assert [row["env_runners/num_episodes"] for row in rows] == ["0", "3", "4"]
    assert set(rows[0]) == {
        "training_iteration", "env_runners/num_episodes", "env_runners/episode_return_mean"
    }  # fmt: skip
    assert results.last_values() == {
        "training_iteration": 3, "env_runners/num_episodes": 4,
        "env_runners/episode_return_mean": -1.5,
    }  # fmt: skip
    assert list(results.folder.glob("events.out.tfevents.*"))


def test_iterations_that_come_again_are_logged_once(results):
    pytest.importorskip("tensorboardX")
    from abmarl.experiments.monitoring import Logs

    results.forget_after(3)  # of nothing
    for begin in (1, 3):  # interrupted after 5, with a checkpoint of 2
        results.forget_after(begin - 1)
        logs = Logs(results.folder)
        for iteration in range(begin, 6):
            logs.write({**result(iteration), "time_total_s": 10.0 * begin + iteration})
        logs.close()
    with (results.folder / "progress.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["training_iteration"] for row in rows] == ["1", "2", "3", "4", "5"]
    assert [row["time_total_s"] for row in rows] == ["11.0", "12.0", "33.0", "34.0", "35.0"]
    results.forget_after(2)
    assert results.last_values()["time_total_s"] == 12.0


def test_without_ray(results, monkeypatch):
    (results.folder / "checkpoint_000001").mkdir()
    results.remember(experiment="walk.py", ray="2.60.0")
    for name in ("ray", "ray.rllib"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"needs ray: pip install 'abmarl\[rllib\]'"):
        results.checkpoint()
    with pytest.raises(ImportError, match=r"abmarl train needs ray: pip install"):
        hush()
