"""``abmarl replay`` and ``abmarl plot``: films, pictures, mismatches and every mistake."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
from PIL import Image

from abmarl.examples import shipped
from abmarl.rollout import collect, load, save
from tests.support.processes import call, environment

SIM = """
from abmarl.examples import team_battle
sim = team_battle()
"""
NO_SCREEN = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "SDL_VIDEODRIVER": ""}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    vec = shipped["team-battle"]().vectorize(num_envs=2, seed=7, horizon=30)
    save(collect(vec, "random", 70, name="team-battle", progress=False), folder / "run.npz")
    rollout = load(folder / "run.npz")
    rollout.simulation = "mine"
    save(rollout, folder / "mine.npz")
    rollout.observations["blue"]["position_centered_encoding"][20, 1, 0, 0, 0] += 1
    rollout.simulation = "team-battle"
    save(rollout, folder / "bad.npz")
    (folder / "mine.py").write_text(SIM)
    (folder / "other.py").write_text(SIM.replace("team_battle", "pacman"))
    with zipfile.ZipFile(folder / "run.npz") as old:
        metadata = json.loads(old.read("metadata.json"))
        with zipfile.ZipFile(folder / "newer.npz", "w") as new:
            for name in old.namelist():
                text = old.read(name)
                if name == "metadata.json":
                    text = json.dumps({**metadata, "format_version": 99})
                new.writestr(name, text)
    np.savez(folder / "arrays.npz", a=np.zeros(3))
    (folder / "cut.npz").write_bytes((folder / "run.npz").read_bytes()[:5000])
    return folder


@pytest.fixture
def abmarl(run, tmp_path):
    for entry in run.iterdir():
        shutil.copy(entry, tmp_path)
    return lambda *arguments, env=None: call(tmp_path, arguments, {**NO_SCREEN, **(env or {})})


def frames(path):
    with Image.open(path) as image:
        return image.n_frames


def test_a_film_of_some_steps(abmarl, tmp_path):
    done = abmarl("replay", "run.npz", "--record", "clip.gif", "--from", 3, "--to", 12)
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith("wrote clip.gif\n")
    assert frames(tmp_path / "clip.gif") == 10
    done = abmarl("replay", "run.npz", "--record", "all.mp4", "--world", 1)
    assert done.code == 0
    assert (tmp_path / "all.mp4").stat().st_size > 5000


def test_a_film_of_an_episode(abmarl, tmp_path):
    done = abmarl("replay", "run.npz", "--record", "clip.gif", "--episode", 2)
    assert done.code == 0
    ended = np.flatnonzero(load(tmp_path / "run.npz").ended[:, 0])
    assert frames(tmp_path / "clip.gif") == ended[1] - ended[0] + 1


def test_a_simulation_of_ones_own(abmarl):
    done = abmarl("replay", "mine.npz", "--record", "clip.png")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: mine.npz was made with 'mine', which is none of the shipped simulations\n"
        "give its Python file: --sim mine.py\n"
    )
    done = abmarl("replay", "mine.npz", "--record", "clip.png", "--sim", "mine.py")
    assert done.code == 0
    assert "not as recorded" not in done.err


def test_ctrl_c_keeps_the_film_so_far_and_says_so(tmp_path):
    vec = shipped["foraging"]().vectorize(num_envs=1, seed=0, horizon=30)
    save(collect(vec, "random", 3000, name="foraging", progress=False), tmp_path / "run.npz")
    command = [sys.executable, "-m", "abmarl", "replay", "run.npz", "--record", "clip.mp4"]
    env = {**environment(), **NO_SCREEN}
    with subprocess.Popen(
        command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr.readline().startswith("filming")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert re.search(r"wrote clip.mp4\ninterrupted after \d+ of 3,?\d+ pictures\n$", err)
    assert (tmp_path / "clip.mp4").stat().st_size > 1000


def test_a_mismatch_is_told_and_the_record_is_shown(abmarl, tmp_path):
    done = abmarl("replay", "bad.npz", "--record", "a.gif", "--world", 1, "--to", 25)
    assert done.code == 0
    assert done.err.startswith(
        "not as recorded: world 1, after 20 steps: observation 'position_centered_encoding' of "
        "agent 'agent1'\nfrom there on the record is shown, what every agent saw\n"
    )
    assert frames(tmp_path / "a.gif") == 26
    done = abmarl("replay", "bad.npz", "--record", "b.gif", "--world", 0)
    assert "not as recorded" not in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.npz"], "none.npz: No such file or directory"),
        (["mine.py"], "mine.py is not a rollout: it is no .npz file"),
        (["arrays.npz"], "arrays.npz is not a rollout: it has no metadata.json"),
        (["cut.npz"], "cut.npz is cut off: its end is missing"),
        (["newer.npz"], "newer.npz has format 99, written by abmarl "),
        (["run.npz", "--world", "2"], "--world 2: there are worlds 0 to 1 in run.npz"),
        (["run.npz", "--episode", "99"], "--episode 99: there are episodes 1 to "),
        (["run.npz", "--from", "3"], "--from 3: is for a film, give --record FILE too"),
        (["run.npz", "--record", "a.avi"], "--record a.avi: the name must end in .mp4 or "),
        (["run.npz", "--record", "/proc/a.gif"], "--record /proc/a.gif: cannot be written: "),
        (["run.npz", "--record", "a.gif", "--to", "71"], "--to 71: the rollout has 70 steps"),
        (["run.npz", "--record", "a.gif", "--from", "9", "--to", "8"], "--from 9: comes after "),
        (["run.npz", "--record", "a.gif", "--fps", "80"], "--record: fps is 80.0, but GIF plays"),
        (["run.npz", "--fps", "0"], "--fps 0: allowed are numbers above 0"),
        (["run.npz", "--sim", "other.py"], "run.npz: the simulation has the groups ghost, pacman"),
        (["run.npz", "--sim", "batle"], "no simulation 'batle'"),
        (["run.npz"], "there is no screen to open a window on (DISPLAY is not set): give --rec"),
    ],
)
def test_mistakes(abmarl, tmp_path, arguments, message):
    before = set(os.listdir(tmp_path))
    done = abmarl("replay", *arguments)
    assert (done.code, done.out) == (2, "")
    errors = [line for line in done.err.splitlines() if not line.startswith("abmarl: compiling")]
    assert errors[0].startswith(f"error: {message}")
    assert len(errors) <= 2
    assert {name for name in os.listdir(tmp_path) if name != "__pycache__"} <= before


# --- plots ---


def test_a_plot(abmarl, tmp_path):
    done = abmarl("plot", "run.npz")
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith("wrote run.png\n")
    with Image.open(tmp_path / "run.png") as image:
        assert image.width > 1000
    done = abmarl("plot", "run.npz", "bad.npz", "--out", "both.svg")
    assert done.code == 0
    assert "not as recorded: bad.npz, world 1, after 20 steps: observation" in done.err
    text = (tmp_path / "both.svg").read_text()
    assert "where they attacked, run" in text
    assert "where they were, bad" in text


def test_a_plot_without_the_simulation_has_no_maps(abmarl, tmp_path):
    done = abmarl("plot", "mine.npz", "-o", "mine.svg")
    assert done.code == 0
    assert "no heat maps: mine.npz was made with 'mine'" in done.err
    assert "where they" not in (tmp_path / "mine.svg").read_text()
    done = abmarl("plot", "mine.npz", "-o", "mine.svg", "--sim", "mine.py")
    assert done.code == 0
    assert "where they were" in (tmp_path / "mine.svg").read_text()


def test_a_plot_with_another_simulation(abmarl, tmp_path):
    done = abmarl("plot", "run.npz", "-o", "run.png", "--sim", "pacman")
    assert done.code == 2
    assert "error: --sim pacman does not fit run.npz: the simulation has the groups" in done.err
    assert not (tmp_path / "run.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.npz"], "none.npz: No such file or directory"),
        (["run.npz", "arrays.npz"], "arrays.npz is not a rollout: it has no metadata.json"),
        (["run.npz", "-o", "a.pdf"], "--out a.pdf: the name must end in .png or .svg"),
        (["run.npz", "-o", "/proc/a.png"], "--out /proc/a.png: cannot be written: "),
        (["run.npz", "--sim", "nothing.py"], "nothing.py does not exist"),
    ],
)
def test_mistakes_of_plots(abmarl, arguments, message):
    done = abmarl("plot", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")
    assert done.err.count("\n") <= 2
