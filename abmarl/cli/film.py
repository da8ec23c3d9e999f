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
        from abmarl.render import Recorder

        self._recorder = Recorder(vec, path, fps, world=world, title=title)

    def close(self) -> None:
        """Finish the film."""
        self._recorder.close()

    def __call__(self, step: int, infos: dict) -> None:
        """Add what the world looks like now; the step shown is that of its episode."""
        self._recorder.capture()


def team_colors(vec: Any) -> dict[int, Any]:
    """team -> the colour that most of its agents are drawn in."""
    from abmarl.render.scenes.palette import shown_colors

    colors: dict[int, Counter] = {}
    shown = shown_colors(list(vec.agents.values()))
    for team, color in zip(teams_of(vec)[0].tolist(), shown, strict=True):
        colors.setdefault(team, Counter())[color] += 1
    return {team: counts.most_common(1)[0][0] for team, counts in colors.items()}
