from pathlib import Path

import pytest
from processes import call

FAKE = Path(__file__).parents[1] / "rollout"


@pytest.fixture
def abmarl(tmp_path):
    """Run ``abmarl ...`` in a fresh folder."""
    return lambda *arguments, env=None: call(tmp_path, arguments, env)


@pytest.fixture
def fake(tmp_path):
    """A Python file with the stand-in simulation, which compiles nothing."""
    lines = ["import sys", f"sys.path.append({str(FAKE)!r})", "from fake_vec import FakeSim"]
    (tmp_path / "fake.py").write_text("\n".join([*lines, "sim = FakeSim()", ""]))
    return "fake.py"
