"""A real window on a virtual screen: keys that are pressed, clicks, and photographs of it."""

import signal
import sys

import numpy as np
import pytest

from abmarl.render.viewer.panel import PANEL_WIDTH
from tests.render.test_films import details
from tests.support.virtual_screen import virtual_screen

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="Xvfb is a screen of Linux"
)

VIEW = """
from abmarl.examples import shipped
from abmarl.render import PolicyShow, Viewer
vec = shipped["team-battle"]().vectorize(3, seed=1, horizon=100)
viewer = Viewer(PolicyShow(vec), title="battle", speed=8, paused=True)
viewer.run()
scene = viewer.show.scene(viewer.world)
print(viewer.world, viewer.speed, viewer.paused, viewer.chosen, scene.step)
"""

LOOP = """
import sys
from abmarl.examples import shipped
from abmarl.managers import AllStepManager
from abmarl.render import Recorder
sim = shipped["team-battle"]()
manager = AllStepManager(sim)
with Recorder(sim, sys.argv[1] if len(sys.argv) > 1 else "film.mp4") as recorder:
    manager.reset(seed=0)
    sim.render()
    for step in range(60):
        manager.step({"agent0": {"attack": 0, "move": [0, 0]}})
        recorder.capture()
        sim.render()
print("done")
"""


@pytest.fixture(scope="module")
def screen():
    with virtual_screen() as one:
        yield one


def differing(one, other):
    return int((one != other).any(-1).sum())


def has(pixels, color):
    return bool((pixels == color).all(-1).any())


def test_a_session(screen):
    """Step, panel, help, zoom, drag, worlds, speed and quit, as a person does it."""
    with screen.running(VIEW) as process:
        start = screen.photograph()
        height, width = start.shape[:2]
        assert has(start, (255, 0, 0))
        assert has(start, (0, 0, 255))

        screen.key("n")
        stepped = screen.photograph()
        assert differing(start, stepped) > 500
        again = screen.photograph()
        assert differing(stepped, again) == 0  # it stands still

        screen.key("Tab")
        panel = screen.photograph()
        assert (panel[:, -PANEL_WIDTH + 2 :] == 255).all(-1).mean() > 0.4
        assert (stepped[:, -PANEL_WIDTH + 2 :] == 255).all(-1).mean() < 0.01

        screen.key("h")
        helped = screen.photograph()
        assert differing(panel, helped) > 20_000
        screen.key("h")
        assert differing(panel, screen.photograph()) == 0

        screen.click(20, 20)  # beside the grid or on an empty cell: nobody
        assert differing(screen.photograph(), stepped) == 0

        screen.click(width // 2, height // 2, button=4)
        zoomed = screen.photograph()
        assert differing(stepped, zoomed) > 1000
        screen.drag((width // 2, height // 2), (width // 2 + 90, height // 2))
        assert differing(zoomed, screen.photograph()) > 1000
        screen.key("0")
        assert differing(screen.photograph(), stepped) == 0

        screen.key("bracketright", "plus", "Escape")
        out, err = process.communicate(timeout=30)
        assert (out, err, process.returncode) == ("1 16.0 True None 1\n", "", 0)


def test_a_click_on_an_agent(screen):
    with screen.running(VIEW) as process:
        image = screen.photograph()
        rows, cols = np.nonzero((image == (0, 0, 255)).all(-1)[:-30])
        screen.click(int(np.median(cols)) - 8, int(np.median(rows)) - 8)
        screen.key("Escape")
        out, err = process.communicate(timeout=30)
        assert out.split()[3] == "1"  # the first of the blue ones
        assert not err


def test_it_runs_by_itself_and_on_with_the_space_bar(screen):
    with screen.running(VIEW) as process:
        screen.key("plus", "plus", "space")
        seen = {screen.photograph().tobytes() for _ in range(12)}
        assert len(seen) > 3
        screen.key("q")
        out, _ = process.communicate(timeout=30)
        assert int(out.split()[4]) > 3


def test_a_window_that_is_closed_in_the_middle(screen, tmp_path):
    """The program goes on without it, and the film has everything."""
    with screen.running(LOOP, cwd=tmp_path) as process:
        assert has(screen.photograph(), (255, 0, 0))
        screen.key("q")
        out, err = process.communicate(timeout=60)
        assert (out, err, process.returncode) == ("done\n", "", 0)
        assert details(tmp_path / "film.mp4")[1] == 60


def test_ctrl_c_while_paused(screen, tmp_path):
    with screen.running(LOOP, cwd=tmp_path) as process:
        screen.key("p")
        before = screen.photograph()
        assert differing(before, screen.photograph()) == 0
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert err.rstrip().endswith("KeyboardInterrupt")
        assert details(tmp_path / "film.mp4")[1] >= 1


WATCHED = """
from abmarl.examples import shipped
from abmarl.experiments.watching import EpisodeWindow, play_episode
from abmarl.managers import AllStepManager

class Trainer:
    def compute_actions(self, obs, explore):
        return {agent_id: {"attack": 0, "move": [0, 0]} for agent_id in obs}

manager = AllStepManager(shipped["team-battle"]())
with EpisodeWindow(manager, 0.05, "battle") as screen:
    for _ in range(2):
        played = play_episode(manager, Trainer(), 10, False, 0, screen)
        print(played.steps, played.stopped, flush=True)
    played = play_episode(manager, Trainer(), 10**9, False, 0, screen)
print(played.ended, played.stopped)
"""


def test_closing_the_window_ends_what_is_watched(screen):
    with screen.running(WATCHED) as process:
        assert [process.stdout.readline() for _ in range(2)] == ["10 False\n"] * 2
        screen.key("q")
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "False True\n", "")
