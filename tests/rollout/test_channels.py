"""Groups whose spaces are not plain dicts of channels."""

import re

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, Tuple

from abmarl.examples import team_battle
from abmarl.rollout import collect, load, rollout_nbytes, save
from abmarl.sim.layout import SpaceLayout


def test_names_and_paths():
    box = Box(0, 1, (2,))
    space = Dict({"a": Discrete(3), "b": Dict({"c": box, "d": Tuple((Discrete(2), box))})})
    found = {leaf.name: leaf for leaf in SpaceLayout(space).leaves}
    assert {name: leaf.path for name, leaf in found.items()} == {
        "a": ("a",),
        "b.c": ("b", "c"),
        "b.d.0": ("b", "d", 0),
        "b.d.1": ("b", "d", 1),
    }
    assert found["b.d.1"].space == box
    assert found["b.d.1"].value({"b": {"d": (5, 6)}}) == 6
    assert [(leaf.name, leaf.path) for leaf in SpaceLayout(box).leaves] == [("point", ())]
    # A channel keeps its key, whatever that is.
    assert [leaf.name for leaf in SpaceLayout(Dict({2: box, 3: box})).leaves] == [2, 3]


def test_flattened_rollouts(tmp_path):
    rollouts = []
    for wrap in (lambda vec: vec, lambda vec: vec.flatten()):
        vec = wrap(team_battle().vectorize(num_envs=5, seed=3, horizon=20))
        rollouts.append(collect(vec, "random", 40, progress=False))
        assert rollouts[-1].nbytes <= rollout_nbytes(vec, 40)
    plain, flat = rollouts
    save(flat, tmp_path / "run.npz")
    flat = load(tmp_path / "run.npz")
    for group in plain.groups:
        windows = plain.observations[group]["position_centered_encoding"]
        assert np.array_equal(
            windows.reshape(*windows.shape[:3], -1), flat.observations[group]["point"]
        )
        assert np.array_equal(plain.rewards[group], flat.rewards[group])
        following = plain.next_observations(group, "position_centered_encoding")
        assert np.array_equal(
            following.reshape(*windows.shape[:3], -1), flat.next_observations(group, "point")
        )


def test_the_heuristic_needs_channels():
    vec = team_battle().vectorize(num_envs=2, seed=3).flatten()
    message = (
        "needs the observation channel 'position_centered_encoding'; group 'red' has ['point']"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        collect(vec, "heuristic", 3)
    vec = team_battle().vectorize(num_envs=2, seed=3).flatten(observations=False)
    with pytest.raises(ValueError, match="cannot fill the action channel 'point'"):
        collect(vec, "heuristic", 3)
