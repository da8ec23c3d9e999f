"""What the experiments among the examples learn, from scratch. Minutes each."""

import csv

import pytest

pytest.importorskip("ray.rllib")

from abmarl.examples import team_battle
from abmarl.external import load_policy
from abmarl.rollout import evaluate
from tests.experiments.test_examples import EXAMPLES, run

pytestmark = pytest.mark.slow


def trained(folder, name, *settings):
    """Train an example; returns its results folder."""
    words = [word for one in (*settings, f"local_dir={folder}") for word in ("--set", one)]
    run(folder, "train", EXAMPLES / f"{name}.py", *words)
    (results,) = (folder / "abmarl_results").iterdir()
    return results


def test_agents_learn_to_walk_through_the_corridor(tmp_path):
    """Each of five agents gets 100 points at the end, and pays for steps and bumps on the way."""
    results = trained(tmp_path, "multi_corridor_example", "num_workers=0")
    with (results / "progress.csv").open() as file:
        rows = list(csv.DictReader(file))
    key = next(name for name in rows[-1] if name.endswith("episode_return_mean"))
    assert float(rows[0][key]) < 200
    assert float(rows[-1][key]) > 400


def test_a_team_learns_to_beat_teams_that_act_at_random(tmp_path):
    results = trained(tmp_path, "team_battle_4_policies", "stop.timesteps_total=384000")
    checkpoint = max(results.glob("checkpoint_*"))
    folder = checkpoint / "learner_group" / "learner" / "rl_module"
    vec = team_battle().vectorize(500, seed=0, horizon=200)
    before = evaluate(vec, {}, 500, seed=0, progress=False).wins
    policy = load_policy(folder, name="red", trust=True, deterministic=False)
    after = evaluate(vec, {"red": policy}, 500, seed=0, progress=False)
    red = next(team for team, name in after.team_names.items() if name == "red")
    assert before[red].value < 0.35
    assert after.wins[red].value > 0.6
