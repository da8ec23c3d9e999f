"""Frames to a film or a picture."""

import atexit
import io
import os
from pathlib import Path

import numpy as np

from abmarl.extras import load
from abmarl.render.films.film import ENCODINGS, Film
from abmarl.render.films.partial import PartialFile

SUFFIXES = (*ENCODINGS, ".png")
_FASTEST_GIF = 50


class FrameWriter:
    """Writes frames: a film with .mp4 or .gif, the last frame with .png.

    A context manager; an exception, Ctrl-C or a full disk in the middle leaves a file with the
    frames so far.
    The file appears under its name when it is finished, an earlier one is replaced only then.
    One that was not closed is closed when Python exits.
    A process that was forked in the middle cannot add to it and leaves it to its parent.
    To film a simulation use a `Recorder`, which makes the frames too.

        with FrameWriter("battle.mp4", fps=10) as film:
            film.add(frame(Scene.of(sim)))

    Args:
        path: where to write; the suffix decides the format, the folder must exist.
        fps: frames per second.

    Raises:
        ValueError: unknown suffix, or an fps that the format does not have.
        OSError: the file cannot be written; names `path`.
        ImportError: the library for the format is missing.
    """

    def __init__(self, path: str | os.PathLike, fps: float = 10):
        self.path = Path(path)
        self.fps = fps
        self.num_frames = 0
        suffix = self.path.suffix.lower()
        if suffix not in SUFFIXES:
            raise ValueError(
                f"cannot record to {str(path)!r}: known suffixes: {' '.join(SUFFIXES)}"
            )
        if not 0 < fps < float("inf"):
            raise ValueError(f"fps is {fps!r}, but must be a number above 0")
        if suffix == ".gif" and fps > _FASTEST_GIF:
            raise ValueError(f"fps is {fps!r}, but GIF plays at most {_FASTEST_GIF}: use .mp4")
        self._shape: tuple[int, ...] | None = None
        self._last: np.ndarray | None = None
        self._closed = self._kept = False
        self._owner = os.getpid()
        self._image = load("PIL.Image") if suffix == ".png" else None
        self._file = PartialFile(self.path)
        try:
            self._film = Film(self._file, suffix, fps) if suffix in ENCODINGS else None
        except BaseException:
            self._file.discard()
            raise
        # Without a with-statement an exception may pass the call of close by.
        atexit.register(self.close)

    @property
    def kept(self) -> bool:
        """Whether the file is finished and in its place."""
        return self._kept

    def __enter__(self) -> "FrameWriter":
        return self

    def __exit__(self, kind, error, trace) -> None:
        self.close()

    def add(self, frame: np.ndarray) -> None:
        """Record one more frame.

        Args:
            frame: uint8 [height, width, 3], all of one size.

        Raises:
            ValueError: not such an array, of another size than the first, after `close`, or in a
                forked process.
            OSError: the file cannot be written, for example because the disk is full.
        """
        if self._owner != os.getpid():
            raise ValueError(
                f"the recording of {self.path} belongs to the process that this one was forked "
                "from: make one of its own here"
            )
        if self._closed:
            raise ValueError(f"the recording of {self.path} is closed")
        frame = np.asarray(frame)
        if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3 or not frame.size:
            raise ValueError(
                f"a frame is uint8 [height, width, 3], not {frame.dtype} {list(frame.shape)}"
            )
        if self._shape not in (None, frame.shape):
            raise ValueError(
                f"this frame is {_size(frame.shape)} pixels, but the recording has "
                f"{_size(self._shape)}: give all frames the same size"
            )
        self._shape = frame.shape
        self.num_frames += 1
        if self._film is None:
            self._last = frame.copy()
        else:
            self._film.add(np.ascontiguousarray(frame))

    def close(self) -> None:
        """Finish the file. Without a frame there is none, and an earlier one stays."""
        if self._closed or self._owner != os.getpid():
            return
        self._closed = True
        atexit.unregister(self.close)
        try:
            try:
                self._finish()
            except KeyboardInterrupt:
                # A film that only had to be finished would be a pity to lose; twice means it.
                self._finish()
                raise
            finally:
                if self._film is not None:
                    self._film.release()
        finally:
            self._file.discard()

    def _finish(self) -> None:
        if self._film is not None:
            self._film.close()
        elif self._last is not None:
            self._file.write(self._png())
        if self.num_frames and (self._film is None or self._film.playable):
            self._file.keep()
            self._kept = True

    def _png(self) -> bytes:
        data = io.BytesIO()
        self._image.fromarray(self._last).save(data, format="PNG")
        return data.getvalue()


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[1]} x {shape[0]}"
