"""Fixtures that several packages' tests use."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def ray_session():
    """Start one small Ray for all tests of this process.

    Its workers look for modules where they were started from, and have to find the tests. A Ray
    that runs already may have been started elsewhere, by the code of a page for example.
    """
    import ray

    ray.shutdown()
    before = os.getcwd()
    os.chdir(ROOT)
    try:
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    finally:
        os.chdir(before)
    yield
    ray.shutdown()


@pytest.fixture
def small_disk(tmp_path):
    """Return a function that mounts a disk of a given size; skip where that is not allowed."""
    folder = tmp_path / "disk"
    mounted = False

    def mount(size):
        nonlocal mounted
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        try:
            mounted = subprocess.run(command, capture_output=True).returncode == 0
        except OSError:
            mounted = False
        if not mounted:
            pytest.skip("needs to mount a small disk")
        return folder

    yield mount
    if mounted:
        subprocess.run(["umount", str(folder)], check=True)
