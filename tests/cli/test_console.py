"""On a terminal there is a bar while it runs and a framed table at the end."""

import os
import re
import sys
import time

import pytest

from abmarl.examples import shipped
from abmarl.rollout import collect, save
from tests.support.processes import environment

pty = pytest.importorskip("pty")


def on_terminal(folder, *arguments):
    """What a terminal shows, and the exit code."""
    child, terminal = pty.fork()
    if child == 0:
        try:
            os.chdir(folder)
            command = [sys.executable, "-m", "abmarl", *arguments]
            os.execvpe(sys.executable, command, environment())
        finally:
            os._exit(99)
    shown, deadline = b"", time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    return shown.decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_bar_and_table(tmp_path, fake):
    shown, code = on_terminal(tmp_path, "rollout", fake, "-n", "5", "-t", "300")
    assert code == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert "fake, 5 worlds" in plain
    assert "300/300 steps" in plain
    assert "agent-steps/s" in plain
    assert "╭" in plain
    assert re.search(r"│ env steps +│ +1,500 │", plain)


def test_a_replay_that_is_not_as_recorded_gives_the_cursor_back(tmp_path):
    """The bar ends where the comparison does."""
    vec = shipped["foraging"]().vectorize(num_envs=1, seed=0, horizon=30)
    rollout = collect(vec, "random", 5001, name="foraging", progress=False)
    rollout.rewards["forager"][20] += 1
    save(rollout, tmp_path / "bad.npz")
    shown, code = on_terminal(tmp_path, "replay", "bad.npz", "--record", "a.png", "--to", "2")
    assert code == 0
    assert "not as recorded" in shown
    before = shown[: shown.index("not as recorded")]
    assert before.count("\x1b[?25l") == before.count("\x1b[?25h") == 1


def test_help_is_plain_everywhere(tmp_path):
    shown, code = on_terminal(tmp_path, "rollout", "--help")
    assert code == 0
    assert "abmarl[render]" in shown
    assert "\x1b" not in shown
