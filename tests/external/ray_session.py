"""One small Ray for all tests."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_started = False


@pytest.fixture(scope="session")
def ray_session():
    """A Ray whose workers find the tests: they look for modules where they were started from.

    One that runs already may have been started from anywhere, by the code on a page for example.
    """
    global _started
    import ray

    if not _started:
        ray.shutdown()
        before = os.getcwd()
        os.chdir(ROOT)
        try:
            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        finally:
            os.chdir(before)
        _started = True
    yield
    ray.shutdown()
    _started = False
