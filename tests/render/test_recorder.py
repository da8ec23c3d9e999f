"""Films of simulations."""

import base64
import re

import numpy as np
import pytest
from PIL import Image

from abmarl.examples import shipped
from abmarl.examples.sim.multi_corridor import MultiCorridor
from abmarl.managers import AllStepManager
from abmarl.render import Recorder
from abmarl.render.drawing.agents import FLASH
from tests.render.test_frames import details, only
from tests.support.grid_worlds import act, battle

SUFFIXES = [".mp4", ".gif", ".png"]


def has(image, color):
    return bool((image == color).all(axis=-1).any())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_films_what_happens(tmp_path, suffix):
    sim = shipped["team-battle"]()
    manager = AllStepManager(sim)
    with Recorder(manager, tmp_path / f"film{suffix}", fps=5) as recorder:
        obs = manager.reset(seed=0)
        pictures = [recorder.capture()]
        rng = np.random.default_rng(0)
        for _ in range(6):
            actions = {name: {"attack": 1, "move": rng.integers(-1, 2, 2)} for name in obs}
            obs, _, dones, _ = manager.step(actions)
            obs = {name: one for name, one in obs.items() if not dones[name]}
            pictures.append(recorder.capture())
        assert recorder.num_frames == 7
        assert recorder._repr_html_() is None
    assert only(tmp_path, f"film{suffix}")
    assert len({picture.tobytes() for picture in pictures}) == 7
    if suffix == ".mp4":
        assert details(tmp_path / "film.mp4")[1] == 7
    if suffix == ".png":
        assert np.array_equal(np.asarray(Image.open(tmp_path / "film.png")), pictures[-1])
    html = recorder._repr_html_()
    kind = {".mp4": "<video controls", ".gif": "<img", ".png": "<img"}[suffix]
    assert html.startswith(kind)
    data = base64.b64decode(re.search(r"base64,([^\"]*)", html).group(1))
    assert data == (tmp_path / f"film{suffix}").read_bytes()


def test_attacks_flash(tmp_path):
    sim = battle()
    with Recorder(sim, tmp_path / "film.png") as recorder:
        sim.reset(seed=0)
        assert not has(recorder.capture(), FLASH)
        sim.step({"red0": act(1)})
        assert has(recorder.capture(), FLASH)
        sim.step({})
        assert not has(recorder.capture(), FLASH)


def test_two_who_watch_see_the_same(tmp_path):
    sim = battle()
    sim.reset(seed=0)
    with (
        Recorder(sim, tmp_path / "a.gif") as one,
        Recorder(sim, tmp_path / "b.gif", title="b", size=(320, 200)) as other,
    ):
        sim.step({"red0": act(1)})
        for recorder in (one, other):
            assert has(recorder.capture(), FLASH)


def test_a_world_of_many(tmp_path):
    vec = shipped["team-battle"]().vectorize(5, seed=0)
    vec.reset()
    with Recorder(vec.flatten(), tmp_path / "film.png", world=3) as recorder:
        assert recorder.capture().ndim == 3
    with pytest.raises(ValueError, match="world is 5, but there are 5: 0 to 4"):
        Recorder(vec, tmp_path / "other.png", world=5)
    assert only(tmp_path, "film.png")


def test_a_simulation_that_draws_itself(tmp_path):
    sim = MultiCorridor()
    with Recorder(sim, tmp_path / "film.gif") as recorder:
        sim.reset(seed=0)
        assert recorder.capture().shape == (640, 640, 3)
    assert only(tmp_path, "film.gif")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_crash_keeps_what_was_filmed(tmp_path, suffix):
    sim = battle()
    sim.reset(seed=0)
    with pytest.raises(KeyboardInterrupt), Recorder(sim, tmp_path / f"x{suffix}") as recorder:
        recorder.capture()
        raise KeyboardInterrupt
    assert only(tmp_path, f"x{suffix}")


def test_refused(tmp_path):
    sim = battle()
    with pytest.raises(ValueError, match=r"known suffixes: \.mp4 \.gif \.png"):
        Recorder(sim, tmp_path / "film.avi")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Recorder(sim, tmp_path / "nowhere" / "film.mp4")
    with pytest.raises(ValueError, match="GIF plays at most 50"):
        Recorder(sim, tmp_path / "film.gif", fps=60)
    assert not list(tmp_path.iterdir())
