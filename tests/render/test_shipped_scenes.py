"""The simulations that ship with the package, drawn for real."""

import numpy as np
import pytest

from abmarl.render import Scene, frame

pytest.importorskip("abmarl.kernels", reason="abmarl is not installed")
shipped = pytest.importorskip("abmarl.examples").shipped


@pytest.mark.parametrize("name", list(shipped))
def test_shows_the_state_of_the_simulation(name):
    sim = shipped[name]()
    frame(Scene.of(sim))
    sim.reset(seed=3)
    scene = Scene.of(sim, step=0, title=name)
    for slot, agent in enumerate(sim.agents.values()):
        assert (scene.row[slot], scene.col[slot]) == tuple(agent.position)
        assert (scene.alive[slot], scene.health[slot]) == (agent.active, agent.health)
    counted = np.isin(scene.team, list(scene.team_names))  # walls are no team
    assert sum(tally.alive for tally in scene.team_counts()) == np.count_nonzero(
        scene.alive & counted
    )
    before = frame(scene)
    sim.reset(seed=3)
    assert np.array_equal(before, frame(Scene.of(sim, step=0, title=name)))


def test_a_world_of_many_looks_like_the_single_one():
    sim = shipped["foragers-and-hunters"]()
    vec = sim.vectorize(num_envs=3, seed=5)
    vec.reset()
    sim.reset(seed=(5, 2))
    assert np.array_equal(frame(Scene.of(vec, 2)), frame(Scene.of(sim)))
    assert not np.array_equal(frame(Scene.of(vec, 1)), frame(Scene.of(sim)))
