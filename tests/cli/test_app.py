import re
import subprocess
import sys
from pathlib import Path

import pytest

import abmarl as package


def test_version(abmarl):
    done = abmarl("--version")
    assert (done.code, done.out, done.err) == (0, f"abmarl {package.__version__}\n", "")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help(abmarl, arguments):
    done = abmarl(*arguments)
    assert done.code == 0
    assert done.err == ""
    assert done.out.startswith("Usage: abmarl [OPTIONS] COMMAND [ARGS]...")
    assert "rollout" in done.out
    assert "abmarl rollout team-battle" in done.out


@pytest.mark.parametrize("arguments", [("rollout", "--help"), ("rollout",)])
def test_help_of_rollout(abmarl, arguments):
    done = abmarl(*arguments)
    assert done.code == 0
    for part in (
        "--num-envs N", "--steps N", "--horizon N", "--seed N", "--threads N", "--policy",
        "--order fixed|random", "--save FILE.npz", "--record FILE", "--record-world K",
        "--plot FILE.png", "[default: 1024", "[default: 500", "[default: 200", "[default: 0",
        "The file is executed", "abmarl[render]", "Ctrl-C", "\n    abmarl rollout my_sim.py --num",
    ):  # fmt: skip
        assert part in " ".join(done.out.split()) or part in done.out
    assert "\x1b" not in done.out


def test_the_shipped_simulations_are_named_in_the_help(abmarl):
    from abmarl.examples import shipped

    text = "".join(abmarl("rollout", "--help").out.split())
    assert f"({','.join(shipped)})" in text


def test_help_is_cheap():
    """It imports nothing that takes long."""
    script = (
        "import sys\nfrom abmarl.cli.app import run\nassert run(['rollout', '--help']) == 0\n"
        "heavy = {'numpy', 'numba', 'gymnasium', 'matplotlib', 'pygame'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


def test_every_option_is_explained(abmarl):
    """Those of the commands around experiments, on their page."""
    text = (Path(__file__).parents[2] / "docs/guide/training.md").read_text()
    for name in ("train", "debug", "visualize", "analyze", "make-runnable", "list"):
        done = abmarl(name, "--help")
        options = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", done.out, re.M)) - {"--help"}
        assert len(options) > 1
        missing = {option for option in options if f"`{option}" not in text}
        missing = {option for option in missing if f" {option}" not in text}
        assert not missing, name
