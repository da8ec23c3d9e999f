"""A virtual screen, and a person in front of it: keys, mouse and photographs of windows."""

import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def virtual_screen(size="1400x1000"):
    """Starts Xvfb on a display of its own; skips where there is none."""
    for program in ("Xvfb", "xdotool"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program} on this machine")
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{size}x24", "-nolisten", "tcp"]
    # Else it starts anew, and drops whoever is connecting, when the last client has gone.
    command.append("-noreset")
    process = subprocess.Popen(command, pass_fds=(write,), stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as file:
            number = file.readline().strip()  # waits until it is ready
        if not number:
            pytest.skip("Xvfb does not start here")
        yield Screen(f":{number}")
    finally:
        process.terminate()
        process.wait(timeout=20)


class Screen:
    """A virtual screen without a window manager, so that windows have no frames."""

    def __init__(self, display):
        self.env = {
            **os.environ, "DISPLAY": display, "PYTHONPATH": str(ROOT), "SDL_AUDIODRIVER": "dummy",
        }  # fmt: skip
        self.env.pop("SDL_VIDEODRIVER", None)
        self.window = None

    @contextmanager
    def running(self, script, **options):
        """Runs a script, and waits for its window; ends it if it is still there at the end."""
        command = [sys.executable, "-c", script]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(command, env=self.env, text=True, **pipes, **options) as process:
            try:
                self._find_window(process)
                yield process
            finally:
                process.kill()

    def _find_window(self, process):
        for _ in range(600):
            found = self._tool("search", "--onlyvisible", "--pid", str(process.pid), check=False)
            if found.strip():
                self.window = found.split()[0]
                self._tool("windowfocus", self.window)
                time.sleep(0.5)
                return
            if process.poll() is not None:
                pytest.fail(f"ended without a window: {process.communicate()}")
            time.sleep(0.1)
        pytest.fail("there is no window after a minute")

    def key(self, *names):
        """Presses and lets go keys, one after the other."""
        for name in names:
            self._tool("key", "--window", "0", name)
            time.sleep(0.05)
        time.sleep(0.25)

    def click(self, x, y, button=1):
        """Clicks at a place of the window."""
        self._tool("mousemove", "--window", self.window, str(x), str(y))
        time.sleep(0.05)
        self._tool("click", str(button))
        time.sleep(0.3)

    def drag(self, start, end):
        """Drags from one place of the window to another."""
        for place, action in ((start, "mousedown"), (end, "mouseup")):
            self._tool("mousemove", "--window", self.window, str(place[0]), str(place[1]))
            time.sleep(0.1)
            self._tool(action, "1")
        time.sleep(0.3)

    def photograph(self):
        """The window as it is on the screen, uint8 [h, w, 3]."""
        command = ["xwd", "-silent", "-id", self.window]
        data = subprocess.run(command, env=self.env, capture_output=True, check=True).stdout
        header = np.frombuffer(data[:100], ">u4")
        size, width, height, line, colors = (int(header[k]) for k in (0, 4, 5, 12, 19))
        pixels = np.frombuffer(data, np.uint8, offset=size + 12 * colors)
        pixels = pixels[: height * line].reshape(height, line // 4, 4)[:, :width]
        return pixels[..., 2::-1].copy()

    def _tool(self, *arguments, check=True):
        done = subprocess.run(
            ["xdotool", *arguments], env=self.env, capture_output=True, text=True, timeout=30
        )
        if check and done.returncode:
            pytest.fail(f"xdotool {arguments}: {done.stderr}")
        return done.stdout
