"""Films of replays: the map, with the rewards over time under it."""

import os
from typing import Any

import numpy as np

from abmarl.extras import load
from abmarl.render.drawing.layout import picture_size
from abmarl.render.drawing.surface import frame, pixels_of
from abmarl.render.films.frames import FrameWriter
from abmarl.render.replay.show import ReplayShow
from abmarl.render.replay.strips import Rewards

pygame = load("pygame")


class Clip:
    """Films moments of a `ReplayShow`. A context manager; needs no screen.

    Args:
        show: the replay.
        path: where to write; the suffix decides the format, see `FrameWriter`.
        fps: pictures per second.

    Raises:
        ValueError, OSError, ImportError: as `FrameWriter`.
    """

    def __init__(self, show: ReplayShow, path: str | os.PathLike, fps: float):
        self.show = show
        self._strip = Rewards(show)
        self._size = _size_for(show)
        self._film = FrameWriter(path, fps)

    def take(self, moment: int) -> np.ndarray:
        """Film a moment.

        Returns:
            The picture, uint8 [height, width, 3].
        """
        self.show.go(moment)
        surface = pygame.Surface((self._size[0], self._strip.height), 0, 32)
        self._strip.draw(surface)
        upper = frame(self.show.scene(self.show.replay.world), self._size)
        picture = np.concatenate([upper, pixels_of(surface)])
        self._film.add(picture)
        return picture

    def __enter__(self) -> "Clip":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._film.close()


def _size_for(show: ReplayShow) -> tuple[int, int]:
    """Room for the world, and from a mismatch on for what every agent saw."""
    store, replay = show.replay.vec.store, show.replay
    width, height = picture_size(store.rows, store.cols)
    if replay.mismatch is not None:
        now = show.moment
        show.go(replay.good)
        tiles = show.scene(replay.world)
        show.go(now)
        wide, high = picture_size(tiles.rows, tiles.cols)
        width, height = max(width, wide), max(height, high)
    return width, height
