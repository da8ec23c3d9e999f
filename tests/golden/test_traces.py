import os
import subprocess
import sys

import pytest

from tests.golden.traces import FOLDER, TRACED, path_of, trace


@pytest.mark.parametrize("name", TRACED)
def test_trace(name):
    assert trace(name) == path_of(name).read_text().splitlines(), (
        "if that is meant to be so: python -m tests.golden.traces"
    )


@pytest.mark.parametrize("name", TRACED)
def test_trace_tells_episodes_apart(name):
    assert trace(name, seed=21) != trace(name)


def test_every_file_is_the_trace_of_something():
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(TRACED)


def test_traces_are_those_of_every_process():
    code = (
        "from tests.golden.traces import TRACED, trace\n"
        "for name in TRACED: print(*trace(name), sep='\\n')"
    )
    found = set()
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=FOLDER.parents[1], env=environment,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found.add(done.stdout)
    expected = "\n".join(line for name in TRACED for line in trace(name)) + "\n"
    assert found == {expected}
