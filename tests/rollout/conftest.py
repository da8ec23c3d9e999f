import pytest

from tests.support.fake_vector import FakeSim


@pytest.fixture
def vec():
    """Six worlds, horizon 9."""
    return FakeSim().vectorize(num_envs=6, seed=3, horizon=9)
