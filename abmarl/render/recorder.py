"""Films a simulation."""

import base64
import os
from pathlib import Path
from typing import Any

import numpy as np

from abmarl.render.films.frames import FrameWriter
from abmarl.render.modes import Camera

_HTML = {
    ".mp4": '<video controls loop src="data:video/mp4;base64,{}"></video>',
    ".gif": '<img src="data:image/gif;base64,{}">',
    ".png": '<img src="data:image/png;base64,{}">',
}


class Recorder:
    """Films a simulation: a film with .mp4 or .gif, the last picture with .png.

    A context manager; an exception or Ctrl-C in the middle leaves a file with the pictures so far.
    The file appears under its name when it is finished, an earlier one is replaced only then. In a
    notebook a finished recorder shows its film. No screen is needed. ::

        with Recorder(sim, "battle.mp4", fps=10) as recorder:
            obs = manager.reset(seed=0)
            recorder.capture()
            while ...:
                ... = manager.step(actions)
                recorder.capture()

    Args:
        sim: a simulation, single or vectorised, or a manager or wrapper around one.
        path: where to write; the suffix decides the format, the folder must exist.
        fps: pictures per second.
        world: which world of a vectorised simulation.
        size: width and height of the picture in pixels; by default what suits the grid.
        title: text below the picture.

    Attributes:
        path: where the film goes.

    Raises:
        ValueError: unknown suffix, no such world, or an fps that the format does not have.
        OSError: the file cannot be written; names `path`.
        ImportError: the library for the format is missing.
    """

    def __init__(
        self, sim: Any, path: str | os.PathLike, fps: float = 10, *, world: int = 0,
        size: tuple[int, int] | None = None, title: str = "",
    ):  # fmt: skip
        self._camera = Camera(sim, world, size=size, title=title)
        self._film = FrameWriter(path, fps)
        self.path = Path(path)

    @property
    def num_frames(self) -> int:
        """How many pictures were taken."""
        return self._film.num_frames

    def capture(self) -> np.ndarray:
        """Film what there is to see now; call it after the reset and after every step.

        Returns:
            The picture, uint8 [height, width, 3].

        Raises:
            ValueError: after `close`.
            OSError: the file cannot be written, for example because the disk is full.
        """
        picture = self._camera.take()
        self._film.add(picture)
        return picture

    def close(self) -> None:
        """Finish the film. Without a picture there is none, and an earlier one stays."""
        self._film.close()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, kind, error, trace) -> None:
        self.close()

    def _repr_html_(self) -> str | None:
        """The film, for notebooks."""
        if not self._film.kept:
            return None
        data = base64.b64encode(self.path.read_bytes()).decode()
        return _HTML[self.path.suffix.lower()].format(data)
