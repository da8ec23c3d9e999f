"""The example script, run as a user runs it and in short form."""

import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest

pytest.importorskip("pettingzoo")

EXAMPLE = Path(__file__).parents[2] / "examples" / "pettingzoo_random_play.py"


def test_random_play(capsys):
    main = run_path(str(EXAMPLE))["main"]
    wins = main(episodes=3, seed=5)
    assert sum(wins.values()) == 3
    assert wins.keys() <= {"red", "blue", "green", "gray"}
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 4
    assert main(episodes=3, seed=5) == wins
    assert main(episodes=1, horizon=1) == {"nobody": 1}


def test_from_the_command_line(tmp_path):
    command = [sys.executable, "-W", "error", str(EXAMPLE)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" wins after ") == 20
