import matplotlib as mpl
import pytest


@pytest.fixture(autouse=True)
def _no_window():
    mpl.use("Agg")
