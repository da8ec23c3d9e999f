"""Makes films and windows for the pages: ``python -m docs.machinery.pictures [NAME...]``.

Every simulation that ships gets a small film, ``docs/pictures/NAME.gif``. Windows of playing and
replaying and a plot of rollouts get a PNG each; they are drawn without a screen. Everything follows
from seeds, so that a second run makes the same pictures.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from abmarl.examples import MultiCorridor, Predator, PredatorPreySimulation, Prey, shipped
from abmarl.examples.maze_navigation import TARGET
from abmarl.examples.pacman import PACMAN, PELLET
from abmarl.managers import AllStepManager
from abmarl.render import Picture, Run, Viewer, picture_size, plot_runs
from abmarl.render.modes import Camera
from abmarl.render.play import GameStatus, Keyboard, PlayShow
from abmarl.render.replay.show import ReplayShow
from abmarl.render.replay.timeline import ReturnCurves, Timeline
from abmarl.rollout import Rollout, collect
from abmarl.rollout.game import Game
from abmarl.rollout.pilot import Order
from abmarl.rollout.policies import bind_policies, choose_actions
from abmarl.rollout.whereabouts import whereabouts
from docs.machinery.pages import DOCS
from docs.machinery.seeker import Seeker, kind, own_goal

PICTURES = DOCS / "pictures"
_FPS, _HELD = 6, 1800  # steps per second, and milliseconds for which the last picture stays
_COLORS = 64
_SIDE = 400  # pixels of the longer side of a film


class Take(NamedTuple):
    """How a simulation is filmed: who acts how, from which seed, and for how many steps at most."""

    policies: Any = "heuristic"
    seed: int = 0
    steps: int = 60


FILMS = {
    "team-battle": Take({"red": "heuristic", "blue": "heuristic"}, seed=2),
    "predator-prey-resources": Take({"predator": "heuristic", "prey": "heuristic"}, seed=1),
    "foraging": Take(seed=3, steps=90),
    "foragers-and-hunters": Take(seed=1),
    "reach-the-target": Take({"target": "heuristic", "runner": Seeker(kind(TARGET), 0.3)}),
    "maze-navigation": Take(Seeker(kind(TARGET))),
    "multi-maze-navigation": Take(Seeker(kind(TARGET), 0.15)),
    "traffic-corridor": Take(Seeker(own_goal, 0.2), steps=45),
    "pacman": Take({"pacman": Seeker(kind(PELLET), 0.1), "ghost": Seeker(kind(PACMAN), 0.75)}),
    "comms-blocking": Take("random", steps=40),
}


def film(name: str) -> None:
    """Film a grid world until its first episode ends."""
    take = FILMS[name]
    vec = shipped[name]().vectorize(num_envs=1, seed=take.seed, autoreset=False)
    policies = bind_policies(vec, take.policies)
    width, height = picture_size(vec.rows, vec.cols)
    share = _SIDE / max(width, height)
    size = round(width * share), round(height * share)
    observations, infos = vec.reset()
    camera = Camera(vec, size=size)
    pictures = [camera.take()]
    for _ in range(take.steps):
        actions = choose_actions(vec, policies, observations, infos["active"])
        observations, *_, infos = vec.step(actions)
        pictures.append(camera.take())
        if infos["ended"][0]:
            break
    _write_film(name, pictures)


def film_plain(name: str, sim: Any, steps: int, prefer: Callable[[Any], Any]) -> None:
    """Film a plain simulation, which draws itself, at half of its size."""
    manager = AllStepManager(sim)
    observations = manager.reset(seed=0)
    camera = Camera(sim)
    pictures = [_halved(camera.take())]
    for _ in range(steps):
        actions = {one: prefer(sim.agents[one]) for one in observations}
        observations, _, done, _ = manager.step(actions)
        observations = {one: seen for one, seen in observations.items() if not done[one]}
        pictures.append(_halved(camera.take()))
        if done["__all__"]:
            break
    _write_film(name, pictures)


def multi_corridor() -> None:
    """Agents that mostly go on."""
    rng = np.random.default_rng(0)
    film_plain("multi-corridor", MultiCorridor(), 40, lambda agent: int(rng.choice([2, 2, 1, 0])))


def predator_prey() -> None:
    """Agents that do anything."""
    agents = [Prey(id=f"prey{k}") for k in range(5)] + [Predator(id=f"hunter{k}") for k in range(2)]
    sim = PredatorPreySimulation.build({"agents": agents})
    film_plain("predator-prey", sim, 30, lambda agent: agent.action_space.sample())


def playing() -> None:
    """Draw the window of somebody who plays a battle."""
    vec = shipped["team-battle"]().vectorize(num_envs=1, seed=1, autoreset=False, copy=True)
    game = Game(vec, ["agent0"], "heuristic")
    show = PlayShow(game, follows=True)
    keyboard = Keyboard(show, [["agent0"]])
    viewer = Viewer(show, input_handler=keyboard, widgets=[GameStatus(show)])
    for way in ((0, 1), (1, 1), (1, 0)):
        show.order("agent0", Order(way))
    viewer.chosen = game.pilots["agent0"].slot
    _write("playing.png", viewer)
    viewer.helping = True
    _write("playing-keys.png", viewer)


def replaying() -> None:
    """Draw the window of a replay, in the middle of a battle, and where the record is shown."""
    sim = shipped["team-battle"]()
    rollout = _battles(sim, 4, 150)
    show = ReplayShow(sim, rollout)
    viewer = Viewer(show, widgets=[ReturnCurves(show), Timeline(show)], paused=True)
    show.go(8)
    show.next_death(1)
    _write("replaying.png", viewer)
    start = int(show.replay.moments.step[np.flatnonzero(show.replay.moments.fresh)[4]])
    rollout.observations["red"]["position_centered_encoding"][start + 1, 0] = 0
    show = ReplayShow(sim, rollout)
    viewer = Viewer(show, widgets=[ReturnCurves(show), Timeline(show)], paused=True)
    show.go(show.replay.moments.of_step(start + 3))
    _write("replaying-record.png", viewer)


def plotting() -> None:
    """Draw the plot of a rollout."""
    sim = shipped["predator-prey-resources"]()
    runs = []
    for name in ("random", "heuristic"):
        vec = sim.vectorize(num_envs=64, seed=0, horizon=200)
        policies = {"predator": name, "prey": "random"}
        rollout = collect(vec, policies, 300, name="predator-prey-resources", progress=False)
        colors = {
            one: sim.agents[group.ids[0]].render_color for one, group in rollout.groups.items()
        }
        runs.append(Run(name, rollout, whereabouts(sim, rollout), colors))
    plot_runs(_path("plotting.png"), runs, dpi=70)


def _battles(sim: Any, worlds: int, steps: int) -> Rollout:
    vec = sim.vectorize(num_envs=worlds, seed=0, horizon=200)
    return collect(vec, "heuristic", steps, name="team-battle", progress=False)


def _halved(picture: np.ndarray) -> np.ndarray:
    height, width = (side // 2 for side in picture.shape[:2])
    parts = picture[: 2 * height, : 2 * width].reshape(height, 2, width, 2, 3)
    return parts.mean(axis=(1, 3)).astype(np.uint8)


def _write_film(name: str, pictures: list[np.ndarray]) -> None:
    """Write a GIF whose pictures share a palette, so that what does not change takes no room.

    A `Recorder` makes a palette per picture: it does not keep the pictures.
    """
    images = [Image.fromarray(picture) for picture in pictures]
    sample = np.concatenate(pictures[:: max(1, len(pictures) // 8)])
    palette = Image.fromarray(sample).quantize(_COLORS, method=Image.Quantize.MEDIANCUT)
    frames = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in images]
    times = [round(1000 / _FPS)] * (len(frames) - 1) + [_HELD]
    frames[0].save(
        _path(f"{name}.gif"), save_all=True, append_images=frames[1:], duration=times, loop=0,
        optimize=False,
    )  # fmt: skip


def _write(name: str, viewer: Viewer) -> None:
    Path(_path(name)).write_bytes(Picture(viewer.picture()).png())


def _path(name: str) -> str:
    PICTURES.mkdir(exist_ok=True)
    return str(PICTURES / name.replace("-", "_"))


MADE: dict[str, Callable[[], None]] = {
    **{name: (lambda name=name: film(name)) for name in FILMS},
    "multi-corridor": multi_corridor,
    "predator-prey": predator_prey,
    "playing": playing,
    "replaying": replaying,
    "plotting": plotting,
}


def main(names: list[str]) -> None:
    """Make some of the pictures, or all.

    Raises:
        SystemExit: There is no picture of that name.
    """
    for name in names:
        if name not in MADE:
            raise SystemExit(f"no picture {name!r}; there are {', '.join(MADE)}")
    for name in names or MADE:
        print(name, flush=True)
        MADE[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
