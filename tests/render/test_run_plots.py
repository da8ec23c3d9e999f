"""Plots of rollouts: what is counted, and that it is drawn."""

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs abmarl[render]")

from PIL import Image

from abmarl.examples import shipped
from abmarl.render import Run, plot_runs
from abmarl.render.plots import _group_colors, acting_over_time
from abmarl.rollout import collect
from abmarl.rollout.whereabouts import whereabouts


def made(name="predator-prey-resources", steps=40, horizon=15, seed=0):
    sim = shipped[name]()
    vec = sim.vectorize(num_envs=6, seed=seed, horizon=horizon, num_threads=1)
    rollout = collect(vec, "random", steps, name=name, progress=False)
    return Run(name, rollout, whereabouts(sim, rollout), {"prey": "royalblue"})


@pytest.fixture(scope="module")
def run():
    return made()


def test_acting_over_time_against_a_plain_loop(run):
    rollout = run.rollout
    counts = {name: {} for name in rollout.groups}
    for world in range(rollout.num_envs):
        age = 0
        for step in range(rollout.num_steps):
            for name, column in rollout.active.items():
                counts[name].setdefault(age, []).append(int(column[step, world].sum()))
            age = 0 if rollout.ended[step, world] else age + 1
    found = acting_over_time(rollout)
    for name, ages in counts.items():
        assert found[name] == pytest.approx([np.mean(ages[k]) for k in sorted(ages)])


def test_png(run, tmp_path):
    plot_runs(tmp_path / "one.png", [run])
    with Image.open(tmp_path / "one.png") as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    assert (np.abs(pixels - (65, 105, 225)).sum(-1) < 30).any()  # royalblue, the prey
    # Two rows of maps below the curves: dark blue cells in the lower half.
    dark = (pixels - (8, 29, 88)).__abs__().sum(-1) < 40
    assert dark[len(dark) // 2 :].sum() > 200
    plot_runs(tmp_path / "two.png", [run, made(seed=1)])
    with Image.open(tmp_path / "two.png") as image:
        assert image.height > 1.4 * len(pixels)


def test_svg_is_the_same_each_time(run, tmp_path):
    for name in ("one.svg", "two.svg"):
        plot_runs(tmp_path / name, [run])
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text()
    for words in ("episode return", "episode length", "survivors", "where they attacked", "prey"):
        assert words in text


def test_runs_with_other_groups_and_without_maps(run, tmp_path):
    maze = made("maze-navigation")
    plot_runs(tmp_path / "both.svg", [run._replace(where=None), maze])
    text = (tmp_path / "both.svg").read_text()
    assert "navigator" in text
    assert "predator" in text
    assert "where they were, maze-navigation" in text
    assert "where they attacked" not in text


def test_no_episode_ended(tmp_path):
    plot_runs(tmp_path / "short.svg", [made(steps=1, horizon=None)])
    assert (tmp_path / "short.svg").read_text().count("no episode ended") >= 2


def test_bad_input(run, tmp_path):
    with pytest.raises(ValueError, match=r"known suffixes: \.png \.svg"):
        plot_runs(tmp_path / "one.pdf", [run])
    with pytest.raises(ValueError, match="there is no run"):
        plot_runs(tmp_path / "one.png", [])
    with pytest.raises(OSError, match=r"missing/one\.png"):
        plot_runs(tmp_path / "missing" / "one.png", [run])


def test_groups_never_share_a_colour():
    names = ["a", "b", "c"]
    run = Run("run", None, None, dict.fromkeys(names, "tab:orange"))
    assert len(set(_group_colors([run], names).values())) == 3
