"""Drawing, filming and the window, in frames a second; nothing here needs a screen.

The floors are what users are promised on a machine with two cores.
"""

import time

import pytest

pytest.importorskip("pygame", reason="needs abmarl[render]")

from abmarl.examples import shipped
from abmarl.render import PolicyShow, Recorder, SimulationShow, Viewer, frame
from benchmarks.worlds import Play, battle

FILM = 1000


# Drawing is one thread's work: its own time is what a machine takes that does nothing else.
own_time = pytest.mark.benchmark(timer=time.process_time)


def test_film_of_team_battle(benchmark, frames, tmp_path, warm_up):
    """Steps, draws and encodes a film of 8 x 8 cells and 24 agents."""
    benchmark.group = "frames: 1,000 of team battle to MP4"
    count = FILM if warm_up > 10 else 10
    show = PolicyShow(shipped["team-battle"]().vectorize(1, seed=0, horizon=200))
    show.step()

    def film():
        with Recorder(show.sim, tmp_path / "film.mp4") as recorder:
            for _ in range(count):
                show.step()
                recorder.capture()

    frames(count, 100)
    benchmark.pedantic(film, rounds=1)


def full(side, agents):
    """Return a world in which nobody has died yet, with one step to take again and again."""
    play = Play(battle(side, side, agents, corners=False), 1, 1, horizon=None)
    play.vec.reset()
    return play.vec


@own_time
@pytest.mark.parametrize(("side", "agents"), [(100, 2_000), (100, 10_000), (316, 10_000)])
def test_pictures(benchmark, frames, side, agents):
    benchmark.group = "frames: scenes and their pictures"
    show = SimulationShow(full(side, agents))

    def picture():
        show.look()
        frame(show.scene(0))

    frames(1, 30)
    benchmark(picture)


@own_time
@pytest.mark.parametrize(("side", "agents"), [(100, 2_000), (100, 10_000), (500, 10_000)])
@pytest.mark.parametrize("zoomed", [False, True])
def test_window(benchmark, frames, monkeypatch, side, agents, zoomed):
    """All that `Viewer.update` does, on a display that is not there."""
    benchmark.group = "frames: a window of 1280 x 900"
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    viewer = Viewer(SimulationShow(full(side, agents)), size=(1280, 900), speed=1e6)
    viewer.open()
    if zoomed:
        viewer.view.zoom(8, 640, 400)
    frames(1, 30)
    benchmark(viewer.update)
    viewer.close()


@own_time
def test_panel_and_fog(benchmark, frames, monkeypatch):
    """With a chosen agent, whose panel is open."""
    benchmark.group = "frames: a window of 1280 x 900"
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    viewer = Viewer(SimulationShow(full(100, 10_000)), size=(1280, 900), speed=1e6)
    viewer.open()
    viewer.next_agent()
    frames(1, 30)
    benchmark(viewer.update)
    viewer.close()
