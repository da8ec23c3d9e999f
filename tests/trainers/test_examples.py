"""The example scripts about trainers, run as a user runs them."""

import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name, folder):
    command = [sys.executable, "-W", "error", str(EXAMPLES / name)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_monte_carlo(tmp_path):
    found = re.findall(
        r"(\w+): mean return (\S+) at first, (\S+) now", run("monte_carlo.py", tmp_path)
    )
    assert [name for name, _, _ in found] == ["corridor", "forager"]
    # The end of the corridor is worth 36, the eight resources 8.
    assert float(found[0][2]) > 25 > 0 > float(found[0][1])
    assert float(found[1][2]) > 5 > 2 > float(found[1][1])


def test_debug_example(tmp_path):
    paths = run("debug_example.py", tmp_path).split()
    assert len(paths) == 4
    assert (tmp_path / "out/debug/Episode_1_by_event.txt").read_text().startswith("Reset\n")
