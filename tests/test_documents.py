"""The code of the README runs, and so do the examples."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
    for name in re.findall(r"`((?:kernels|gridworld|abmarl|tests)/[\w/]+(?:\.py)?)`", text):
        places = [ROOT / name, ROOT / "abmarl" / name]
        assert any(place.exists() for place in places), name


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


def test_no_path_of_a_machine():
    """Nothing that ships tells where it was made."""
    home = str(Path.home())
    documents = (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
    for path in (*documents, *ROOT.glob("abmarl/**/*.py"), *ROOT.glob("kernels/*.py")):
        text = path.read_text()
        assert home not in text or home == os.sep, path
