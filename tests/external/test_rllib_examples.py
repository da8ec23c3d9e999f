"""The example script, in short."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("ray.rllib")


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("mode", ["columns", "episodes"])
def test_team_battle(ray_session, capsys, mode):
    path = EXAMPLES / "rllib_team_battle.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    returns = example.main(iterations=2, num_envs=32, steps=100, mode=mode)
    assert set(returns) == {"red", "blue", "green", "gray"}
    lines = [line for line in capsys.readouterr().out.splitlines() if "mean returns" in line]
    assert len(lines) == 2
    assert "red -" in lines[1]
