"""The code of the README runs, and so do the examples."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from abmarl.examples import foraging
from abmarl.external import load_policy
from abmarl.rollout import evaluate

ROOT = Path(__file__).parents[1]


def run(*command, **kwargs):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **kwargs)


def test_readme_code(tmp_path):
    text = (ROOT / "README.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    found = run(sys.executable, "-W", "error", "-c", code, cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert "knight_1 3 agents a world, views (1024, 3, 5, 5) int8" in found.stdout
    assert "(50, 1024, 3)" in found.stdout
    assert (tmp_path / "knights.npz").exists()
    first = code[: code.index("vec = ")]
    again = run(sys.executable, "-W", "error", "-c", first, cwd=tmp_path)
    assert again.stdout.endswith(" are left\n")
    assert found.stdout.startswith(again.stdout), "the first simulation is reproducible"
    vec = foraging().vectorize(64, horizon=200)
    drawn = load_policy(str(tmp_path / "forager.zip"), deterministic=False)
    learned, random = (
        evaluate(vec, policy, 64, seed=0, progress=False).returns["forager"]
        for policy in (drawn, "random")
    )
    assert learned.low > random.high + 5


def test_readme_simulation_is_short():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(blocks[0].splitlines()) <= 30
    assert len(blocks[1].splitlines()) <= 10


def test_readme_commands_are_those_of_the_makefile():
    demo = re.search(
        r"rollout team-battle .*?team_battle.png", (ROOT / "README.md").read_text(), re.S
    )
    targets = (ROOT / "Makefile").read_text()
    assert " ".join(demo.group().split()) in " ".join(targets.split())


def test_readme_links():
    for target in re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / target).exists(), target


def test_architecture_names_files_that_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    there = {path.as_posix() for folder in ("abmarl", "docs", "kernels", "tests") for path in
             (ROOT / folder).rglob("*")}  # fmt: skip
    names = re.findall(r"`([a-z_]+/[\w/]*(?:\.py)?|\w+\.py|examples/)`", text)
    for name in names:
        ends = f"/{name.rstrip('/')}", f"/{name}.py"
        assert any(path.endswith(ends) for path in there), name


def test_architecture_says_where_rules_are():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rows = text.split("| rule | kernels | gridworld |")[1].split("\n\n")[0].splitlines()[2:]
    assert len(rows) > 10
    for row in rows:
        _, _, kernels, components, _ = row.split("|")
        for folder, cell in (("kernels", kernels), ("gridworld", components)):
            for name in re.findall("`(.*?)`", cell):
                place = ROOT / "abmarl" / folder / name
                assert place.is_dir() or place.with_suffix(".py").exists(), (row, name)


@pytest.mark.parametrize("name", ["declared", "array_style"])
def test_vectorised_examples(name, tmp_path):
    path = str(ROOT / "examples" / f"{name}.py")
    command = ["rollout", path, "--num-envs", "16", "--steps", "30", "--save", "run.npz"]
    found = run(sys.executable, "-m", "abmarl", *command, cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert re.search(r"agent steps\s+[1-9]", found.stdout)


def test_object_style_example():
    found = run(sys.executable, "-W", "error", str(ROOT / "examples" / "object_style.py"))
    assert found.returncode == 0, found.stderr
    assert "fighter7" in found.stdout


def test_mazes_example():
    found = run(sys.executable, "-W", "error", str(ROOT / "examples" / "mazes.py"))
    assert found.returncode == 0, found.stderr
    *rows, told = found.stdout.splitlines()
    assert "".join(rows).count("n") == 3
    assert "".join(rows).count("T") == 1
    assert re.match(r"[1-9][\d,]+ arrivals in 200 steps of 1,024 worlds", told)


@pytest.mark.parametrize("own", [False, True])
def test_pacman_example(tmp_path, own):
    path = str(ROOT / "examples" / "pacman_on_your_map.py")
    (tmp_path / "map.txt").write_text("P o # G\n")
    arguments = [str(tmp_path / "map.txt")] if own else []
    found = run(sys.executable, "-W", "error", path, *arguments)
    assert found.returncode == 0, found.stderr
    *rows, told = found.stdout.splitlines()
    assert len([row for row in rows if row]) == (1 if own else 7)
    assert re.match(r"(ghost\d+ -?[\d.]+, )?pacman", told)


def test_no_path_of_a_machine():
    """Nothing that ships tells where it was made."""
    home = str(Path.home())
    documents = (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
    for path in (*documents, *ROOT.glob("abmarl/**/*.py"), *ROOT.glob("kernels/*.py")):
        text = path.read_text()
        assert home not in text or home == os.sep, path
