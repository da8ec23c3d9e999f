"""The example script for Gymnasium, in short and as a user runs it."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "gymnasium_corridor.py"


def check(printed, episodes):
    first, second, third, fourth = printed.splitlines()
    cell, total = map(int, re.match(r"from cell (\d): (\d+) in return", first).groups())
    assert total == 8**2 - (6 - cell)
    assert re.match(r"cells of the walkers: \[\d, \d, \d, \d\]", second)
    assert second.count(" 6") == third.count("64.0")
    assert re.match(rf"{episodes} episodes of random foragers, mean return -?\d\.\d\d", fourth)


def test_in_short(capsys):
    spec = importlib.util.spec_from_file_location("gymnasium_corridor", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.main(seed=3, num_envs=8, steps=50)
    check(capsys.readouterr().out, "8")


def test_as_a_script():
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    check(done.stdout, "2,048")
