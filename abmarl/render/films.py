"""Films of simulations and of frames: MP4, GIF and PNG, each in its place only when it is whole.

MP4 and GIF are encoded by the ffmpeg that comes with imageio-ffmpeg. Frames go through a pipe one
by one, so that a long film needs no more memory than a short one.
"""

import atexit
import base64
import contextlib
import errno
import io
import os
import subprocess
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from abmarl.extras import load
from abmarl.files import PartialFile
from abmarl.render.modes import Camera

# H.264 in yuv420p is what browsers and QuickTime play; its sizes are even. It is written in parts
# of a second, which play without those that follow: the disk may be full, the machine fail.
_MP4 = [
    *("-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709:out_range=tv"),
    *("-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-pix_fmt", "yuv420p"),
    *("-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"),
    *("-movflags", "+empty_moov+default_base_moof", "-frag_duration", "1000000", "-f", "mp4"),
]
# A finished film is one part with the index in front: players can seek in it, and begin to play
# before all is loaded.
_FINISHED = ["-c", "copy", "-movflags", "+faststart", "-f", "mp4"]
# A palette per frame: one for the whole film would have to keep the whole film first.
_GIF = [
    "-vf",
    "split[a][b];[a]palettegen=stats_mode=single:reserve_transparent=0[p];"
    "[b][p]paletteuse=new=1:dither=none:diff_mode=rectangle",
    *("-loop", "0", "-f", "gif"),
]
_ENCODINGS = {".mp4": _MP4, ".gif": _GIF}
_SUFFIXES = (*_ENCODINGS, ".png")
_FASTEST_GIF = 50
_HTML = {
    ".mp4": '<video controls loop src="data:video/mp4;base64,{}"></video>',
    ".gif": '<img src="data:image/gif;base64,{}">',
    ".png": '<img src="data:image/png;base64,{}">',
}
_IS_CLOSED = "is closed"
_IS_FORKED = "belongs to the process that this one was forked from: make one of its own here"


class FrameWriter:
    """Writes frames: a film with .mp4 or .gif, the last frame with .png.

    A context manager; an exception or Ctrl-C in the middle leaves a file with the frames so far,
    and so does a full disk, except for a .gif. The file appears under its name when it is finished,
    an earlier one is replaced only then. One that was not closed is closed when Python exits. A
    process that was forked in the middle cannot add to it and leaves it to its parent.

    In a notebook a finished one shows its film. To film a simulation use a `Recorder`, which makes
    the frames too. ::

        with FrameWriter("battle.mp4", fps=10) as film:
            film.add(frame(Scene.of(sim)))

    Args:
        path: where to write; the suffix decides the format, the folder must exist.
        fps: frames per second.

    Attributes:
        path: where the file goes.
        fps: frames per second.
        num_frames: how many frames were added.

    Raises:
        ValueError: unknown suffix, or an fps that the format does not have.
        OSError: the file cannot be written; names `path`.
        ImportError: the library for the format is missing.
    """

    def __init__(self, path: str | os.PathLike, fps: float = 10) -> None:
        self.path = Path(path)
        self.fps = fps
        self.num_frames = 0
        self._suffix = self.path.suffix.lower()
        if self._suffix not in _SUFFIXES:
            raise ValueError(
                f"cannot record to {str(path)!r}: known suffixes: {' '.join(_SUFFIXES)}"
            )
        if not 0 < fps < float("inf"):
            raise ValueError(f"fps is {fps!r}, but must be a number above 0")
        if self._suffix == ".gif" and fps > _FASTEST_GIF:
            raise ValueError(f"fps is {fps!r}, but GIF plays at most {_FASTEST_GIF}: use .mp4")
        self._shape: tuple[int, ...] | None = None
        self._last: np.ndarray | None = None
        self._closed = ""  # why no frame can be added
        self._kept = False
        if self._suffix in _ENCODINGS:
            program = load("imageio_ffmpeg").get_ffmpeg_exe()
            self._file = PartialFile(self.path)
            self._encoder: _Encoder | None = _Encoder(program, self._file, self._suffix, fps)
        else:
            load("PIL.Image")
            self._file = PartialFile(self.path)
            self._encoder = None
        # Without a with-statement an exception may skip the call of close.
        atexit.register(self.close)
        _open_writers.add(self)

    def __enter__(self) -> "FrameWriter":
        return self

    def __exit__(self, *error: object) -> None:
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
        if self._closed:
            raise ValueError(f"the recording of {self.path} {self._closed}")
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
        if self._encoder is None:
            self._last = frame.copy()
        else:
            self._encoder.add(np.ascontiguousarray(frame))

    def close(self) -> None:
        """Finish the file. Without a frame there is none, and an earlier one stays.

        Raises:
            OSError: the file cannot be written. What `add` has raised is not raised again.
        """
        if self._closed:
            return
        self._closed = _IS_CLOSED
        atexit.unregister(self.close)
        _open_writers.discard(self)
        try:
            self._finish()
        except KeyboardInterrupt:
            # A film that only had to be finished would be a pity to lose; twice means it.
            self._finish()
            raise
        finally:
            if self._encoder is not None:
                self._encoder.release()
            self._file.discard()

    def _finish(self) -> None:
        if not self.num_frames:
            return
        if self._encoder is None:
            data = io.BytesIO()
            load("PIL.Image").fromarray(self._last).save(data, format="PNG")
            self._file.write(data.getvalue())
        else:
            self._encoder.close()
        if self._encoder is None or self._encoder.is_playable:
            self._file.keep()
            self._kept = True

    def _leave_to_parent(self) -> None:
        self._closed = _IS_FORKED
        if self._encoder is not None:
            self._encoder.forget()

    def _repr_html_(self) -> str | None:
        """Return the film, for notebooks."""
        if not self._kept:
            return None
        return _HTML[self._suffix].format(base64.b64encode(self.path.read_bytes()).decode())


class Recorder(FrameWriter):
    """Films a simulation: a film with .mp4 or .gif, the last picture with .png.

    A `FrameWriter` that makes its frames. No screen is needed. ::

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

    Raises:
        ValueError: unknown suffix, no such world, or an fps that the format does not have.
        OSError: the file cannot be written; names `path`.
        ImportError: the library for the format is missing.
    """

    def __init__(
        self, sim: Any, path: str | os.PathLike, fps: float = 10, *, world: int = 0,
        size: tuple[int, int] | None = None, title: str = "",
    ) -> None:  # fmt: skip
        self._camera = Camera(sim, world, size=size, title=title)
        super().__init__(path, fps)

    def capture(self) -> np.ndarray:
        """Film what there is to see now; call it after the reset and after every step.

        Returns:
            The picture, uint8 [height, width, 3].

        Raises:
            ValueError: after `close`.
            OSError: the file cannot be written, for example because the disk is full.
        """
        picture = self._camera.take()
        self.add(picture)
        return picture


class _Encoder:
    """A running ffmpeg, which starts with the first frame.

    Args:
        program: the path of ffmpeg.
        file: where to write.
        suffix: ``".mp4"`` or ``".gif"``.
        fps: frames per second.

    Attributes:
        is_playable: whether the file is of use: the encoder has finished it, or it is an MP4 whose
            first parts were written before the encoder failed.
    """

    def __init__(self, program: str, file: PartialFile, suffix: str, fps: float) -> None:
        self._program, self._file, self._suffix, self._fps = program, file, suffix, fps
        self._process: Any = None
        self._log: Any = None
        self._rest = memoryview(b"")  # of a frame that an interrupt has cut
        self._failed = False
        self.is_playable = False

    def add(self, frame: np.ndarray) -> None:
        """Encode one more frame, uint8 [h, w, 3], C-contiguous."""
        if self._process is None:
            self._start(*frame.shape[:2])
        self._rest = frame.data.cast("B")
        self._write_rest()

    def close(self) -> None:
        """Finish the file. May be called again when it was interrupted."""
        if self._failed:
            return
        self._write_rest()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        if self._process.wait() != 0:
            raise self._failure()
        self.is_playable = True
        if self._suffix == ".mp4":
            self._make_one_part()

    def release(self) -> None:
        """Let go of the encoder, finished or not."""
        if self._process is not None:
            self._process.kill()
            self._process.stdin.close()
            self._process.wait()
            self._log.close()

    def forget(self) -> None:
        """Leave the encoder to the process that this one was forked from.

        While its pipe is open here as well, the encoder would not see the end of the frames.
        """
        if self._process is not None:
            self._process.stdin.close()
            self._process.returncode = 0  # nobody here waits for it
            self._log.close()
            self._process = None

    def _start(self, height: int, width: int) -> None:
        frames = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}")
        command = self._command(*frames, "-r", f"{self._fps:g}", "-i", "-", "-an")
        command += [*_ENCODINGS[self._suffix], str(self._file.path.absolute())]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the encoder
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            bufsize=0,
            **_APART,
        )

    def _write_rest(self) -> None:
        try:
            while self._rest:
                self._rest = self._rest[self._process.stdin.write(self._rest) :]
        except OSError:  # a broken pipe, which Windows reports as an invalid argument
            self._process.wait()
            raise self._failure() from None

    def _failure(self) -> OSError:
        self._failed = True
        self.is_playable = self._suffix == ".mp4" and self._begins_to_play()
        more = ", the film ends there" if self.is_playable else ""
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        target = str(self._file.target)
        if any("No space left" in line for line in lines):
            return OSError(errno.ENOSPC, f"No space left on device{more}", target)
        reason = lines[-1] if lines else "no message"
        return OSError(errno.EIO, f"ffmpeg failed: {reason}{more}", target)

    def _begins_to_play(self) -> bool:
        path = self._file.path.absolute()
        return path.is_file() and self._run("-i", str(path), "-frames:v", "1", "-f", "null", "-")

    def _make_one_part(self) -> None:
        """Put the parts of a film together; without room for that they play as they are."""
        parts = self._file.path.absolute()
        finished = parts.with_suffix(".finished")
        try:
            if self._run("-i", str(parts), *_FINISHED, str(finished)):
                os.replace(finished, parts)
        finally:
            finished.unlink(missing_ok=True)

    def _run(self, *arguments: str) -> bool:
        quiet: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        return subprocess.run(self._command(*arguments), **quiet, **_APART).returncode == 0

    def _command(self, *arguments: str) -> list[str]:
        return [self._program, "-y", "-hide_banner", "-loglevel", "error", *arguments]


# Ctrl-C in the terminal must not reach the encoder.
_APART: dict[str, Any] = {
    "start_new_session": True,  # which Windows ignores
    "creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
}

_open_writers: weakref.WeakSet[FrameWriter] = weakref.WeakSet()


def _leave_to_parent() -> None:
    for writer in list(_open_writers):
        writer._leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[1]} x {shape[0]}"
