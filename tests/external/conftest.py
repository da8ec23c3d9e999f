import pytest


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch):
    """Windows open on a screen that nobody sees."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
