"""The command line in processes of its own, as a person meets it."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str


def environment():
    """Return the variables without what would change the output; modules of the tests are found."""
    hidden = ("ABMARL_TRACEBACK", "ABMARL_NUM_THREADS", "COLUMNS")
    kept = {k: v for k, v in os.environ.items() if k not in hidden}
    given = os.environ.get("PYTHONPATH")
    return {
        **kept, "COLUMNS": "100", "TERM": "xterm-256color", "PYTHONWARNINGS": "error",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{given}" if given else str(ROOT),
    }  # fmt: skip


def call(folder, arguments, env=None):
    """Run ``abmarl`` in a folder to its end."""
    done = subprocess.run(
        [sys.executable, "-m", "abmarl", *map(str, arguments)],
        cwd=folder, env={**environment(), **(env or {})}, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout, done.stderr)
