import pytest

from tests.support.processes import call


@pytest.fixture
def abmarl(tmp_path):
    """Run ``abmarl ...`` in a fresh folder."""
    return lambda *arguments, env=None: call(tmp_path, arguments, env)


@pytest.fixture
def fake(tmp_path):
    """A Python file with the stand-in simulation, which compiles nothing."""
    (tmp_path / "fake.py").write_text(
        "from tests.support.fake_vector import FakeSim\nsim = FakeSim()\n"
    )
    return "fake.py"
