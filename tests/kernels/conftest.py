import os
import warnings

import pytest
from hypothesis import HealthCheck, settings

# Deterministic and without a database: a run on CI depends on the sources alone.
settings.register_profile(
    "kernels",
    max_examples=int(os.environ.get("ABMARL_EXAMPLES", 500)),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.fixture(autouse=True)
def _wrapping_is_meant():
    """Uncompiled, NumPy warns where words of a random stream wrap around and of ``inf - inf``."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(overflow|invalid value) encountered", RuntimeWarning)
        yield
