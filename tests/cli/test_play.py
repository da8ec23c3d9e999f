"""``abmarl play`` and ``abmarl replay`` in real windows on a virtual screen, and every mistake."""

import errno
import os
import shutil
import signal
import sys
import tempfile
import time

import numpy as np
import pytest

from abmarl.cli.play import save_game
from abmarl.rollout import load
from abmarl.rollout.game import Game
from tests.support.grid_worlds import one_world
from tests.support.processes import call
from tests.support.virtual_screen import virtual_screen

NO_SCREEN = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "SDL_VIDEODRIVER": ""}


@pytest.fixture(scope="module")
def screen():
    if not sys.platform.startswith("linux"):
        pytest.skip("Xvfb is a screen of Linux")
    with virtual_screen() as one:
        yield one


@pytest.fixture
def abmarl(tmp_path):
    return lambda *arguments, env=None: call(tmp_path, arguments, {**NO_SCREEN, **(env or {})})


def command(*arguments):
    line = ["abmarl", *map(str, arguments)]
    return f"import sys; sys.argv = {line!r}; from abmarl.cli import main; main()"


def test_a_game_and_its_replay(screen, tmp_path):
    """A person plays, saves and watches the game again."""
    script = command("play", "pacman", "--agent", "pacman", "--seed", 1, "--save", "game.npz")
    with screen.running(script, cwd=tmp_path) as process:
        screen.key("h")
        helped = screen.photograph()
        screen.key("h")
        before = screen.photograph()
        screen.key("Left", "Up", "x", "a")
        after = screen.photograph()
        screen.key("q")  # a diagonal elsewhere: it must not close the window
        screen.key("Escape")
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert not np.array_equal(helped, before)
    assert not np.array_equal(before, after)
    assert "game 1, 4 steps" in out
    assert "pacman" in out
    assert err.endswith("wrote game.npz\n")
    rollout = load(tmp_path / "game.npz")
    assert rollout.num_steps == 4
    assert rollout.actions["pacman"]["move"][:, 0, 0].tolist() == [1, 4, 0, 1]
    with screen.running(command("replay", "game.npz"), cwd=tmp_path) as process:
        screen.key("Right", "Right")
        second = screen.photograph()
        screen.key("Left")
        first = screen.photograph()
        screen.key("Right")
        assert np.array_equal(screen.photograph(), second)
        assert not np.array_equal(first, second)
        screen.click(20, second.shape[0] - 30 - 28)  # the start of the timeline
        assert not np.array_equal(screen.photograph(), first)
        screen.key("Escape")
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, ""), err
    assert "not as recorded" not in err


def test_real_time_goes_on_by_itself(screen, tmp_path):
    script = command("play", "foraging", "--fps", 20, "--seed", 1, "--save", "game.npz")
    with screen.running(script, cwd=tmp_path) as process:
        time.sleep(1)  # it waits for the first key, which does nothing else
        screen.key("space")
        for _ in range(8):
            screen.key("d")
        screen.key("Escape")
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    moves = load(tmp_path / "game.npz").actions["forager"]["move"][:, 0, 0]
    assert len(moves) > 10
    assert 4 <= np.count_nonzero((moves == (0, 1)).all(axis=1)) < len(moves)
    assert "forager0" in out


def test_ctrl_c_keeps_what_was_played(screen, tmp_path):
    script = command("play", "team-battle", "--agent", "agent3", "--seed", 2, "--save", "game.npz")
    with screen.running(script, cwd=tmp_path) as process:
        screen.key("x", "x")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "wrote game.npz\n")
    assert "game 1, 2 steps" in out
    assert load(tmp_path / "game.npz").num_steps == 2


def test_a_window_that_is_closed_at_once(screen, tmp_path):
    script = command("play", "team-battle", "--save", "game.npz", "--group", "red")
    with screen.running(script, cwd=tmp_path) as process:
        screen.key("Escape")
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out == "nothing was played\n"
    assert err.endswith("nothing was played, so nothing is saved\n")
    assert not (tmp_path / "game.npz").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tem-battle"], "no simulation 'tem-battle' (did you mean 'team-battle'?)"),
        (["team-battle", "--agent", "agent99"], "--agent: agent 'agent99' does not exist; those"),
        (["pacman", "--agent", "pellet0"], "--agent: agent 'pellet0' does not "),
        (["team-battle", "--group", "purple"], "--group: no group 'purple'"),
        (["team-battle", "--group", "red", "--group", "blue"], "--group red and blue: a person pl"),
        (["team-battle", "--agent", "agent0", "--group", "red"], "--agent and --group: give one"),
        (["team-battle", "--agent", "agent0", "--agent", "agent0"], "--agent agent0 is given tw"),
        (["team-battle", *("--agent", "a", "--agent", "b", "--agent", "c")], "--agent: 3 are "),
        (["team-battle", "--opponents", "good"], "--opponents: no policy 'good' for group"),
        (["team-battle", "--opponents", "none.zip"], "--opponents: none.zip"),
        (["team-battle", "--opponents", "rad=random"], "--opponents: no group 'rad' (did you mea"),
        (["comms-blocking", "--opponents", "heuristic"], "there is no screen"),
        (["team-battle", "--opponents", "red=random", "--opponents", "red=heuristic"],
         "--opponents: group 'red' is given random and heuristic"),
        (["team-battle", "--fps", "0"], "--fps 0: allowed are numbers above 0 up to 60"),
        (["team-battle", "--save", "game.zip"], "--save game.zip: the name must end in .npz"),
        (["team-battle", "--save", "/proc/a/game.npz"], "--save /proc/a/game.npz: cannot be wri"),
        (["team-battle"], "there is no screen to open a window on (DISPLAY is not set): playing"),
    ],
)  # fmt: skip
def test_mistakes(abmarl, tmp_path, arguments, message):
    done = abmarl("play", *arguments)
    assert (done.code, done.out) == (2, "")
    errors = [line for line in done.err.splitlines() if not line.startswith("abmarl: compiling")]
    assert errors[0].startswith(f"error: {message}")
    assert len(errors) <= 2
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("arguments", [["play", "team-battle"], ["replay", "run.npz"]])
def test_without_pygame(abmarl, tmp_path, arguments):
    (tmp_path / "pygame.py").write_text("raise ImportError('not here')")
    done = abmarl(*arguments, env={"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.getcwd()}"})
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: abmarl.render needs pygame: pip install 'abmarl[render]'\n"


def test_a_game_that_cannot_be_saved_is_kept_elsewhere(screen, tmp_path):
    """The folder is gone in the end, as a disk may be full."""
    spare, folder = tmp_path / "spare", tmp_path / "games"
    spare.mkdir()
    script = f"import os; os.environ['TMPDIR'] = {str(spare)!r}\n"
    script += command("play", "team-battle", "--seed", 2, "--save", "games/game.npz")
    with screen.running(script, cwd=tmp_path) as process:
        screen.key("x", "x")
        shutil.rmtree(folder)
        screen.key("Escape")
        out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "game 1, 2 steps" in out
    (place,) = spare.glob("*/game.npz")
    assert err == (
        "error: --save: cannot write games/game.npz: No such file or directory\n"
        f"the game is in {place}\n"
    )
    assert load(place).num_steps == 2


def test_there_may_be_no_other_place(monkeypatch, tmp_path):
    game = Game(one_world(), ["red0"])
    game.play({})

    def full(rollout, path):
        raise OSError(errno.ENOSPC, "No space left on device", path)

    monkeypatch.setattr("abmarl.rollout.save", full)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    lost = save_game(game, "battle", "game.npz")
    assert lost == "--save: game.npz: No space left on device\nthere was no other place to keep it"
    assert not list(tmp_path.iterdir())


def test_a_suffix_in_capitals(screen, tmp_path):
    script = command("play", "team-battle", "--seed", 2, "--save", "GAME.NPZ")
    with screen.running(script, cwd=tmp_path) as process:
        screen.key("x")
        screen.key("Escape")
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "wrote GAME.NPZ\n")
    assert load(tmp_path / "GAME.NPZ").num_steps == 1


def test_a_simulation_that_cannot_be_vectorised(abmarl, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from abmarl.gridworld import GridWorldSimulation, MovingAgent, PositionState\n"
        "class ByHand(GridWorldSimulation):\n"
        "    def __init__(self, agents, **kwargs):\n"
        "        self.agents = agents\n"
        "        self.position_state = PositionState(agents=agents, **kwargs)\n"
        "        self.finalize()\n"
        "    def get_obs(self, agent_id, **kwargs):\n"
        "        return {}\n"
        "    reset = step = get_reward = get_done = get_all_done = get_info = get_obs\n"
        "walker = MovingAgent(id='walker', encoding=1, move_range=1)\n"
        "sim = ByHand.build_sim(3, 5, agents={'walker': walker})\n"
    )
    done = abmarl("play", "mine.py")
    assert done.code == 2
    assert "mine.py: cannot be played, as it cannot be vectorised" in done.err
    assert "call sim.render() after every step" in done.err
