"""Every mistake: exit code 2, one or two lines on stderr, nothing on stdout, no file left."""

import os
import re

import pytest

TRY = "try 'abmarl rollout --help'\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--num-envs", "0"], "Invalid value for '--num-envs' / '-n': "),
        (["--num-envs", "many"], "Invalid value for '--num-envs' / '-n': "),
        (["--steps", "0"], "Invalid value for '--steps' / '-t': "),
        (["--seed", "-1"], "Invalid value for '--seed': "),
        (["--threads", "0"], "Invalid value for '--threads': "),
        (["--horizon", "-2"], "Invalid value for '--horizon': "),
        (["--bogus"], "No such option: --bogus"),
        (["--save"], "Option '--save' requires an argument."),
        (["another.py"], "Got unexpected extra argument"),
    ],
)
def test_options_that_are_wrong(abmarl, fake, arguments, message):
    done = abmarl("rollout", fake, *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")
    assert done.err.endswith(TRY)
    assert done.err.count("\n") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--order", "backwards"], "--order backwards: allowed are fixed and random"),
        (["--save", "a.zip"], "--save a.zip: the name must end in .npz"),
        (["--record", "a.avi"], "--record a.avi: the name must end in .mp4 or .gif or .png"),
        (["--plot", "a.svg"], "--plot a.svg: the name must end in .png"),
        (["--plot", "a.png", "--record", "./a.png"],
         "--plot and --record are both to write a.png"),
        (["--record-world", "9"], "--record-world 9: there are worlds 0 to 8"),
        (["--policy", "tabular"],
         "--policy: no policy 'tabular' for group 'red'; there are 'random', 'heuristic'"),
        (["--policy", "random", "--policy", "heuristic"],
         "--policy: a rollout takes one policy for group 'red', got random, heuristic;\n"
         "abmarl evaluate plays all of them"),
        (["--policy", "rod=random"],
         "--policy: no group 'rod' (did you mean 'red'?); the groups are 'red', 'blue'"),
        (["--save", "folder.npz"], "--save folder.npz: is there and is not a file"),
        (["--save", "fake.py/a.npz"], "--save fake.py/a.npz: cannot be written: File exists"),
        (["--plot", "/proc/a/b.png"], "--plot /proc/a/b.png: cannot be written: No such file or "
                                      "directory"),
    ],
)  # fmt: skip
def test_values_that_are_wrong(abmarl, fake, tmp_path, arguments, message):
    (tmp_path / "folder.npz").mkdir()
    done = abmarl("rollout", fake, "-n", 9, *arguments)
    assert (done.code, done.out, done.err) == (2, "", f"error: {message}\n")
    assert {name for name in os.listdir(tmp_path) if name != "__pycache__"} == {
        "fake.py", "folder.npz"
    }  # fmt: skip


def test_commands_that_do_not_exist(abmarl):
    done = abmarl("rolout")
    assert done.code == 2
    assert done.err.startswith("error: No such command 'rolout'.")
    assert done.err.endswith("try 'abmarl --help'\n")


def test_too_little_memory(abmarl, fake):
    done = abmarl("rollout", fake, "--steps", 10**9, "--save", "run.npz")
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(
        r"error: --save: 1000000000 steps of 1024 worlds need [\d.]+ TB of memory, [\d.]+ .B are "
        r"available; num_steps up to \d+ would fit\n",
        done.err,
    )


def test_too_many_worlds(abmarl):
    done = abmarl("rollout", "team-battle", "-n", 10**10)
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(
        r"error: 10000000000 worlds need [\d.]+ TB of memory, [\d.]+ .B are available; num_envs up "
        r"to \d+ would fit.\n",
        done.err,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "sim.py makes no simulation: it needs `sim`, a function `make_sim()`, or an "
                    "experiment's `params`"),
        ("sim = 3\n", "sim.py: sim is of type int, not a grid world simulation; one is made by "
                      "build_sim(...) of its class"),
        ("make_sim = 3\n", "sim.py: make_sim is 3, it must be a function"),
        ("\ndef make_sim():\n    pass\n",
         "sim.py: make_sim() is of type NoneType, not a grid world simulation; one is made by "
         "build_sim(...) of its class"),
        ("params = {}\n", "sim.py: params has no function at params['experiment']['sim_creator']"),
        ("params = []\n", "sim.py: params has no function at params['experiment']['sim_creator']"),
        ("\n\n1 / 0\n", "sim.py, line 3: ZeroDivisionError: division by zero"),
        ("def make_sim():\n    raise ValueError('no\\nway\\nout')\n",
         "sim.py, line 2: ValueError: no\nway"),
        ("def make_sim(size):\n    pass\n",
         "sim.py: TypeError: make_sim() missing 1 required positional argument: 'size'"),
        ("sim = (\n", "sim.py, line 1: SyntaxError: '(' was never closed"),
        ("import no_such_module\n",
         "sim.py, line 1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(3)\n", "sim.py, line 1: SystemExit: 3"),
        ("class A:\n    pass\na, b = A(), A()\na.sim, b.sim = b, a\nsim = a\n",
         "sim.py: sim is of type A, not a grid world simulation; one is made by build_sim(...) of "
         "its class"),
    ],
)  # fmt: skip
def test_files_that_make_no_simulation(abmarl, tmp_path, text, message):
    (tmp_path / "sim.py").write_text(text)
    done = abmarl("rollout", "sim.py")
    assert (done.code, done.out, done.err) == (2, "", f"error: {message}\n")


def test_a_plain_simulation_is_no_grid_world(abmarl, tmp_path):
    (tmp_path / "walk.py").write_text(
        "from abmarl.examples import MultiCorridor\n"
        "params = {'experiment': {'sim_creator': lambda config: MultiCorridor()}}\n"
    )
    for command in ("rollout", "evaluate"):
        done = abmarl(command, "walk.py")
        assert done.code == 2
        first, second = done.err.splitlines()
        assert first.startswith("error: walk.py: params is a MultiCorridor, a plain simulation, ")
        assert "abmarl visualize DIR" in second


def test_files_that_are_not_there(abmarl, tmp_path):
    (tmp_path / "sims").mkdir()
    (tmp_path / "notes.txt").write_text("")
    for name, message in (
        ("no.py", "no.py does not exist"),
        ("sims/no", "sims/no does not exist"),
        ("sims", "sims is a folder, not a Python file"),
        ("./notes.txt", "./notes.txt is not a Python file: its name does not end in .py"),
    ):
        done = abmarl("rollout", name)
        assert (done.code, done.out, done.err) == (2, "", f"error: {message}\n")


def test_simulations_that_are_not_shipped(abmarl):
    done = abmarl("rollout", "team-batle")
    assert (done.code, done.out) == (2, "")
    first, second = done.err.splitlines()
    assert first == "error: no simulation 'team-batle' (did you mean 'team-battle'?)"
    assert second.startswith("there are comms-blocking, foragers-and-hunters, ")
    assert abmarl("rollout", "zzz").err.startswith("error: no simulation 'zzz'\nthere are ")


def test_the_whole_story_on_demand(abmarl):
    done = abmarl("rollout", "no.py", env={"ABMARL_TRACEBACK": "1"})
    assert done.code == 2
    assert done.err.startswith("Traceback")
    assert done.err.endswith("error: no.py does not exist\n")


def test_a_disk_that_fills_up(abmarl, fake, tmp_path, small_disk):
    disk = small_disk("64k")
    assert abmarl("rollout", fake, "-n", 2, "-t", 2, "--save", "disk/run.npz").code == 0
    before = (disk / "run.npz").read_bytes()
    done = abmarl(
        "rollout", fake, "-n", 50, "-t", 2000, "--save", "disk/run.npz", "--plot", "a.png"
    )
    assert done.code == 2
    assert "episodes" in done.out
    assert "\nwrote a.png\nerror: --save: no room left on the disk for disk/run.npz (" in done.err
    assert (disk / "run.npz").read_bytes() == before
    assert os.listdir(disk) == ["run.npz"]
