"""Memory and processors."""

import os

import pytest

from abmarl import resources
from abmarl.resources import available_cpus, available_memory, check_memory, readable_bytes


def test_available_memory_is_less_than_all_of_it():
    assert 0 < available_memory() < 1 << 50


def test_what_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(resources, "available_memory", lambda: 5_000_000)
    check_memory(5_000_000, "3 worlds need")
    with pytest.raises(MemoryError) as caught:
        check_memory(6_000_000, "3 worlds need")
    assert str(caught.value) == "3 worlds need 6.0 MB of memory, 5.0 MB are available"
    with pytest.raises(MemoryError, match=r"available; use fewer$"):
        check_memory(6_000_000, "3 worlds need", "use fewer")
    with pytest.raises(MemoryError, match=r"available; 2 would fit$"):
        check_memory(6_000_000, "3 worlds need", lambda free: f"{free // 2_000_000} would fit")


def test_processors():
    assert 1 <= available_cpus() <= os.cpu_count()


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2.5e9, "2.5 GB"), (3e18, "3000.0 PB")],
)
def test_bytes_as_text(number, text):
    assert readable_bytes(number) == text
