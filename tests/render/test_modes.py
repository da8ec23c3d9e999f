"""Render modes: arrays, text, figures, and windows where there is no screen."""

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from abmarl.examples import shipped
from abmarl.examples.sim.multi_corridor import MultiCorridor
from abmarl.external import adapter
from abmarl.managers import AllStepManager
from abmarl.render import NoScreenError, Picture, Scene, frame, show
from abmarl.render.drawing.ansi import ansi_text
from abmarl.render.modes import RENDER_MODES
from abmarl.sim.wrappers import FlattenWrapper
from tests.support.grid_worlds import battle, build, fighter, wall

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def no_screen(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    if not sys.platform.startswith("linux"):
        pytest.skip("only on Linux can there be no screen")


def test_an_array():
    sim = shipped["team-battle"]()
    sim.reset(seed=0)
    image = sim.render(mode="rgb_array")
    assert (image.dtype, image.ndim, image.shape[2]) == (np.uint8, 3, 3)
    assert np.array_equal(image, frame(Scene.of(sim)))


def test_the_same_state_is_the_same_picture():
    sim = battle()
    sim.reset(seed=0)
    before, state = sim.render(mode="rgb_array"), sim.state_dict()
    sim.step({"red0": {"attack": 1, "move": np.zeros(2, int)}})
    assert not np.array_equal(sim.render(mode="rgb_array"), before)
    sim.load_state_dict(state)
    assert np.array_equal(sim.render(mode="rgb_array"), before)


def test_through_wrappers_managers_and_adapters():
    sim = shipped["team-battle"]()
    manager = AllStepManager(FlattenWrapper(sim))
    manager.reset(seed=0)
    expected = sim.render(mode="rgb_array")
    assert np.array_equal(manager.render(mode="rgb_array"), expected)
    assert np.array_equal(show(manager, "rgb_array"), expected)
    assert np.array_equal(adapter.render(manager, "rgb_array"), expected)
    vec = sim.vectorize(3, seed=0)
    vec.reset()
    flat = vec.flatten().render("rgb_array", world=1)
    assert np.array_equal(flat, vec.render("rgb_array", world=1))
    vec.step(vec.sample_actions())
    assert not np.array_equal(vec.show(world=0).pixels, vec.show(world=2).pixels)


def test_adapters_take_the_modes_there_are():
    assert adapter.RENDER_MODES == RENDER_MODES == ("human", "rgb_array", "ansi")
    assert list(adapter.METADATA) == ["render_modes", "render_fps"]
    assert adapter.METADATA["render_modes"] == list(RENDER_MODES)
    for mode in (None, *RENDER_MODES):
        assert adapter.check_render_mode(mode) == mode
    with pytest.raises(ValueError, match="'human' or 'rgb_array' or 'ansi', got 'movie'"):
        adapter.check_render_mode("movie")
    with pytest.raises(ValueError, match="nothing to render without a mode"):
        adapter.render(battle(), None)


def test_no_such_mode():
    with pytest.raises(ValueError, match=r"mode must be 'human' or .*, got 'movie'"):
        battle().render(mode="movie")


def test_no_screen(no_screen):
    import pygame

    sim = battle()
    sim.reset(seed=0)
    for _ in range(2):
        with pytest.raises(NoScreenError, match=r'no screen .* use render\(mode="rgb_array"\)'):
            sim.render()
    assert issubclass(NoScreenError, OSError)
    assert not pygame.display.get_init()
    sim.close()


def test_a_figure():
    sim = battle()
    sim.reset(seed=0)
    fig = Figure()
    fig.gca().plot([0, 1])
    assert sim.render(fig=fig) is None
    (axes,) = fig.axes
    assert axes.get_xlim() == (0, 5)
    assert axes.get_ylim() == (3, 0)
    points = np.concatenate([one.get_offsets() for one in axes.collections])
    expected = [agent.position[::-1] + 0.5 for agent in sim.agents.values()]
    assert sorted(points.tolist()) == sorted(np.array(expected).tolist())
    assert not axes.lines
    assert axes.xaxis.get_minorticklocs().tolist() == list(range(6))  # a line at every cell
    AllStepManager(sim).render(fig=fig)
    assert len(fig.axes) == 1


def test_simulations_without_a_grid():
    sim = MultiCorridor()
    sim.reset(seed=0)
    image = sim.render(mode="rgb_array")
    assert (image.dtype, image.shape) == (np.uint8, (640, 640, 3))
    assert len(np.unique(image)) > 10
    assert np.array_equal(show(sim, "rgb_array"), image)
    fig = Figure()
    show(sim, fig=fig)
    assert fig.axes[0].collections
    for use in (show, type(sim).render):
        with pytest.raises(ValueError, match="rgb_array"):
            use(sim, "ansi")


def test_a_picture_for_notebooks(tmp_path):
    from PIL import Image

    sim = battle()
    sim.reset(seed=0)
    picture = sim.show(size=(400, 300))
    assert isinstance(picture, Picture)
    assert repr(picture) == "Picture(400 x 300 pixels)"
    (tmp_path / "x.png").write_bytes(picture._repr_png_())
    assert np.array_equal(np.asarray(Image.open(tmp_path / "x.png")), picture.pixels)


# --- text ---


def crowd():
    agents = [fighter(f"a{k}", 1, (0, 1), render_color="red") for k in range(12)]
    agents += [
        fighter("b0", 2, (1, 2), render_color="#00f", render_shape="^"),
        fighter("b1", 2, (1, 2), render_color="#00f", render_shape="^"),
        wall("w", 9, (2, 4), render_shape="s", render_color="dimgray"),
    ]
    return build(agents, overlapping={1: 1, 2: 2})


def test_text_without_colours(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    sim = crowd()
    sim.reset(seed=0)
    lines = sim.render(mode="ansi").split("\n")
    assert lines[:3] == [" · ●+· · · ", " · · ▲2· · ", " · · · · ██"]
    assert lines[3].startswith("● ")
    assert "12/12" in lines[3]


def test_text_with_colours(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    sim = crowd()
    sim.reset(seed=0)
    lines = sim.render(mode="ansi").split("\n")
    assert "\x1b[38;2;255;0;0m●+" in lines[0]
    assert "\x1b[38;2;0;0;255m▲2" in lines[1]
    assert all(line.startswith("\x1b[48;2;") and line.endswith("\x1b[0m") for line in lines[:3])
    plain = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(lines))
    assert plain == ansi_text(Scene.of(sim), color=False)


class Terminal:
    """As much of a terminal as pictures need: characters and their colours in rows."""

    def __init__(self, data):
        self.rows, self.colors, color = [[]], [[]], None
        for part in re.split(r"(\x1b\[[0-9;]*m|\r\n)", data):
            if part == "\r\n":
                self.rows.append([])
                self.colors.append([])
            elif part.startswith("\x1b["):
                numbers = [int(n) for n in part[2:-1].split(";")]
                color = tuple(numbers[2:]) if numbers[:2] == [38, 2] else color
                color = None if numbers == [0] else color
            else:
                self.rows[-1] += part
                self.colors[-1] += [color] * len(part)


def test_text_through_a_real_terminal():
    script = """
from abmarl.examples import shipped
sim = shipped["team-battle"]()
sim.reset(seed=0)
print(sim.render(mode="ansi"))
"""
    main, other = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"}
    env.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=other, stderr=other, stdin=other, env=env, cwd=ROOT
    )
    os.close(other)
    data = b""
    while True:
        ready, _, _ = select.select([main], [], [], 120)
        try:
            chunk = os.read(main, 4096) if ready else b""
        except OSError:  # the terminal is gone with the process
            break
        if not chunk:
            break
        data += chunk
    os.close(main)
    assert process.wait(timeout=60) == 0, data
    terminal = Terminal(data.decode())
    start = next(k for k, row in enumerate(terminal.rows) if "●" in row) - 1
    row, colors = terminal.rows[start + 1], terminal.colors[start + 1]
    assert "".join(row[:17]) == " · ●6· · · · ●6· "
    assert (colors[3], colors[13]) == ((255, 0, 0), (0, 0, 255))
    assert "red 6/6" in "".join(terminal.rows[start + 8])


def test_an_empty_no_color_is_none(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "")
    sim = crowd()
    sim.reset(seed=0)
    assert "\x1b[" in sim.render(mode="ansi")


@pytest.mark.parametrize("fig", [1, "figure", False])
def test_no_figure(fig):
    sim = battle()
    sim.reset(seed=0)
    with pytest.raises(TypeError, match=r"^fig is .*, but must be a matplotlib\.figure\.Figure"):
        sim.render(fig=fig)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="X is a screen of Linux")
def test_a_display_that_does_not_answer_says_one_thing():
    script = (
        "from abmarl.render.viewer.window import Window\n"
        "try: Window((99, 99), 'x')\n"
        "except OSError as error: print(error)\n"
    )
    env = {name: value for name, value in os.environ.items() if "WAYLAND" not in name}
    env = {**env, "DISPLAY": ":7654"}
    for name in ("XDG_RUNTIME_DIR", "SDL_VIDEODRIVER"):
        env.pop(name, None)
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("there is no screen to open a window on (DISPLAY is ':7654'")
    assert done.stderr == ""
