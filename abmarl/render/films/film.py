"""Encodes frames to MP4 and GIF with the ffmpeg that comes with imageio-ffmpeg.

Frames go through a pipe one by one, so that a long film needs no more memory than a short one.
"""

import contextlib
import errno
import os
import subprocess
import tempfile
import weakref

import numpy as np

from abmarl.extras import load
from abmarl.render.films.partial import PartialFile
from abmarl.render.films.salvage import salvage

# H.264 in yuv420p is what browsers and QuickTime play; its sizes are even. It is written in parts
# of a second, which play without those that follow: the disk may be full, the machine fail.
_MP4 = [
    *("-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709:out_range=tv"),
    *("-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-pix_fmt", "yuv420p"),
    *("-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"),
    *("-movflags", "+empty_moov+default_base_moof", "-frag_duration", "1000000", "-f", "mp4"),
]
# When it is whole it becomes one part, with the index in front: so it can be wound, and begins to
# play before all is loaded.
_WHOLE = ["-c", "copy", "-movflags", "+faststart", "-f", "mp4"]
# A palette per frame: one for the whole film would have to keep the whole film first.
_GIF = [
    "-vf",
    "split[a][b];[a]palettegen=stats_mode=single:reserve_transparent=0[p];"
    "[b][p]paletteuse=new=1:dither=none:diff_mode=rectangle",
    *("-loop", "0", "-f", "gif"),
]
ENCODINGS = {".mp4": _MP4, ".gif": _GIF}

_running: weakref.WeakSet = weakref.WeakSet()


def _leave_to_parent() -> None:
    """A forked process has the pipe too: while it is open there the encoder sees no end of it."""
    for film in list(_running):
        film.leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


class Film:
    """A running encoder; starts with the first frame. It belongs to the process that started it.

    Args:
        file: where to write.
        suffix: a key of `ENCODINGS`.
        fps: frames per second.

    Raises:
        ImportError: imageio-ffmpeg is missing.
    """

    def __init__(self, file: PartialFile, suffix: str, fps: float):
        self._file = file
        self._suffix = suffix
        self._fps = fps
        self._program = load("imageio_ffmpeg").get_ffmpeg_exe()
        self._process: subprocess.Popen | None = None
        self._log = None
        self._rest = memoryview(b"")
        self._failed = self._cut = False

    @property
    def playable(self) -> bool:
        """Whether the file is of use: the encoder has not failed, or later than at the start."""
        return self._cut or not self._failed

    def add(self, frame: np.ndarray) -> None:
        """Encode one more frame, uint8 [h, w, 3], C-contiguous."""
        if self._process is None:
            self._start(*frame.shape[:2])
        self._rest = memoryview(frame).cast("B")
        self._pour()

    def close(self) -> None:
        """Finish the file. May be called again when it was interrupted.

        Raises:
            OSError: the encoder could not finish it. What `add` has raised is not raised again.
        """
        if self._process is None or self._failed:
            return
        # Ctrl-C may have come in the middle of a frame: the encoder gets the rest of it first.
        self._pour()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        if self._process.wait() != 0:
            raise self._failure()
        if self._suffix == ".mp4":
            self._make_whole()

    def release(self) -> None:
        """Let go of the encoder, finished or not."""
        if self._process is not None:
            self._process.kill()
            self._process.stdin.close()
            self._process.wait()
            self._log.close()
            _running.discard(self)

    def leave(self) -> None:
        """Forget the encoder, which goes on for another process."""
        self._process.stdin.close()
        self._process.returncode = 0  # nobody here waits for it
        self._log.close()
        self._process, self._rest = None, memoryview(b"")
        _running.discard(self)

    def _command(self, *arguments: str) -> list[str]:
        return [self._program, "-y", "-hide_banner", "-loglevel", "error", *arguments]

    def _make_whole(self) -> None:
        """Put the parts of the film together; without room for that they play as they are."""
        parts = self._file.path.absolute()
        whole = parts.with_suffix(".whole")
        command = self._command("-i", str(parts), *_WHOLE, str(whole))
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        try:
            done = subprocess.run(
                command, **quiet, stderr=subprocess.DEVNULL, start_new_session=True
            )
            if done.returncode == 0:
                os.replace(whole, parts)
        finally:
            whole.unlink(missing_ok=True)

    def _start(self, height: int, width: int) -> None:
        frames = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}")
        command = self._command(*frames, "-r", f"{self._fps:g}", "-i", "-", "-an")
        command += [*ENCODINGS[self._suffix], str(self._file.path.absolute())]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the encoder
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            bufsize=0,
            start_new_session=True,  # Ctrl-C in the terminal must not reach the encoder
        )
        _running.add(self)

    def _pour(self) -> None:
        try:
            while self._rest:
                self._rest = self._rest[self._process.stdin.write(self._rest) :]
        except BrokenPipeError:
            self._process.wait()
            raise self._failure() from None

    def _failure(self) -> OSError:
        self._failed = True
        self._cut = salvage(self._file.path, self._suffix)
        more = ", the film ends there" if self._cut else ""
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        target = str(self._file.target)
        if any("No space left" in line for line in lines):
            return OSError(errno.ENOSPC, f"No space left on device{more}", target)
        reason = lines[-1] if lines else "no message"
        return OSError(errno.EIO, f"ffmpeg failed: {reason}{more}", target)
