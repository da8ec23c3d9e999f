import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import abmarl.examples
import abmarl.render
from abmarl.examples.sim.multi_corridor import MultiCorridor


@pytest.fixture
def without(monkeypatch):
    def forget(library):
        for name in [n for n in sys.modules if n.startswith("abmarl.render.")]:
            monkeypatch.delitem(sys.modules, name)
        for name in [n for n in sys.modules if n.split(".")[0] == library]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, library, None)

    return forget


def team_battle():
    return abmarl.examples.shipped["team-battle"]()


def corridor():
    sim = MultiCorridor()
    sim.reset()
    return sim


@pytest.mark.parametrize(
    ("library", "use"),
    [
        ("pygame", lambda folder: abmarl.render.frame),
        ("pygame", lambda folder: abmarl.render.Recorder(team_battle(), folder / "x.mp4")),
        ("pygame", lambda folder: team_battle().render()),
        ("matplotlib", lambda folder: corridor().render(mode="rgb_array")),
        ("imageio_ffmpeg", lambda folder: abmarl.render.FrameWriter(folder / "x.mp4")),
        ("PIL", lambda folder: abmarl.render.FrameWriter(folder / "x.png")),
        ("matplotlib", lambda folder: abmarl.render.plot_alive(folder / "x.png", {"a": [1]})),
    ],
)
def test_missing_library(without, tmp_path, library, use):
    without(library)
    with pytest.raises(ImportError) as caught:
        use(tmp_path)
    assert str(caught.value) == f"abmarl.render needs {library}: pip install 'abmarl[render]'"
    assert caught.value.__cause__ is not None
    assert not list(tmp_path.iterdir())


def test_nothing_is_imported_before_it_is_used():
    pytest.importorskip("pygame")
    script = """
import sys
import abmarl.render
from abmarl.examples.sim.multi_corridor import MultiCorridor
from abmarl.render import Scene, picture_size, rgb
heavy = {"pygame", "matplotlib", "imageio", "imageio_ffmpeg", "PIL"} & set(sys.modules)
assert not heavy, heavy
import abmarl.render.modes
assert "pygame" not in sys.modules and "matplotlib" not in sys.modules
from abmarl.render import FrameWriter, Recorder, Viewer, frame, plot_alive
import pygame
assert "matplotlib" not in sys.modules
assert not pygame.display.get_init()
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_names():
    assert set(abmarl.render.__all__) <= set(dir(abmarl.render))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = abmarl.render.nothing


@pytest.mark.parametrize("package", ["abmarl.examples", "abmarl.external"])
def test_type_checkers_see_the_names_that_are_imported_on_first_use(package):
    module = importlib.import_module(package)
    (block,) = (
        node
        for node in ast.parse(Path(module.__file__).read_text()).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    homes = {name.asname: line.module for line in block.body for name in line.names}
    assert homes == {name: f"{package}.{home}" for name, home in module._HOME.items()}


NEEDS = {
    "GymWrapper": ("gym", "gym"),
    "PettingZooParallelWrapper": ("pettingzoo", "pettingzoo"),
    "PettingZooAECWrapper": ("pettingzoo", "pettingzoo"),
    "SB3VecEnv": ("stable_baselines3", "sb3"),
    "OpenSpielWrapper": ("open_spiel", "openspiel"),
    "TorchRLEnv": ("torchrl", "torchrl"),
    "MultiAgentWrapper": ("ray", "rllib"),
    "multi_agent_to_abmarl": ("ray", "rllib"),
}


@pytest.mark.parametrize("name", NEEDS)
def test_the_install_line(name):
    library, extra = NEEDS[name]
    code = f"""
import sys
sys.modules[{library!r}] = None
import abmarl.external
assert {name!r} in dir(abmarl.external)
try:
    abmarl.external.{name}
except ImportError as error:
    print(error)
    print(type(error.__cause__).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    message, cause = done.stdout.splitlines()[-2:]
    assert message.endswith(f"needs {library}: pip install 'abmarl[{extra}]'")
    assert cause == "ModuleNotFoundError"


def test_adapters_load_on_first_use():
    code = f"""
import sys
import abmarl.external
from abmarl.external import GymnasiumVectorEnv, GymnasiumWrapper, gym_to_abmarl
heavy = {{library for library, _ in {list(NEEDS.values())!r}}} & set(sys.modules)
assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_unknown_names():
    import abmarl.external

    with pytest.raises(AttributeError, match="no attribute 'Gym'"):
        _ = abmarl.external.Gym
