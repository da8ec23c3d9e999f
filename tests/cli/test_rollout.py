import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.support.processes import environment

pytest.importorskip("imageio", reason="needs abmarl[render]")

from abmarl.examples import shipped
from abmarl.rollout import load


def table(text):
    """label -> value of the table at the end."""
    return dict(re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in text.splitlines()[1:])


def test_a_run_ends_with_a_table(abmarl, fake):
    done = abmarl("rollout", fake, "-n", 20, "-t", 60, "--horizon", 10)
    assert done.code == 0
    assert done.out.splitlines()[0] == "fake: 20 worlds, 60 steps"
    rows = table(done.out)
    assert list(rows) == [
        "env steps", "agent steps", "agent-steps per second", "wall time", "episodes",
        "mean length", "mean return, red (sum of 3 agents)", "mean return, blue (sum of 2 agents)",
        "mean survivors, red", "mean survivors, blue", "mean survivors, rock",
    ]  # fmt: skip
    assert rows["env steps"] == "1,200"
    assert int(rows["episodes"]) >= 120
    assert rows["mean survivors, rock"] == "1.00"
    assert "\x1b" not in done.out + done.err
    first, second = done.err.splitlines()
    assert first == "fake, 20 worlds: 60 steps ..."
    assert second.startswith("fake, 20 worlds: 60 of 60 steps in ")


def test_the_table_tells_what_the_file_holds(abmarl, fake, tmp_path):
    arguments = ("rollout", fake, "-n", 20, "-t", 60, "--horizon", 10, "--seed", 5)
    done = abmarl(*arguments, "--save", "out/deep/run.npz")
    assert done.code == 0
    assert done.err.endswith("\nwrote out/deep/run.npz\n")
    rollout, rows = load(tmp_path / "out" / "deep" / "run.npz"), table(done.out)
    assert (rollout.seed, rollout.horizon, rollout.simulation) == (5, 10, "fake")
    assert rows["agent steps"] == f"{rollout.agent_steps:,}"
    assert rows["episodes"] == f"{len(rollout.episodes):,}"
    assert rows["mean length"] == f"{rollout.episodes.length.mean():.2f}"
    mean_return = rows["mean return, red (sum of 3 agents)"]
    assert mean_return == f"{rollout.episodes.returns['red'].mean():.2f}"
    assert rows["mean survivors, blue"] == f"{rollout.episodes.survivors[2].mean():.2f}"
    again = table(abmarl(*arguments).out)
    for label in set(rows) - {"wall time", "agent-steps per second"}:
        assert rows[label] == again[label]


def test_no_episode_ended(abmarl, fake):
    rows = table(abmarl("rollout", fake, "-n", 2, "-t", 1).out)
    assert rows["episodes"] == "0"
    assert rows["mean length"] == "- (no episode ended)"


def test_policies(abmarl, fake, tmp_path):
    still = abmarl(
        "rollout", fake, "-n", 2, "-t", 5, "--policy", "heuristic", "--policy", "blue=random",
        "--save", "a.npz",
    )  # fmt: skip
    assert still.code == 0
    every = abmarl("rollout", fake, "-n", 2, "-t", 5, "--policy", "*=random", "--save", "b.npz")
    assert every.code == 0
    mixed, plain = load(tmp_path / "a.npz"), load(tmp_path / "b.npz")
    assert (mixed.actions["blue"]["move"] == plain.actions["blue"]["move"]).all()
    assert (mixed.actions["red"]["attack"] != 1).all()  # all it has, or nothing
    assert (plain.actions["red"]["attack"] == 1).any()


@pytest.mark.parametrize("suffix", ["gif", "mp4", "png"])
def test_record_and_plot(abmarl, fake, tmp_path, suffix):
    import imageio.v3 as iio
    import imageio_ffmpeg

    done = abmarl(
        "rollout", fake, "-n", 3, "-t", 12, "--record", f"film.{suffix}", "--record-world", 2,
        "--plot", "alive.png",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.err.endswith(f"\nwrote film.{suffix}, alive.png\n")
    if suffix == "mp4":  # the start and what follows each step
        assert imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "film.mp4"))[0] == 13
    else:
        assert np.ptp(iio.imread(tmp_path / f"film.{suffix}")) > 100
    assert np.ptp(iio.imread(tmp_path / "alive.png")) > 100


@pytest.mark.parametrize("option", ["--record film.mp4", "--plot alive.png"])
def test_a_missing_extra_is_told_before_the_run(abmarl, fake, tmp_path, option):
    module = "matplotlib" if "plot" in option else "pygame"
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / f"{module}.py").write_text("raise ImportError('hidden')")
    path = os.pathsep.join([str(tmp_path / "hidden"), os.environ.get("PYTHONPATH", "")])
    done = abmarl("rollout", fake, *option.split(), env={"PYTHONPATH": path})
    assert (done.code, done.out) == (2, "")
    name = option.split()[0]
    assert done.err == (
        f"error: {name}: abmarl.render needs {module}: pip install 'abmarl[render]'\n"
    )


def interrupted(tmp_path, *arguments):
    """Press Ctrl-C while a run is under way."""
    command = [sys.executable, "-m", "abmarl", "rollout", *map(str, arguments)]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            # Loading may take a while; a line says that it starts, then give it a moment.
            said = ""
            while " steps ..." not in said:
                line = process.stderr.readline()
                assert line, f"ended before it began: {said}"
                said += line
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    return process.returncode, out, said + err


def test_ctrl_c_keeps_what_was_collected(fake, tmp_path):
    code, out, err = interrupted(
        tmp_path, fake, "-n", 4, "-t", 30_000, "--save", "run.npz", "--record", "film.gif",
        "--plot", "alive.png",
    )  # fmt: skip
    assert code == 130, err
    rollout = load(tmp_path / "run.npz")
    steps = rollout.num_steps
    assert 0 < steps < 30_000
    assert rollout.interrupted
    assert out.startswith(f"fake: 4 worlds, {steps:,} steps\n")
    assert err.splitlines()[-2:] == [
        "wrote film.gif, run.npz, alive.png",
        f"interrupted after {steps:,} of 30,000 steps; what was collected is in these files",
    ]
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == [
        "alive.png", "fake.py", "film.gif", "run.npz"
    ]  # fmt: skip


def test_ctrl_c_without_files(fake, tmp_path):
    code, out, err = interrupted(tmp_path, fake, "-n", 4, "-t", 10**9)
    assert code == 130
    assert "episodes" in out
    assert err.endswith("of 1,000,000,000 steps; what was collected is in the table above\n")
    assert "Traceback" not in err


def test_ctrl_c_while_loading(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import sys, time\n"
        "print('slow: 0 steps ...', file=sys.stderr, flush=True)\n"
        "time.sleep(60)\n"
    )
    code, out, err = interrupted(tmp_path, "slow.py")
    assert (code, out) == (130, "")
    assert err.endswith("interrupted: nothing was kept\n")


def test_a_reader_that_goes_away(fake, tmp_path):
    command = f"{sys.executable} -m abmarl rollout {fake} -n 2 -t 2 2>err.txt | true"
    subprocess.run(command, shell=True, cwd=tmp_path, env=environment(), check=True)
    text = (tmp_path / "err.txt").read_text()
    assert "Traceback" not in text
    assert "BrokenPipe" not in text


def test_neighbours_may_be_imported_and_names_do_not_clash(abmarl, tmp_path, fake):
    folder = tmp_path / "sims"
    folder.mkdir()
    (tmp_path / "fake.py").rename(folder / "neighbour.py")
    (folder / "random.py").write_text(
        "def make_sim():\n    from neighbour import sim\n    return sim\n"
    )
    assert abmarl("rollout", "sims/random.py", "-n", 2, "-t", 2).code == 0


@pytest.mark.parametrize(
    "params",
    [
        "{'experiment': {'sim_creator': create}, 'ray_tune': {'config': {'env_config': {'a': 1}}}}",
        "{'experiment': {'sim_creator': create}, 'config': {'env_config': {'a': 1}}}",
        "{'experiment': {'sim_creator': lambda config=None: create({'a': 1})}}",
    ],
)
def test_experiments_and_what_is_wrapped(abmarl, tmp_path, fake, params):
    (tmp_path / "experiment.py").write_text(
        "from fake import sim as inner\n"
        "class Manager:\n    sim = inner\n"
        "class Wrapper:\n    unwrapped = Manager()\n"
        "def create(config):\n    assert config == {'a': 1}, config\n    return Wrapper()\n"
        f"params = {params}\n"
    )
    done = abmarl("rollout", "experiment.py", "-n", 2, "-t", 2)
    assert done.code == 0, done.err
    assert done.out.startswith("experiment: 2 worlds, 2 steps\n")


def test_a_simulation_that_fails_in_a_step(abmarl, tmp_path, fake):
    (tmp_path / "failing.py").write_text(
        "from fake import sim\n"
        "make, sim.n = sim.vectorize, 0\n"
        "def vectorize(**kwargs):\n"
        "    vec = make(**kwargs)\n"
        "    step = vec.step\n"
        "    def failing(actions):\n"
        "        sim.n += 1\n"
        "        if sim.n == 3:\n            raise ValueError('reward of agent red0 is nan')\n"
        "        return step(actions)\n"
        "    vec.step = failing\n"
        "    return vec\n"
        "sim.vectorize = vectorize\n"
    )
    done = abmarl("rollout", "failing.py", "-n", 2, "-t", 9, "--record", "film.gif")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("\nerror: reward of agent red0 is nan\n")
    assert (tmp_path / "film.gif").stat().st_size > 100


OBJECT_STYLE = """
from abmarl.examples import BattleAgent
from abmarl.gridworld import GridWorldSimulation
from abmarl.gridworld.state import PositionState

class Mine(GridWorldSimulation):
    def __init__(self, **kwargs):
        self.agents, self.grid = kwargs["agents"], kwargs["grid"]
        self.position_state = PositionState(**kwargs)
        self.finalize()

    def reset(self, **kwargs): pass
    def step(self, action_dict): pass
    def get_obs(self, agent_id): pass
    def get_reward(self, agent_id): pass
    def get_done(self, agent_id): pass
    def get_all_done(self): pass
    def get_info(self, agent_id): pass

sim = Mine.build_sim(3, 5, agents={"a": BattleAgent(id="a", encoding=1)})
"""


@pytest.mark.parametrize("name", shipped)
def test_shipped_simulations(abmarl, tmp_path, name):
    done = abmarl(
        "rollout", name, "-n", 6, "-t", 40, "--horizon", 15, "--policy", "heuristic",
        "--save", "run.npz", "--record", "film.gif", "--plot", "alive.png",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.out.startswith(f"{name}: 6 worlds, 40 steps\n")
    rollout = load(tmp_path / "run.npz")
    assert rollout.simulation == name
    assert re.search(rf"episodes +{len(rollout.episodes)}\n", done.out)
    for group in rollout.groups:
        assert f"mean return, {group} (" in done.out
    for team in rollout.episodes.team_names.values():
        assert f"mean survivors, {team} " in done.out
    assert "wrote film.gif, run.npz, alive.png" in done.err


def test_threads_and_random_order(abmarl, tmp_path):
    for threads in (1, 2):
        done = abmarl(
            "rollout", "team-battle", "-n", 6, "-t", 40, "--threads", threads, "--order", "random",
            "--save", f"{threads}.npz",
        )  # fmt: skip
        assert done.code == 0, done.err
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()
    assert load(tmp_path / "1.npz").order == "random"


def test_a_file_with_a_simulation_of_components(abmarl, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from abmarl.examples import team_battle\n"
        "from abmarl.managers import AllStepManager\n"
        "sim = AllStepManager(team_battle())\n"
    )
    done = abmarl("rollout", "mine.py", "-n", 4, "-t", 10, "--policy", "red=heuristic")
    assert done.code == 0, done.err
    assert done.out.startswith("mine: 4 worlds, 10 steps\n")


def test_a_simulation_that_only_steps_by_dict(abmarl, tmp_path):
    """One that is written in the object style says what it lacks."""
    (tmp_path / "mine.py").write_text(OBJECT_STYLE)
    done = abmarl("rollout", "mine.py")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert "step_batch" in done.err
