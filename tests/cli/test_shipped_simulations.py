"""The command with the simulations that ship."""

import re

import pytest

from abmarl.examples import shipped
from abmarl.rollout import load

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
