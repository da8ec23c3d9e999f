"""The compile policy: what is cached where, and what a user sees of it."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

CODE = """
import numpy as np
from abmarl.kernels.world import ravel_cells
from abmarl.kernels.compile import cache_folder
cells = np.zeros(1, np.int64)
ravel_cells(np.array([[1, 2]]), 9, 3, cells)
assert cells[0] == (1 + 3) * 9 + 2 + 3
print(cache_folder())
"""
pytestmark = pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled"
)


def start(cache, code=CODE, **env):
    env = {**os.environ, "ABMARL_CACHE_DIR": str(cache), **env}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip(), err.strip()


def test_cold_says_so_once_and_warm_is_silent(tmp_path):
    out, err = finish(start(tmp_path))
    assert err == "abmarl: compiling kernels for this machine; later runs find them on disk"
    assert Path(out).parent == tmp_path
    assert list(Path(out).glob("*.nbc"))
    out, err = finish(start(tmp_path))
    assert err == ""


def test_many_processes_may_start_cold_at_once(tmp_path):
    outs = {finish(process)[0] for process in [start(tmp_path) for _ in range(4)]}
    assert len(outs) == 1
    assert finish(start(tmp_path))[1] == ""


def test_a_folder_that_cannot_be_written_falls_back_to_the_users(tmp_path):
    (tmp_path / "file").write_text("in the way")
    home = tmp_path / "home"
    out, _ = finish(start(tmp_path / "file", XDG_CACHE_HOME=str(home)))
    assert Path(out).parent == home / "abmarl"


def test_without_any_folder_kernels_still_work(tmp_path):
    (tmp_path / "file").write_text("in the way")
    out, _ = finish(start(tmp_path / "file", XDG_CACHE_HOME=str(tmp_path / "file")))
    assert Path(out).name.startswith("kernels-")


def test_a_changed_source_changes_the_folder(tmp_path):
    code = (
        "from abmarl.kernels import compile\n"
        "from pathlib import Path\n"
        "read = Path.read_bytes\n"
        "before = compile.cache_folder().name\n"
        "Path.read_bytes = lambda path: read(path) + b' '\n"
        "assert compile._CacheFolder().folder().name != before\n"
    )
    finish(start(tmp_path, code))


def test_importing_compiles_nothing(tmp_path):
    code = "import abmarl, abmarl.examples, abmarl.rollout, abmarl.managers\n"
    _, err = finish(start(tmp_path, code))
    assert err == ""
    assert not list(tmp_path.rglob("*.nb*"))


def test_only_one_module_configures_numba():
    root = Path(__file__).parents[2]
    importing = {}
    for path in (*root.glob("kernels/*.py"), *root.glob("abmarl/**/*.py")):
        lines = re.findall(r"^\s*(?:import|from) numba\b.*", path.read_text(), re.MULTILINE)
        if lines:
            importing[path.name] = "\n".join(lines)
    # Programs and waiting are no kernels: they are made of what numba itself is made of.
    assert sorted(importing) == ["compile.py", "handoff.py", "program.py"]
    compiles = re.compile(r"import numba|\b(n?jit|vectorize|guvectorize|cfunc|config)\b")
    assert [name for name, lines in importing.items() if compiles.search(lines)] == ["compile.py"]


def test_kernels_of_ones_own_are_not_mixed_up(tmp_path):
    """They are not in the folder of the package, which is known by a hash of its own files."""
    code = """
    from abmarl.kernels.compile import kernel
    @kernel
    def answer():
        return {}
    print(answer())
    """
    program = tmp_path / "mine.py"
    for number in (41, 42):
        program.write_text(textwrap.dedent(code.format(number)))
        found = finish(start(tmp_path / "cache", f"import runpy; runpy.run_path({str(program)!r})"))
        assert found[0] == str(number)
