"""Real processes: the command line as a person meets it."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

FAKE = Path(__file__).parents[1] / "rollout"


@dataclass
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str


def environment():
    """The environment without what would change the output."""
    hidden = ("ABMARL_TRACEBACK", "ABMARL_NUM_THREADS", "COLUMNS")
    kept = {k: v for k, v in os.environ.items() if k not in hidden}
    return {**kept, "COLUMNS": "100", "TERM": "xterm-256color", "PYTHONWARNINGS": "error"}


@pytest.fixture
def abmarl(tmp_path):
    """Run ``abmarl ...`` in a fresh folder."""

    def run(*arguments, env=None):
        done = subprocess.run(
            [sys.executable, "-m", "abmarl", *map(str, arguments)],
            cwd=tmp_path, env={**environment(), **(env or {})}, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def fake(tmp_path):
    """A Python file with the stand-in simulation, which compiles nothing."""
    path = tmp_path / "fake.py"
    path.write_text(
        f"import sys\nsys.path.append({str(FAKE)!r})\nfrom fake_vec import FakeSim\nsim = FakeSim()\n"
    )
    return "fake.py"
