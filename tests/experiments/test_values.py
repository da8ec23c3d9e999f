"""Values that RLlib would stumble over later, refused before Ray starts."""

import pytest

pytest.importorskip("ray.rllib")

from abmarl.experiments.configuration import translate
from abmarl.experiments.experiment import ExperimentError, read
from abmarl.experiments.settings import apply_settings
from tests.experiments.files import write

WHERE = r"walk\.py: params\['ray_tune'\]\['config'\]: "


@pytest.mark.parametrize(
    ("settings", "config", "message"),
    [
        (["lr=abc"], "", "lr='abc' is no number; RLlib's default is "),
        (["gamma=1.5"], "", "gamma=1.5 must be a number from 0 to 1"),
        (["lambda=-1"], "", "lambda=-1 must be a number from 0 to 1"),
        ([], '"lr": {"grid_search": [1, 2]}',
         "lr={.*} asks for several runs: a file is one run; use --set lr=..."),
        ([], '"env_config": {"size": {"grid_search": [1, 2]}}', "env_config={.*} asks for several"),
        (["train_batch_size=64", "sgd_minibatch_size=65"], "",
         "sgd_minibatch_size=65 is more than train_batch_size=64: set it to 64 or less"),
        (["train_batch_size=64"], "", "minibatch_size=128 is more than train_batch_size=64"),
        (["num_gpus=1"], "", "num_gpus=1 needs a GPU that torch can use, and there is none here"),
    ],
)  # fmt: skip
def test_values_that_are_refused(tmp_path, monkeypatch, settings, config, message):
    import torch

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    experiment = read(write(tmp_path, algorithm="PPO", config=config))
    apply_settings(experiment, settings)
    with pytest.raises(ExperimentError, match=WHERE + message):
        translate(experiment)


def test_values_that_are_fine(tmp_path, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    experiment = read(write(tmp_path, algorithm="PPO", config='"lr": [[0, 0.1], [10, 0.0]],'))
    apply_settings(experiment, ["num_gpus=1", "gamma=1", "rollout_fragment_length=auto"])
    assert translate(experiment).config.num_gpus_per_learner == 1
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv("RAY_ADDRESS", "somewhere:1")  # which may have some
    assert translate(experiment).config.num_gpus_per_learner == 1


def test_batches_that_cannot_be_name_who_asked_for_them(tmp_path):
    experiment = read(write(tmp_path))
    apply_settings(experiment, ["experiment.batched=True"])
    with pytest.raises(ExperimentError, match=r"or leave out --set experiment\.batched=True$"):
        translate(experiment)
    experiment = read(write(tmp_path, experiment=", 'batched': True"))
    with pytest.raises(ExperimentError, match=r"or leave out params\['experiment'\]\['batched'\]$"):
        translate(experiment)
