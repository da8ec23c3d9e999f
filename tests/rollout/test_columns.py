import re

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete

from abmarl import resources
from abmarl.rollout import collect, rollout_nbytes
from abmarl.rollout.columns import column_dtype
from abmarl.sim.layout import SpaceLayout
from tests.support.fake_vector import FakeSim


def test_the_estimate_covers_what_is_taken():
    vec = FakeSim().vectorize(num_envs=40, seed=0, horizon=12)
    rollout = collect(vec, num_steps=60, progress=False)
    assert rollout.nbytes <= rollout_nbytes(vec, 60) <= 1.25 * rollout.nbytes


def test_a_rollout_that_does_not_fit_is_refused(vec, monkeypatch):
    monkeypatch.setattr(resources, "available_memory", lambda: 1_000_000)
    fit = int(re.search(r"up to (\d+) would", str(refusal(vec, 5000))).group(1))
    assert rollout_nbytes(vec, fit) <= 1_000_000 < rollout_nbytes(vec, fit + 2)
    assert str(refusal(vec, 5000)) == (
        f"5000 steps of 6 worlds need {resources.readable_bytes(rollout_nbytes(vec, 5000))} of "
        f"memory, 1.0 MB are available; num_steps up to {fit} would fit"
    )
    assert collect(vec, None, fit, progress=False).num_steps == fit
    monkeypatch.setattr(resources, "available_memory", lambda: 100)
    assert str(refusal(vec, 5)).endswith("not even one step fits: use fewer worlds")


def refusal(vec, steps):
    with pytest.raises(MemoryError) as caught:
        collect(vec, None, steps)
    return caught.value


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
        (Box(0, 1, (3,), bool), bool),
    ],
)
def test_columns_are_as_narrow_as_the_space(space, dtype):
    (leaf,) = SpaceLayout(space).leaves
    assert column_dtype(leaf) == dtype
