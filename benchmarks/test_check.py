"""The check of the ratios fails on a kernel that has become slower, and on nothing else."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import abmarl
import abmarl.kernels
from benchmarks import check
from benchmarks.interleaved import Contest

# Put at the end of a copied kernel module: the last kernel there then does its work three times.
SLOWED = """

_untouched = {kernel}


def {kernel}(*args):
    for _ in range(3):
        _untouched(*args)
"""


def copied_project(folder):
    """Return a copy of the package and the benchmarks that can be tampered with."""
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(abmarl.__file__).parent, folder / "abmarl", ignore=unwanted)
    kernels = Path(abmarl.kernels.__file__).parent
    shutil.copytree(kernels, folder / "abmarl" / "kernels", ignore=unwanted, dirs_exist_ok=True)
    shutil.copytree(Path(check.__file__).parent, folder / "benchmarks", ignore=unwanted)
    return folder


def run(folder, *arguments):
    """``python`` in the copy; what it printed and its exit code."""
    environment = {
        **os.environ, "PYTHONPATH": str(folder), "ABMARL_CACHE_DIR": str(folder / "cache"),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout, done.returncode


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "kernel", "ratio"),
    [("observation", "label_windows", "windows"), ("done", "one_team_left", "done")],
)
def test_a_slowed_kernel_is_found_and_an_untouched_one_is_not(tmp_path, module, kernel, ratio):
    """Both run on the ratios of this moment: whether the stored ones fit is not asked here."""
    folder = copied_project(tmp_path)
    assert str(folder) in run(folder, "-c", "import abmarl.kernels as k; print(k.__file__)")[0]
    others = ["--only", "move", "--only", "attack"]
    command = ["-m", "benchmarks.check", "--only", ratio, *others]
    assert run(folder, *command, "--update")[1] == 0

    output, code = run(folder, *command)
    assert code == 0, output

    with (folder / "abmarl" / "kernels" / f"{module}.py").open("a") as source:
        source.write(SLOWED.format(kernel=kernel))
    output, code = run(folder, *command)
    assert code == 1, output
    verdicts = {line.split("  ")[0]: line.split()[-1] for line in output.splitlines()[1:]}
    assert verdicts[ratio] == "SLOWER", output
    assert verdicts["move"] != "SLOWER", output
    assert f"failed: {ratio} " in output


@pytest.mark.slow
def test_the_stored_ratios_are_held():
    """The tree as it is passes."""
    root = Path(check.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.check"],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def fixed(monkeypatch):
    """Contests with known results in place of the real ones."""
    found = {"steady": [2.0], "noisy": [1.0, 1.0, 2.0]}

    class Told(Contest):
        def ratio(self, **kwargs):
            return self.ours.pop(0)

    contests = {name: lambda name=name: Told(list(found[name]), None) for name in found}
    monkeypatch.setattr(check, "CONTESTS", contests)
    return found


def stored(tmp_path, **ratios):
    """Return a file of ratios."""
    path = tmp_path / "ratios.json"
    path.write_text(json.dumps(ratios))
    return ["--stored", str(path)]


def test_a_failing_ratio_is_measured_twice_more(fixed, tmp_path, capsys):
    assert check.main(stored(tmp_path, steady=2.0, noisy=2.0)) == 0
    assert "noisy                         2.000    2.000  as before" in capsys.readouterr().out


def test_a_ratio_more_than_a_quarter_below_fails(fixed, tmp_path, capsys):
    assert check.main(stored(tmp_path, steady=2.0, noisy=2.7)) == 1
    output = capsys.readouterr().out
    assert "noisy                         2.700    2.000  SLOWER" in output
    assert "failed: noisy (more than 25% below the stored ratio)." in output


def test_ratios_without_a_counterpart_fail(fixed, tmp_path, capsys):
    assert check.main(stored(tmp_path, steady=2.0, gone=1.0)) == 1
    output = capsys.readouterr().out
    assert "NOT STORED" in output
    assert "NOT MEASURED" in output


def test_update_stores_the_best(fixed, tmp_path):
    fixed["steady"] = [2.0, 2.2, 2.1]
    arguments = stored(tmp_path, gone=1.0)
    assert check.main([*arguments, "--update"]) == 0
    assert check.read(Path(arguments[1])) == {"steady": 2.2, "noisy": 2.0}


@pytest.mark.parametrize("text", ["", "[1]", '{"move": -1}', '{"move": "fast"}'])
def test_a_broken_file_is_told(fixed, tmp_path, capsys, text):
    path = tmp_path / "ratios.json"
    path.write_text(text)
    assert check.main(["--stored", str(path)]) == 2
    assert "Cannot read the stored ratios" in capsys.readouterr().out


def test_an_unknown_name_is_told(capsys):
    with pytest.raises(SystemExit) as refused:
        check.main(["--only", "nothing"])
    assert refused.value.code == 2
    assert "there is no ratio 'nothing'" in capsys.readouterr().err
