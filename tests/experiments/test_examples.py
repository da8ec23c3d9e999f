"""The experiments among the examples, tried out as a user does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray.rllib")

EXAMPLES = Path(__file__).parents[2] / "examples"
SMOKE = [
    "multi_corridor_example",
    pytest.param("predator_prey_training", marks=pytest.mark.slow),
    pytest.param("team_battle_4_policies", marks=pytest.mark.slow),
    pytest.param("super_agent_team_battle", marks=pytest.mark.slow),
    pytest.param("maze_navigation_example", marks=pytest.mark.slow),
]


def run(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "abmarl", *map(str, arguments)], cwd=folder, capture_output=True,
        text=True, timeout=600, env={**os.environ, "COLUMNS": "100"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", SMOKE)
def test_smoke(name, tmp_path):
    last = run(tmp_path, "train", EXAMPLES / f"{name}.py", "--smoke").splitlines()[-1]
    assert last.startswith("played an episode of ")
    assert last.endswith(" works")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_analysis_of_predators(tmp_path):
    from matplotlib.image import imread

    settings = ("num_workers=0", "stop.training_iteration=1", f"local_dir={tmp_path}")
    words = [word for one in settings for word in ("--set", one)]
    run(tmp_path, "train", EXAMPLES / "predator_prey_training.py", *words)
    (results,) = (tmp_path / "abmarl_results").iterdir()
    told = run(tmp_path, "analyze", results, EXAMPLES / "predator_prey_analysis.py", "--seed", 1)
    assert told.startswith("episode 0 of 100 ...\nepisode 20 of 100 ...\n")
    assert "\nattacks.png: " in told
    picture = imread(tmp_path / "attacks.png")
    assert picture.shape[0] > 300
    assert picture.std() > 0.1
