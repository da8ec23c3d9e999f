import re
import resource
import subprocess
import sys

import numpy as np
import pytest
from fake_vec import FakeSim
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete

from abmarl.gridworld import memory
from abmarl.rollout import available_memory, collect, rollout_nbytes, size


def test_the_estimate_covers_what_is_taken():
    vec = FakeSim().vectorize(num_envs=40, seed=0, horizon=12)
    rollout = collect(vec, num_steps=60, progress=False)
    assert rollout.nbytes <= rollout_nbytes(vec, 60) <= 1.25 * rollout.nbytes


def test_a_rollout_that_does_not_fit_is_refused(vec, monkeypatch):
    monkeypatch.setattr(size, "available_memory", lambda: 1_000_000)
    fit = int(re.search(r"up to (\d+) would", str(refusal(vec, 5000))).group(1))
    assert rollout_nbytes(vec, fit) <= 1_000_000 < rollout_nbytes(vec, fit + 2)
    assert str(refusal(vec, 5000)) == (
        f"5000 steps of 6 worlds need {memory.readable_bytes(rollout_nbytes(vec, 5000))} of "
        f"memory, 1.0 MB are available; num_steps up to {fit} would fit"
    )
    assert collect(vec, None, fit, progress=False).num_steps == fit
    monkeypatch.setattr(size, "available_memory", lambda: 100)
    assert str(refusal(vec, 5)).endswith("not even one step fits: use fewer worlds")
    monkeypatch.setattr(size, "available_memory", lambda: None)
    assert collect(vec, None, 5, progress=False).num_steps == 5


def refusal(vec, steps):
    with pytest.raises(MemoryError) as caught:
        collect(vec, None, steps)
    return caught.value


def test_available_memory_is_less_than_all_of_it():
    assert 0 < available_memory() < 1 << 50


def test_the_machine_tells(tmp_path):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  9000 kB\nMemAvailable:    700 kB\n")
    assert memory.machine_room(str(meminfo)) == 700 * 1024
    assert memory.machine_room(str(tmp_path / "no")) > 1_000_000


@pytest.mark.parametrize("own", ["/", "/jobs/mine", "/elsewhere"])
def test_control_groups_version_2(tmp_path, own):
    # /jobs allows 1000, /jobs/mine says max; what is cached can be given back.
    jobs = tmp_path / "jobs"
    (jobs / "mine").mkdir(parents=True)
    (jobs / "memory.max").write_text("1000\n")
    (jobs / "memory.current").write_text("600\n")
    (jobs / "memory.stat").write_text("anon 400\ninactive_file 150\n")
    (jobs / "mine" / "memory.max").write_text("max\n")
    (jobs / "mine" / "memory.current").write_text("600\n")
    membership = tmp_path / "cgroup"
    membership.write_text(f"0::{own}\n")
    expected = 550 if own == "/jobs/mine" else None
    assert memory.group_room(str(tmp_path), str(membership)) == expected


def test_control_groups_version_1(tmp_path):
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "memory.limit_in_bytes").write_text("5000")
    (folder / "memory.usage_in_bytes").write_text("2000")
    membership = tmp_path / "cgroup"
    membership.write_text("5:cpu,cpuacct:/a\n4:memory:/not/seen/from/here\n0::/\n")
    assert memory.group_room(str(tmp_path), str(membership)) == 3000


def test_no_control_groups(tmp_path):
    assert memory.group_room(str(tmp_path), str(tmp_path / "no")) is None


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_AS"), reason="no address space limit here")
def test_an_address_space_limit_counts():
    script = (
        "import resource\n"
        "from abmarl.gridworld import memory\n"
        "assert memory.address_room() is None\n"
        "resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))\n"
        "assert 0 < memory.address_room() < 8 << 30\n"
        "assert memory.available_memory() < 8 << 30\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2.5e9, "2.5 GB"), (3e18, "3000.0 PB")],
)
def test_bytes_for_people(number, text):
    assert memory.readable_bytes(number) == text


@pytest.mark.parametrize(
    ("space", "dtype"),
    [
        (Discrete(5), np.int8),
        (Discrete(128), np.int8),
        (Discrete(129), np.int16),
        (Discrete(2, start=40000), np.int32),
        (Discrete(2**40), np.int64),
        (MultiDiscrete([3, 200]), np.int16),
        (MultiBinary(4), np.int8),
        (Box(-2, 3, (2,), np.int64), np.int8),
        (Box(0, 1, (2,), np.float32), np.float32),
        (Box(0, 2**33, (), np.int64), np.int64),
    ],
)
def test_columns_are_as_narrow_as_the_space(space, dtype):
    assert size.column_dtype(space) == dtype


def test_nested_channels_are_no_columns():
    with pytest.raises(TypeError, match="a channel of Dict cannot be a column; allowed are Box"):
        size.column_dtype(Dict({"a": Discrete(2)}))
