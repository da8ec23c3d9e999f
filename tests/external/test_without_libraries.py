"""What happens where a library is not installed: a line that says how to get it."""

import subprocess
import sys

import pytest

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
