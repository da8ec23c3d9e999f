import csv
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.test_console import on_terminal
from tests.support.processes import environment

TRY = "try 'abmarl evaluate --help'\n"


def table(text):
    """label -> value of the table."""
    return dict(re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in text.splitlines()[1:])


@pytest.fixture
def walker(tmp_path):
    """A Python file with a corridor, and a policy that walks to its end."""
    from abmarl.policies import GreedyPolicy
    from tests.support.grid_worlds import corridor

    code = "from tests.support.grid_worlds import corridor as make_sim\n"
    (tmp_path / "walk.py").write_text(code)
    group = corridor().vectorize(1).ravel().groups["walker"]
    policy = GreedyPolicy(group.action_space, group.observation_space)
    policy.q_table[:, 5] = 1  # moves are (-1, -1), (-1, 0), ...: this one is (0, 1)
    policy.save(tmp_path / "right.npz")
    return "walk.py"


def test_a_run_ends_with_a_table(abmarl, fake):
    done = abmarl("evaluate", fake, "-n", 30, "--horizon", 10, "--num-envs", 4)
    assert done.code == 0
    assert done.out.splitlines()[0] == "fake: 30 episodes, mean [95 % interval]"
    rows = table(done.out)
    assert list(rows) == [
        "return, red (random)", "return, blue (random)", "wins, red", "wins, blue", "draws",
        "length", "truncated",
    ]  # fmt: skip
    for value in rows.values():
        assert re.fullmatch(r"-?[\d.]+ \[-?[\d.]+, -?[\d.]+\]", value)
    assert "\x1b" not in done.out + done.err
    first, second = done.err.splitlines()
    assert first == "fake, 4 worlds: 30 episodes ..."
    assert second.startswith("fake, 4 worlds: 30 of 30 episodes in ")


def test_same_seed_same_numbers_with_any_number_of_threads(abmarl):
    arguments = ("evaluate", "team-battle", "-n", 40, "--num-envs", 16, "--horizon", 40,
                 "--policy", "red=heuristic", "--order", "random")  # fmt: skip
    first = abmarl(*arguments, "--seed", 3, "--threads", 1)
    assert first.code == 0
    assert first.out == abmarl(*arguments, "--seed", 3, "--threads", 2).out
    assert first.out != abmarl(*arguments, "--seed", 4).out


def test_checkpoints(abmarl, walker):
    arguments = ("evaluate", walker, "-n", 50, "--horizon", 20)
    done = abmarl(*arguments, "--policy", "walker=right.npz")
    assert done.code == 0, done.err
    rows = table(done.out)
    assert float(rows["return, walker (right.npz)"].split()[0]) > -0.4
    assert rows["truncated"].startswith("0.00")
    both = abmarl(*arguments, "--policy", "right.npz", "--policy", "random")
    title, header, *lines = both.out.splitlines()
    assert title == "walk: 50 episodes each, mean return [95 % interval]"
    assert header.split() == ["policies", "walker"]
    assert [line.split()[0] for line in lines] == ["walker=right.npz", "walker=random"]
    shown = abmarl("rollout", walker, "--policy", "right.npz", "-n", 50, "-t", 40)
    assert float(table(shown.out)["mean return, walker (1 agent)"]) > -0.4


def test_checkpoints_that_execute_code_need_to_be_trusted(abmarl, tmp_path, fake):
    folder = tmp_path / "run" / "rl_module" / "red"
    folder.mkdir(parents=True)
    for place in (folder.parents[1], folder.parent, folder):
        (place / "class_and_ctor_args.pkl").write_bytes(b"")
        (place / "module_state.pkl").write_bytes(b"")
    for command in ("evaluate", "rollout"):
        done = abmarl(command, fake, "--policy", "red=run")
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            "error: --policy: run: checkpoints of RLlib are pickles, which can execute code;\n"
            "if you know where it comes from, allow that: load_policy(path, trust=True), or "
            "--trust on the command line\n"
        )


def test_stable_baselines(abmarl, tmp_path, walker):
    sb3 = pytest.importorskip("stable_baselines3")
    import gymnasium

    from tests.support.grid_worlds import corridor

    vec = corridor().vectorize(1).flatten(actions=False).ravel(observations=False)

    class Spaces(gymnasium.Env):
        observation_space = vec.groups["walker"].observation_space
        action_space = vec.groups["walker"].action_space

    model = sb3.A2C("MlpPolicy", Spaces(), seed=0, device="cpu", policy_kwargs={"net_arch": [4]})
    model.save(tmp_path / "a=2c.zip")  # any name will do
    arguments = ("evaluate", walker, "-n", 20, "--policy", "walker=a=2c.zip")
    env = {"PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
    done = abmarl(*arguments, env=env)
    assert done.code == 0, done.err
    assert done.err.startswith("loading a=2c.zip ...\n")
    assert "Gym" not in done.err  # whose notice Stable-Baselines3 would let loose
    assert "return, walker (a=2c.zip)" in done.out
    drawn = abmarl(*arguments, "--sample", env=env)
    assert drawn.code == 0, drawn.err
    assert drawn.out != done.out


CROSS = (
    "evaluate", "team-battle", "-n", 20, "--num-envs", 8, "--horizon", 50, "--policy",
    "red=heuristic", "--policy", "red=random", "--policy", "blue=heuristic", "--policy",
    "blue=random",
)  # fmt: skip


def test_cross_play(abmarl, tmp_path):
    pytest.importorskip("matplotlib")
    done = abmarl(*CROSS, "--plot", "out/cross.png", "--save", "cross.json")
    assert done.code == 0, done.err
    assert done.err.endswith("wrote cross.json, out/cross.png\n")
    title, header, *lines = done.out.splitlines()
    assert title == (
        "team-battle: 20 episodes each, mean return and win rate of red [95 % interval]"
    )
    assert header.split() == ["red", "against", "blue", "heuristic", "random"]
    assert [line.split()[0] for line in lines] == ["heuristic", "random"]
    assert (tmp_path / "out" / "cross.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads((tmp_path / "cross.json").read_text())
    assert {key: found[key] for key in ("simulation", "seed", "horizon", "order", "num_envs",
                                        "episodes", "confidence", "interrupted")} == {
        "simulation": "team-battle", "seed": 0, "horizon": 50, "order": "fixed", "num_envs": 8,
        "episodes": 20, "confidence": 0.95, "interrupted": False,
    }  # fmt: skip
    assert len(found["matches"]) == 4
    match = found["matches"][1]
    assert match["policies"] == {
        "red": "heuristic", "blue": "random", "green": "random", "gray": "random"
    }  # fmt: skip
    assert f"{match['returns']['red']['mean']:.2f}" in lines[0]
    assert f"{match['wins']['red']['mean']:.0%}" == lines[0].split()[-1]


def test_csv_has_a_line_for_each_combination(abmarl, tmp_path):
    done = abmarl(*CROSS, "--save", "cross.csv")
    assert done.code == 0
    with open(tmp_path / "cross.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["policies.red"], row["policies.blue"]) for row in rows] == [
        ("heuristic", "heuristic"), ("heuristic", "random"), ("random", "heuristic"),
        ("random", "random"),
    ]  # fmt: skip
    assert all(row["episodes"] == "20" for row in rows)
    assert all(float(row["returns.red.low"]) < float(row["returns.red.high"]) for row in rows)


def test_tables_on_a_terminal(tmp_path, fake):
    shown, code = on_terminal(
        tmp_path, "evaluate", fake, "-n", "6", "--policy", "red=random", "--policy",
        "red=heuristic",
    )  # fmt: skip
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert code == 0, plain
    assert "╭" in plain
    assert re.search(r"│ red against blue +│ +random │", plain)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-n", "0"], "Invalid value for '--episodes' / '-n': "),
        (["--num-envs", "0"], "Invalid value for '--num-envs': "),
        (["--steps", "3"], "No such option: --steps"),
    ],
)
def test_options_that_are_wrong(abmarl, fake, arguments, message):
    done = abmarl("evaluate", fake, *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")
    assert done.err.endswith(TRY)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--order", "backwards"], "--order backwards: allowed are fixed and random"),
        (["--save", "a.npz"], "--save a.npz: the name must end in .json or .csv"),
        (["--plot", "a.svg"], "--plot a.svg: the name must end in .png"),
        (["--plot", "a.png"],
         "--plot draws policies of one group against those of another one: give one or two groups "
         "several policies; the groups are 'red', 'blue'"),
        (["--policy", "rod=random"],
         "--policy: no group 'rod' (did you mean 'red'?); the groups are 'red', 'blue'"),
        (["--policy", "red=tabular"],
         "--policy: no policy 'tabular' for group 'red'; there are 'random', 'heuristic'"),
        (["--policy", "red=none.zip"], "--policy: none.zip: No such file or directory"),
        (["--policy", "red=fake.py"],
         "--policy: fake.py is no checkpoint that is known; known are a .zip of Stable-Baselines3, "
         "a .npz that a policy with a table saved, or a checkpoint folder of RLlib"),
        (["--save", "/proc/a/b.json"],
         "--save /proc/a/b.json: cannot be written: No such file or directory"),
    ],
)  # fmt: skip
def test_values_that_are_wrong(abmarl, fake, tmp_path, arguments, message):
    pytest.importorskip("matplotlib")
    done = abmarl("evaluate", fake, *arguments)
    assert (done.code, done.out, done.err) == (2, "", f"error: {message}\n")
    assert {p.name for p in tmp_path.iterdir() if p.is_file()} == {"fake.py"}


def test_spaces_that_do_not_fit_are_both_shown(abmarl, fake, walker):
    done = abmarl("evaluate", fake, "--policy", "red=right.npz")
    assert (done.code, done.out) == (2, "")
    first, second = done.err.splitlines()
    assert re.fullmatch(
        r"error: --policy: right\.npz does not fit group 'red': its observation_space is "
        r"Discrete\(6\),",
        first,
    )
    assert second.startswith("that of the group is Dict('position_centered_encoding': Box(-2, 3, ")
    assert "GROUP=" not in second
    done = abmarl("evaluate", fake, "--policy", "right.npz")
    assert done.err.endswith("ravelled; for one group only: --policy GROUP=right.npz\n")


def test_ctrl_c_reports_what_was_finished(fake, tmp_path):
    command = [
        sys.executable, "-m", "abmarl", "evaluate", fake, "-n", "10000000", "--num-envs", "4",
        "--save", "part.json",
    ]  # fmt: skip
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            assert " episodes ..." in process.stderr.readline()
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130, err
    found = json.loads((tmp_path / "part.json").read_text())
    count = found["matches"][0]["episodes"]
    assert 0 < count < 10_000_000
    assert found["interrupted"]
    assert out.startswith(f"fake: {count:,} episodes, mean")
    assert err.endswith(
        f"interrupted after {count:,} of 10,000,000 episodes; what was finished over-represents "
        f"short episodes\n"
    )
    assert "Traceback" not in err


def test_an_interrupted_cross_play_counts_what_was_played(capsys):
    from abmarl.cli.evaluate import Comparison
    from tests.support.grid_worlds import skirmish

    vec = skirmish().vectorize(4, seed=0, horizon=3)
    steps = []

    def slow(observations, active):
        steps.append(1)
        if len(steps) == 8:
            os.kill(os.getpid(), signal.SIGINT)
        return vec.sample_actions()["fighter_1"]

    policies = {
        "fighter_1": {"quick": "random", "slow": slow, "never": "random"},
        "fighter_2": {"random": "random"},
    }
    assert Comparison(vec, "skirmish", policies, 40, 0, None, None).run() == 130
    found = capsys.readouterr()
    title, _, quick, slowly, never = found.out.splitlines()
    total = int(re.match(r"skirmish: (\d+) episodes, 40 each at most, mean return", title)[1])
    assert 40 < total < 80
    assert quick.endswith("%")
    assert slowly.endswith("%")
    assert never.split() == ["never"]
    assert found.err.endswith(
        f"interrupted after {total} of 120 episodes; what was finished of the last combination "
        f"over-represents short episodes\n"
    )


def test_help(abmarl):
    done = abmarl("evaluate", "--help")
    assert (done.code, done.err) == (0, "")
    text = " ".join(done.out.split())
    for part in (
        "--policy [GROUP=]NAME", "--episodes N", "--num-envs N", "--seed N", "--horizon N",
        "--threads N", "--order fixed|random", "--trust", "--sample", "--save FILE",
        "--plot FILE.png", "[default: 1000", "Ctrl-C", "95 % intervals",
    ):  # fmt: skip
        assert part in text
    assert abmarl("evaluate").out == done.out
