"""``abmarl train`` and what uses its results, as real processes on a real Ray."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.support.processes import call, environment

pytest.importorskip("ray.rllib")

# Ray and RLlib warn of their own future.
QUIET = {"PYTHONWARNINGS": "ignore"}
RUN = "RUN_OF_TEST"  # by which the processes of a run are found
HEAD = """
from abmarl.examples import MultiCorridor
from abmarl.managers import TurnBasedManager

class Walk(MultiCorridor):
    pass

def make(config):
    return TurnBasedManager(Walk(end=5, num_agents=2))

def mapping(agent_id, episode, worker, **kwargs):
    return "walker"
"""
PARAMS = """
params = {
    "experiment": {"title": "A walk", "sim_creator": make},
    "ray_tune": {
        "run_or_experiment": "PG",
        "checkpoint_freq": 2,
        "stop": {"training_iteration": 3},
        "local_dir": "FOLDER",
    },
    "verbose": 2,
    "config": {
        "env": "walk", "horizon": 10, "env_config": {"a": 1}, "num_workers": 0, "lr": 0.001,
        "train_batch_size": 100, "seed": 1,
        "multiagent": {"policies": {"walker": None}, "policy_mapping_fn": mapping},
    },
}
"""


def write(folder, old="", new=""):
    """Write the experiment, with results beside it."""
    text = (HEAD + PARAMS).replace("FOLDER", str(folder)).replace(old or "\0", new)
    (folder / "walk.py").write_text(text)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder in which an experiment was trained."""
    folder = tmp_path_factory.mktemp("home")
    write(folder)
    done = call(folder, ["train", "walk.py"], QUIET)
    assert (done.code, done.err) == (0, "")
    (folder / "out.txt").write_text(done.out)
    return folder


@pytest.fixture
def at_home(home):
    return lambda *arguments: call(home, arguments, QUIET)


def results_of(home):
    (folder,) = (home / "abmarl_results").glob("A-walk_*")
    return folder


def test_what_training_tells(home):
    lines = (home / "out.txt").read_text().splitlines()
    folder = results_of(home)
    assert lines[0] == "num_workers=0 -> num_env_runners=0"
    assert "horizon=10 -> episodes are truncated after as many steps" in lines
    assert "starting Ray for A walk ..." in lines
    assert f"results go to {folder}" in lines
    (last,) = (line for line in lines if line.startswith("iteration 3, return "))
    assert re.search(r"episode length [\d.]+, episodes \d+, speed [\d,]+ agent-steps/s", last)
    assert lines[-2:] == [
        "done: training_iteration reached after iteration 3",
        f"checkpoint: {folder}/checkpoint_000003",
    ]


def test_what_training_leaves(home):
    folder = results_of(home)
    assert (folder / "walk.py").read_text() == (home / "walk.py").read_text()
    names = {re.sub(r"[\d.]+\..*", "", path.name) for path in folder.iterdir()}
    assert names >= {"checkpoint_000002", "checkpoint_000003", "progress.csv", "run.json"}
    assert list(folder.glob("events.out.tfevents.*"))
    assert not list(folder.glob(".*"))
    assert len((folder / "progress.csv").read_text().splitlines()) == 4


def test_list(at_home, home):
    done = at_home("list", "--results", home)
    assert (done.code, done.err) == (0, "")
    assert "\n  team-battle\n" in done.out
    pattern = (
        rf"  {results_of(home).name}: PG of {home}/walk.py, 3 iterations, return -?[\d.]+, "
        rf"2 checkpoints\n"
    )
    assert re.search(pattern, done.out)


def test_films_without_a_screen(at_home, home):
    pytest.importorskip("imageio_ffmpeg")
    arguments = (
        "visualize", results_of(home), "-n", 2, "-s", 6, "-c", 2, "--record-only",
        "--frame-delay", 50, "--seed", 3,
    )  # fmt: skip
    done = at_home(*arguments)
    assert (done.code, done.err) == (0, "")
    films = [results_of(home) / f"Episode_000002_{k}.mp4" for k in (0, 1)]
    assert [line.partition(", filmed in ")[2] for line in done.out.splitlines()] == [
        str(one) for one in films
    ]
    assert all(one.stat().st_size > 1000 for one in films)
    again = at_home(*arguments, "--explore")
    third = results_of(home) / "Episode_000002_2.mp4"
    assert f", filmed in {third}\n" in again.out  # beside the others
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        done = at_home("visualize", results_of(home))
        assert done.code == 2
        assert done.err == (
            "error: there is no screen here (DISPLAY is not set): give --record-only to film the "
            "episodes instead\n"
        )


@pytest.mark.skipif(not shutil.which("Xvfb"), reason="needs a screen, real or not")
def test_films_with_a_screen(home):
    from tests.support.virtual_screen import virtual_screen

    with virtual_screen() as screen:
        variables = {**QUIET, "DISPLAY": screen.env["DISPLAY"]}
        done = call(home, ["visualize", results_of(home), "-s", 3, "--record"], variables)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("episode 0: ")
    assert (results_of(home) / "Episode_000003_0.mp4").stat().st_size > 1000


SCRIPT = """
def run(sim, trainer):
    policy_of = trainer.config["multiagent"]["policy_mapping_fn"]
    print(sim.sim.end, sorted(sim.agents), trainer.config["lr"])
    obs = sim.reset()
    done = {"__all__": False}
    taken = []
    for _ in range(6):
        actions = {}
        for agent_id, one in obs.items():
            if done.get(agent_id):
                continue
            actions[agent_id] = trainer.compute_action(one, policy_id=policy_of(agent_id))
        taken.append(list(actions.values())[0])
        obs, reward, done, info = sim.step(actions)
        if done["__all__"]:
            break
    print(taken)
    greedy = trainer.compute_single_action(one, explore=False)
    print(greedy in sim.agents["agent0"].action_space)
    many = trainer.compute_actions({k: one for k in range(500)}, policy_id="walker", explore=False)
    print(set(many.values()) == {greedy}, len(many))
    drawn = trainer.compute_actions(dict.fromkeys(range(500), one), policy_id="walker")
    print(len(set(drawn.values())) > 1)
    print(sorted(trainer.compute_actions({"agent0": one, "agent1": one})))
    try:
        trainer.compute_action(one, policy_id="nobody")
    except ValueError as error:
        print(error)
"""


def test_analysis(at_home, home):
    (home / "script.py").write_text(SCRIPT)
    first, second = (
        at_home("analyze", results_of(home), "script.py", "--seed", 5) for _ in range(2)
    )
    assert (first.code, first.err) == (0, "")
    lines = first.out.splitlines()
    assert lines[0] == "5 ['agent0', 'agent1'] 0.001"
    assert lines[2:] == [
        "True", "True 500", "True", "['agent0', 'agent1']",
        "there is no policy 'nobody'; there are 'walker'",
    ]  # fmt: skip
    assert second.out == first.out


def test_scripts_that_are_wrong(at_home, home):
    (home / "empty.py").write_text("")
    (home / "fails.py").write_text("def run(sim, trainer):\n    1 / 0\n")
    done = at_home("analyze", results_of(home), "empty.py")
    assert (done.code, done.err) == (2, "error: empty.py has no function run(sim, trainer)\n")
    done = at_home("analyze", results_of(home), "fails.py")
    assert done.err == "error: fails.py, line 2: ZeroDivisionError: division by zero\n"
    done = at_home("analyze", results_of(home), "fails.py", "--debug")
    assert "\nTraceback" in done.err
    done = at_home("analyze", results_of(home), "script.py", "-c", 7)
    assert done.code == 2
    assert "has no checkpoint 7; there are 2, 3" in done.err


def test_going_on(at_home, home, tmp_path):
    folder = shutil.copytree(results_of(home), tmp_path / "copy")
    done = at_home("train", "--resume", folder, "--set", "stop.training_iteration=4")
    assert (done.code, done.err) == (0, "")
    assert "going on after iteration 3" in done.out
    assert f"checkpoint: {folder}/checkpoint_000004" in done.out
    rows = (folder / "progress.csv").read_text().splitlines()
    columns = [row.split(",") for row in rows]
    episodes = columns[0].index("env_runners/num_episodes_lifetime")
    assert columns[4][0] == "4"
    assert float(columns[4][episodes]) > float(columns[3][episodes])
    # Whoever loads the results has the settings too.
    assert json.loads((folder / "run.json").read_text())["set"] == ["stop.training_iteration=4"]


def test_a_training_that_is_finished(at_home, home):
    done = at_home("train", "--resume", results_of(home))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-2:] == [
        "finished already: training_iteration reached after iteration 3; to train on, raise it: "
        "--set stop.training_iteration=NUMBER, now 3",
        f"checkpoint: {results_of(home)}/checkpoint_000003",
    ]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"A walk"', '"A run"', "the title 'A walk', here it is 'A run'"),
        ('"PG"', '"PPO"', "the algorithm 'PG', here it is 'PPO'"),
    ],
)
def test_another_experiment_is_no_resumption(home, tmp_path, old, new, words):
    write(tmp_path, old, new)
    before = sorted(results_of(home).iterdir())
    given = ["train", "walk.py", "--resume", results_of(home), "--set", "minibatch_size=50"]
    done = call(tmp_path, given, QUIET)
    assert done.code == 2
    assert done.err.startswith(f"error: {results_of(home)} holds a training with {words}:\n")
    assert sorted(results_of(home).iterdir()) == before


def test_a_policy_that_does_not_fit_any_more(at_home, home, tmp_path):
    folder = shutil.copytree(results_of(home), tmp_path / "copy")
    write(folder, "end=5", "end=9")
    done = at_home("visualize", folder, "--record-only")
    assert done.code == 2
    assert done.err.startswith("error: policy 'walker' was trained with the observation_space Box(")
    assert done.err.count("\n") == 2


def start(folder, *arguments):
    command = [sys.executable, "-m", "abmarl", *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=folder, env={**environment(), **QUIET, RUN: str(folder)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def until(process, text):
    """The lines up to one that starts with a text."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith(text):
            return lines
    pytest.fail("".join(lines) + process.stderr.read())


@pytest.mark.parametrize(
    ("signum", "code", "how"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_signal_keeps_a_checkpoint(tmp_path, signum, code, how):
    write(tmp_path, '"checkpoint_freq": 2,')
    process = start(tmp_path, "train", "walk.py", "--set", "stop.training_iteration=100000")
    until(process, "iteration 1,")
    os.killpg(process.pid, signum)  # as a terminal and `timeout` do: also to Ray's processes
    out, err = process.communicate(timeout=120)
    assert process.returncode == code
    note, last = err.splitlines()
    assert note.startswith("finishing this iteration and keeping a checkpoint")
    iteration = int(re.fullmatch(rf"{how} after iteration (\d+)", last)[1])
    (path,) = re.findall(r"^checkpoint: (.+)$", out, re.M)
    assert path.endswith(f"checkpoint_{iteration:06d}")
    assert os.path.isdir(path)


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced(tmp_path):
    write(tmp_path)
    process = start(
        tmp_path, "train", "walk.py", "--set", "num_workers=1",
        "--set", "stop.training_iteration=100000",
    )  # fmt: skip
    until(process, "iteration 1,")
    before = iteration_of(until(process, "iteration ")[-1])
    os.kill(worker_of(tmp_path), signal.SIGKILL)
    deadline = time.monotonic() + 300
    after = before
    while after < before + 20 and time.monotonic() < deadline:
        after = iteration_of(until(process, "iteration ")[-1])
    assert after >= before + 20
    (results,) = (tmp_path / "abmarl_results").iterdir()
    assert {2, before - before % 2} <= {int(p.name[-6:]) for p in results.glob("checkpoint_*")}
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.splitlines()[0] == "an env runner died and was replaced"


def iteration_of(line):
    return int(re.match(r"iteration ([\d,]+),", line)[1].replace(",", ""))


def worker_of(folder):
    """The process of the env runner that belongs to the run in a folder."""
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline") as file, open(f"/proc/{name}/environ") as variables:
                mine = f"{RUN}={folder}\0" in variables.read()
                if mine and "EnvRunner" in file.read():
                    return int(name)
        except OSError:
            continue
    pytest.fail("there is no worker")


@pytest.mark.slow
def test_a_disk_that_fills_up(tmp_path, small_disk):
    disk = small_disk("4m")
    write(tmp_path)
    settings = ("checkpoint_freq=1", "stop.training_iteration=1000", f"local_dir={disk}")
    given = [word for one in settings for word in ("--set", one)]
    done = call(tmp_path, ["train", "walk.py", *given], QUIET)
    assert done.code == 2
    first, second = done.err.splitlines()
    assert re.match(r"error: training stopped after iteration \d+, .+: the disk is full", first)
    path = second.removeprefix("the last checkpoint is ")
    (results,) = (disk / "abmarl_results").iterdir()
    assert path == str(max(results.glob("checkpoint_*")))
    assert not list(results.glob(".*"))
    done = call(tmp_path, ["visualize", results, "--record-only"], QUIET)
    assert "cannot be read" not in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "lr=1"], "give an experiment file, or --resume with a results folder"),
        (["no.py"], "no.py does not exist"),
        (["--resume", "nowhere"], "nowhere is no folder; 'abmarl list' names earlier results"),
        (["walk.py", "--smoke", "--resume", "nowhere"],
         "--smoke tries a file out and --resume goes on with a run: give one of them"),
        (["walk.py", "--set", "lrr=3"],
         "walk.py: params['config'] has a key 'lrr' that PG does not know (did you mean 'lr'?)"),
        pytest.param(
            ["walk.py", "--set", "seed=x"], "RLlib cannot build the algorithm: ",
            marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_what_is_wrong(tmp_path, arguments, message):
    write(tmp_path)
    done = call(tmp_path, ["train", *arguments], QUIET)
    assert done.code == 2
    place = f"{tmp_path}/" if message.startswith("no.py") else ""
    assert done.err.startswith(f"error: {place}{message}")
    assert done.err.count("\n") <= 2
    assert not list(tmp_path.glob("abmarl_results/*"))
