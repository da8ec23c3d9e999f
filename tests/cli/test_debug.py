"""``abmarl debug`` and ``abmarl make-runnable``."""

import os
import sys
import time

from abmarl.cli.debug import debug

FILE = """
from abmarl.examples import MultiCorridor
from abmarl.managers import TurnBasedManager

params = {
    "experiment": {
        "title": "Walk",
        "sim_creator": lambda config: TurnBasedManager(MultiCorridor(**config)),
    },
    "config": {"env_config": {"end": 6, "num_agents": 2}},
}
"""


def test_episodes_are_written_down(abmarl, tmp_path):
    (tmp_path / "walk.py").write_text(FILE)
    told, env = [], {"HOME": str(tmp_path)}
    for _ in range(2):
        done = abmarl("debug", "walk.py", "-n", 2, "-s", 5, "--seed", 3, env=env)
        assert (done.code, done.err) == (0, "")
        (folder,) = (tmp_path / "abmarl_results").iterdir()
        assert done.out == f"wrote {folder}\n"
        assert sorted(os.listdir(folder)) == [
            "Episode_0_by_agent.txt", "Episode_0_by_event.txt", "Episode_1_by_agent.txt",
            "Episode_1_by_event.txt", "walk.py",
        ]  # fmt: skip
        told.append((folder / "Episode_0_by_event.txt").read_text())
        folder.rename(tmp_path / f"run{len(told)}")
    assert told[0] == told[1]
    assert told[0].startswith("Reset\n")
    assert "Step 5\n" in told[0]
    assert "Step 6\n" not in told[0]


def test_two_in_a_second(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(time, "strftime", lambda form: "now")
    (tmp_path / "walk.py").write_text(FILE)
    for _ in range(2):
        assert debug(str(tmp_path / "walk.py"), steps=2) == 0
    made = [tmp_path / "abmarl_results" / f"walk_debug_now{end}" for end in ("", "-2")]
    assert capsys.readouterr().out.splitlines() == [f"wrote {one}" for one in made]
    assert all((one / "Episode_0_by_event.txt").exists() for one in made)


def test_no_screen(abmarl, tmp_path):
    (tmp_path / "walk.py").write_text(FILE)
    env = {"HOME": str(tmp_path), "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    done = abmarl("debug", "walk.py", "--render", env=env)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: --render: there is no screen here (DISPLAY is not set)\n")
    assert not (tmp_path / "abmarl_results").exists()


def test_simulations_that_fail(abmarl, tmp_path):
    (tmp_path / "walk.py").write_text(FILE.replace('"end": 6', '"end": 1'))
    done = abmarl("debug", "walk.py", env={"HOME": str(tmp_path)})
    assert done.code == 2
    assert done.err.startswith(f"error: {tmp_path}/walk.py, line 8: ValueError: ")


def test_make_runnable(abmarl, tmp_path):
    (tmp_path / "walk.py").write_text(FILE)
    done = abmarl("make-runnable", "walk.py", "--slurm", "-n", 4, "-t", 0.5)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"wrote {tmp_path}/runnable_walk.py\nwrote {tmp_path}/Walk_slurm.sbatch\n"
        f"start it with: sbatch {tmp_path}/Walk_slurm.sbatch\n"
    )
    assert "#SBATCH --time=0:30:00" in (tmp_path / "Walk_slurm.sbatch").read_text()
    done = abmarl("make-runnable", "walk.py", "--slurm", "--magpie")
    assert (done.code, done.err) == (
        2, "error: --magpie and --slurm are two ways to do the same: give one of them\n"
    )  # fmt: skip


def test_list_without_results(abmarl, tmp_path):
    done = abmarl("list", "--results", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(f"\nno results in {tmp_path}/abmarl_results\n")
