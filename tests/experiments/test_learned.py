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


def test_teams_learn_to_beat_teams_that_act_at_random(tmp_path):
    """On average: how good a single team gets varies from one training to the next."""
    results = trained(tmp_path, "team_battle_4_policies", "stop.timesteps_total=384000")
    vec = team_battle().vectorize(200, seed=0, horizon=200)
    names = {name: team for team, name in evaluate(vec, {}, 200, progress=False).team_names.items()}
    before, after = [], []
    for group in vec.groups:
        policy = load_policy(checkpoint(results), name=group, trust=True, deterministic=False)
        for wins, policies in ((before, {}), (after, {group: policy})):
            found = evaluate(vec, policies, 200, seed=0, progress=False)
            wins.append(found.wins[names[group]].value)
    assert sum(before) <= 1
    assert sum(after) / len(after) > 0.45


def checkpoint(results):
    """The networks in the last checkpoint."""
    return max(results.glob("checkpoint_*")) / "learner_group" / "learner" / "rl_module"
