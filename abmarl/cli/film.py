"""A camera on one world of a rollout."""

import os
from collections import Counter
from typing import Any

from abmarl.rollout.episodes import teams_of


class Camera:
    """Films one world, as an ``on_step`` of a rollout.

    Args:
        vec: The vectorised simulation.
        path: Where the film goes.
        world: Which world.
        fps: Steps per second of film.
        title: What stands below the picture.
    """

    def __init__(self, vec: Any, path: str | os.PathLike, world: int, fps: int, title: str) -> None:
        from abmarl.render import Recorder, Scene, frame

        self._scene, self._frame = Scene.of, frame
        self.vec, self.world, self.title = vec, world, title
        self.age = 0
        self.recorder = Recorder(path, fps=fps)

    def close(self) -> None:
        """Finish the film."""
        self.recorder.close()

    def __call__(self, step: int, infos: dict) -> None:
        """Add what the world looks like now; the step shown is that of its episode."""
        self.age = 0 if step == 0 or infos["ended"][self.world] else self.age + 1
        scene = self._scene(self.vec, self.world, step=self.age, title=self.title)
        self.recorder.add(self._frame(scene))


def team_colors(vec: Any) -> dict[int, Any]:
    """team -> the colour that most of its agents are drawn in."""
    colors: dict[int, Counter] = {}
    for team, agent in zip(teams_of(vec)[0].tolist(), vec.agents.values(), strict=True):
        colors.setdefault(team, Counter())[agent.render_color] += 1
    return {team: counts.most_common(1)[0][0] for team, counts in colors.items()}
