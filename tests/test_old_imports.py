"""Imports as existing code has them."""

import importlib
import pkgutil
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

import abmarl.gridworld
from abmarl.former_paths import DEPRECATED, FORMER_PATHS
from abmarl.gridworld.former_names import FORMER_NAMES
from tests.support.grid_worlds import build, fighter

ROOT = Path(__file__).resolve().parents[1]


def run(code):
    """Runs code in a fresh Python, where nothing has been imported."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=ROOT
    )
    assert not result.returncode, result.stderr
    return result.stdout.split()


def modules():
    prefix = "abmarl.gridworld."
    return [one.name for one in pkgutil.walk_packages(abmarl.gridworld.__path__, prefix)]


@pytest.mark.parametrize(
    "name", ["agent", "base", "smart", "grid", "actor", "observer", "state", "done", "registry"]
)
def test_the_modules_of_the_documents_are_there(name):
    assert f"abmarl.gridworld.{name}" in modules()
    old = importlib.import_module(f"abmarl.sim.gridworld.{name}")
    assert old is importlib.import_module(f"abmarl.gridworld.{name}")
    if name != "registry":  # in the package, this is the registry itself
        assert getattr(importlib.import_module("abmarl.sim.gridworld"), name) is old


def test_every_module_is_the_same_object_under_both_names():
    names = ["abmarl.gridworld", *modules()]
    assert len(names) > 25
    for name in names:
        old = importlib.import_module(name.replace("abmarl.", "abmarl.sim.", 1))
        assert old is importlib.import_module(name)
        assert old.__name__ == old.__spec__.name == name


@pytest.mark.parametrize(
    "code",
    [
        "from abmarl.sim.gridworld.actor import MoveActor as Old\n"
        "from abmarl.gridworld.actor import MoveActor as New",
        "import abmarl.sim.gridworld.actor\n"
        "import abmarl.gridworld.actor.move\n"
        "Old = abmarl.sim.gridworld.actor.move.MoveActor\n"
        "New = abmarl.gridworld.actor.MoveActor",
        "from abmarl.gridworld.actor import MoveActor as New\n"
        "import abmarl.sim.gridworld as gw\n"
        "Old = gw.actor.MoveActor",
        "from abmarl.sim.gridworld import MoveActor as Old, actor\n"
        "New = actor.MoveActor",
        "from abmarl.sim import gridworld\n"
        "from abmarl.gridworld import MoveActor as New\n"
        "Old = gridworld.MoveActor",
    ],
)  # fmt: skip
def test_whichever_name_is_imported_first(code):
    assert run(f"{code}\nprint(Old is New, Old.__module__)") == [
        "True",
        "abmarl.gridworld.actor.move",
    ]


def test_a_module_that_is_not_there():
    with pytest.raises(ModuleNotFoundError, match=r"named 'abmarl.sim.gridworld.no'"):
        importlib.import_module("abmarl.sim.gridworld.no")


def test_the_old_place_is_not_imported_unless_it_is_asked_for():
    code = (
        "import sys, abmarl.sim, abmarl.managers\n"
        "print(*(name for name in sys.modules if 'gridworld' in name or name == 'numba'))"
    )
    assert run(code) == []


@pytest.mark.parametrize("old", FORMER_NAMES)
def test_former_names(old, monkeypatch):
    package, present, change = FORMER_NAMES[old]
    home = importlib.import_module(f"abmarl.gridworld.{package}")
    target = getattr(home, present, None)
    if target is None:  # the rule is that of the name, whether or not the class is there
        target = type(present, (), {})
        monkeypatch.setattr(home, present, target, raising=False)
    message = re.escape(f"{old} is called {present} now{'; ' + change if change else ''}.")
    places = [home, abmarl.gridworld, importlib.import_module(f"abmarl.sim.gridworld.{package}")]
    for place in places:
        with pytest.warns(DeprecationWarning, match=message) as caught:
            assert issubclass(getattr(place, old), target)
        assert {one.filename for one in caught} == {__file__}


def test_former_names_are_in_their_own_package_only():
    for name in ("TargetAgentDone", "NoSuchAgent"):
        with pytest.raises(AttributeError, match=f"gridworld.agent' has no attribute '{name}"):
            getattr(abmarl.gridworld.agent, name)
    with pytest.raises(ImportError, match="cannot import name 'HealthActor'"):
        from abmarl.gridworld import HealthActor  # noqa: F401


def test_former_names_in_import_statements_and_classes():
    with pytest.warns(DeprecationWarning, match="HealthAgent is called Grid") as caught:
        from abmarl.sim.gridworld.agent import HealthAgent, MovingAgent
    assert {one.filename for one in caught} == {__file__}

    class Walker(MovingAgent, HealthAgent):
        pass

    class Runner(HealthAgent, MovingAgent):
        pass

    for kind in (Walker, Runner):
        walker = kind(id="walker", encoding=1, move_range=1, initial_health=0.5)
        assert isinstance(walker, HealthAgent)
        assert isinstance(walker, kind)
        assert walker.initial_health == 0.5
    plain = MovingAgent(id="plain", encoding=1, move_range=1)
    assert isinstance(plain, HealthAgent)
    assert not isinstance(plain, Runner)
    assert not isinstance("plain", HealthAgent)


SIMULATIONS = {
    "multi_corridor": "MultiCorridor",
    "predator_prey": "PredatorPreySimulation",
    "team_battle_example": "TeamBattleSim, BattleAgent",
    "predator_prey_resources": "PredatorPreyResourcesSim, PreyAgent, PredatorAgent, ResourceAgent",
    "reach_the_target": "ReachTheTargetSim, RunningAgent, TargetAgent",
    "maze_navigation": "MazeNavigationSim, MazeNavigationAgent",
    "multi_maze_navigation": "MultiMazeNavigationSim, MultiMazeNavigationAgent",
    "traffic_corridor": "TrafficCorridorSim, TrafficAgent, WallAgent",
    "pacman": "PacmanSim, PacmanAgent, GhostAgent, PelletAgent, WallAgent",
    "comms_blocking": "CommsBlockingSim, BroadcastingAgent, BlockingAgent",
}


@pytest.mark.parametrize("module", SIMULATIONS)
def test_modules_of_simulations(module):
    names = SIMULATIONS[module]
    code = (
        f"from abmarl.examples.sim.{module} import {names}\n"
        f"one = {names},\n"
        f"from abmarl.examples import {names}\n"
        f"import abmarl.examples.sim.{module} as module\n"
        f"print(one == ({names},), module.{names.split(',')[0]} is one[0])"
    )
    assert run(code) == ["True", "True"]


def test_every_simulation_has_a_module_in_the_old_place():
    folder = ROOT / "abmarl" / "examples"
    plain = {f"abmarl.examples.sim.{path.stem}" for path in folder.glob("sim/*.py")}
    assert plain | set(FORMER_PATHS) >= {f"abmarl.examples.sim.{name}" for name in SIMULATIONS}
    here = {f"abmarl.examples.{path.stem}" for path in folder.glob("*.py")}
    here -= {f"abmarl.examples.{name}" for name in ("__init__", "wall", "foraging")}
    assert here <= set(FORMER_PATHS.values())


@pytest.mark.parametrize("former", FORMER_PATHS)
def test_former_paths(former):
    pytest.importorskip(
        "ray" if ".rllib" in former else "stable_baselines3" if ".sb3" in former else "numpy"
    )
    warned = (
        pytest.warns(DeprecationWarning, match="has moved")
        if former in DEPRECATED
        else nullcontext()
    )
    sys.modules.pop(former, None)
    with warned:
        found = importlib.import_module(former)
    assert found is importlib.import_module(FORMER_PATHS[former])
    assert found.__spec__.name == found.__name__ == FORMER_PATHS[former]


def test_a_missing_library_is_told_on_a_former_path():
    code = (
        "import sys; sys.modules['ray'] = None\n"
        "try: import abmarl.external.rllib.setting\n"
        "except ImportError as error: print('rllib' in str(error))"
    )
    assert run(code) == ["True"]


def test_components_by_former_names():
    message = (
        "SingleGridObserver is called PositionCenteredEncodingObserver now; its channel is "
        "'position_centered_encoding'."
    )
    with pytest.warns(DeprecationWarning, match=re.escape(message)):
        sim = build([fighter("a")], observers={"SingleGridObserver"})
    assert [one.key for one in sim.observers] == ["position_centered_encoding"]
