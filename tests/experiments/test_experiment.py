"""Experiment files as they are read: no Ray, and one line on what is wrong."""

import shutil
import sys

import pytest

from abmarl.experiments.experiment import ExperimentError, batched_mode, manager_of, nearest, read
from abmarl.experiments.settings import apply_settings
from abmarl.managers import AllStepManager, TurnBasedManager
from tests.support.experiment_files import write
from tests.support.grid_worlds import strike

CREATOR = "'sim_creator': print"


def test_what_a_file_says(tmp_path):
    experiment = read(write(tmp_path, tune='"checkpoint_freq": 5,'))
    assert experiment.title == "Walk"
    assert experiment.old_style
    assert experiment.config["horizon"] == 20
    assert experiment.tune["checkpoint_freq"] == 5
    assert "config" not in experiment.tune
    assert experiment.batched is False
    assert type(experiment.manager()) is TurnBasedManager
    assert experiment.make_sim() is experiment.make_sim()


def test_config_may_stand_beside(tmp_path):
    (tmp_path / "beside.py").write_text(
        f"params = {{'experiment': {{'title': 'x', {CREATOR}}}, 'ray_tune': {{}}, 'verbose': 2,\n"
        f"    'config': {{'lr': 0.5, 'env_config': {{'size': 3}}}}}}\n"
    )
    experiment = read(tmp_path / "beside.py")
    assert experiment.config == {"lr": 0.5, "env_config": {"size": 3}}
    assert experiment.env_config == {"size": 3}
    assert experiment.where == "params['config']"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "e.py has no `params`: an experiment file sets params = "),
        ("params = 3", "e.py: params must be a dict, not 3"),
        ("params = {}", "e.py: params has no 'experiment': "),
        ("params = {'experimnt': {}}",
         "e.py: params has no key 'experimnt' (did you mean 'experiment'?); there are "),
        (f"params = {{'experiment': {{{CREATOR}}}}}",
         "e.py: params['experiment']['title'] is missing: a name, after which the results"),
        ("params = {'experiment': {'title': 3, 'sim_creator': 3}}",
         "e.py: params['experiment']['title'] must be a name, not 3"),
        ("params = {'experiment': {'title': 'x'}}",
         "e.py: params['experiment']['sim_creator'] is missing: a function of env_config that"),
        ("params = {'experiment': {'title': 'x', 'sim_creator': 3}}",
         "e.py: params['experiment']['sim_creator'] must be a function that returns the "),
        (f"params = {{'experiment': {{'title': 'x', 'batch': 1, {CREATOR}}}}}",
         "e.py: params['experiment'] has no key 'batch' (did you mean 'batched'?)"),
        (f"params = {{'experiment': {{'title': 'x', 'batched': 2, {CREATOR}}}}}",
         "e.py: params['experiment']['batched'] must be False, True, 'episodes' or 'columns', not"),
        (f"params = {{'experiment': {{'title': 'x', {CREATOR}}}, 'ray_tune': {{'checkpoint': 3}}}}",
         "e.py: params['ray_tune'] has no key 'checkpoint' (did you mean 'checkpoint_freq'?)"),
        (f"params = {{'experiment': {{'title': 'x', {CREATOR}}}, 'ray_tune': {{'config': {{}}}},\n"
         f"    'config': {{}}}}", "e.py: params has 'config' inside of 'ray_tune' and beside it"),
        (f"params = {{'experiment': {{'title': 'x', {CREATOR}}}, 'config': 3}}",
         "e.py: params['config'] must be a dict of keys, an AlgorithmConfig, or a function that"),
        ("\n1 / 0", "{folder}/e.py, line 2: ZeroDivisionError: division by zero"),
        ("import nothing_of_the_kind", "{folder}/e.py, line 1: ModuleNotFoundError: No module"),
    ],
)  # fmt: skip
def test_files_that_are_wrong(tmp_path, text, message):
    (tmp_path / "e.py").write_text(text + "\n")
    with pytest.raises(ExperimentError) as caught:
        read(tmp_path / "e.py")
    assert str(caught.value).startswith(message.format(folder=tmp_path))
    assert str(caught.value).count("\n") <= 1


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(ExperimentError, match=r"no\.py does not exist"):
        read(tmp_path / "no.py")
    with pytest.raises(ExperimentError, match="is a folder, not a Python file"):
        read(tmp_path)


def test_a_copy_finds_the_neighbours_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("there", "copies"):
        (tmp_path / name).mkdir()
    (tmp_path / "there" / "walk_neighbour.py").write_text("title = 'Beside'\n")
    file, copy = tmp_path / "there" / "e.py", tmp_path / "copies" / "e.py"
    file.write_text(
        "from walk_neighbour import title\n"
        f"params = {{'experiment': {{'title': title, {CREATOR}}}, 'config': {{}}}}\n"
    )
    shutil.copy(file, copy)
    with pytest.raises(ExperimentError, match="No module named 'walk_neighbour'"):
        read(copy)
    assert read(copy, source=file).title == "Beside"


def test_creators_that_fail(tmp_path):
    (tmp_path / "e.py").write_text(
        "def make(config):\n    return config['nothing']\n"
        "params = {'experiment': {'title': 'x', 'sim_creator': make}, 'config': {}}\n"
    )
    with pytest.raises(ExperimentError, match=r"e\.py, line 2: KeyError: 'nothing'"):
        read(tmp_path / "e.py").make_sim()


def test_what_holds_no_manager():
    manager = AllStepManager(strike())
    assert manager_of(manager, "it") is manager
    with pytest.raises(ExperimentError, match=r"it is of type .*, without a simulation manager"):
        manager_of(strike(), "it")


def test_settings_from_outside(tmp_path):
    experiment = read(write(tmp_path))
    apply_settings(
        experiment,
        ["lr=0.25", "stop.episodes_total=7", "model.fcnet_hiddens=[8, 8]", "checkpoint_freq=3",
         "experiment.title=Other walk", "experiment.batched=columns", "framework=torch"],
    )  # fmt: skip
    assert experiment.config["lr"] == 0.25
    assert experiment.config["model"] == {"fcnet_hiddens": [8, 8]}
    assert experiment.config["framework"] == "torch"
    assert experiment.tune["stop"] == {"training_iteration": 2, "episodes_total": 7}
    assert experiment.tune["checkpoint_freq"] == 3
    assert (experiment.title, experiment.batched) == ("Other walk", "columns")
    # The dicts of the file are as they were.
    assert experiment.module.params["ray_tune"]["stop"] == {"training_iteration": 2}


@pytest.mark.parametrize(
    ("text", "value"),
    [("false", False), ("True", True), ("none", None), ("1e-3", 0.001), ("falsehood", "falsehood"),
     ("{[]: 1}", "{[]: 1}")],
)  # fmt: skip
def test_values_from_outside(tmp_path, text, value):
    experiment = read(write(tmp_path))
    apply_settings(experiment, [f"explore={text}"])
    assert experiment.config["explore"] == value
    assert type(experiment.config["explore"]) is type(value)


def test_a_title_is_a_text(tmp_path):
    experiment = read(write(tmp_path))
    apply_settings(experiment, ["experiment.title=1e3"])
    assert experiment.title == "1e3"
    with pytest.raises(ExperimentError, match="the title must not be empty"):
        apply_settings(experiment, ["experiment.title="])


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("lr", "--set lr: write --set key=value"),
        ("=3", "--set =3: write --set key=value"),
        ("experiment.sim_creator=3", "of the experiment, \\['title', 'batched'\\] can be set"),
        ("experiment.batched=maybe", "must be False, True, 'episodes' or 'columns', not 'maybe'"),
    ],
)
def test_settings_that_are_wrong(tmp_path, setting, message):
    with pytest.raises(ExperimentError, match=message):
        apply_settings(read(write(tmp_path)), [setting])


def test_batched():
    assert [batched_mode(one, "") for one in (None, False, True, "episodes", "columns")] == [
        False, False, "episodes", "episodes", "columns"
    ]  # fmt: skip


def test_a_file_sees_no_options_of_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["abmarl", "train", "--smoke"])
    (tmp_path / "e.py").write_text("import sys\nfound = sys.argv\n1 / len(sys.argv[1:])\n")
    with pytest.raises(ExperimentError, match="line 3: ZeroDivisionError"):
        read(tmp_path / "e.py")
    path = write(tmp_path, head="import sys\nfound = list(sys.argv)")
    assert read(path).module.found == [str(path)]
    assert sys.argv == ["abmarl", "train", "--smoke"]


def test_what_others_call_a_key():
    assert nearest("learning_rat", ["lr", "learner_class"]) == " (did you mean 'lr'?)"
    assert nearest("learning_rate", ["learner_class"]) == ""
    assert nearest("discount", ["gamma"]) == " (did you mean 'gamma'?)"
