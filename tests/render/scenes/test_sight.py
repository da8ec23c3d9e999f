"""What one agent sees."""

import numpy as np
import pytest

from abmarl.gridworld import AbsoluteEncodingObserver, StackedPositionCenteredEncodingObserver
from abmarl.render.scenes.sight import sight_of, window_of
from tests.support.grid_worlds import WINDOW, build, fighter, wall


def world(**parameters):
    """
    . . . . . . .
    . a w . b . .     w hides the cells behind it from a, which sees 4 cells far
    . . . . . . .
    """
    agents = [fighter("a", 1, (1, 1), view_range=4), wall("w", 9, (1, 2)), fighter("b", 2, (1, 4))]
    return build(agents, rows=3, cols=7, **parameters)


def test_is_what_the_observer_does_not_mask():
    sim = world()
    sim.reset(seed=0)
    sight = sight_of(sim.store, sim.agents["a"], 0)
    window = sim.get_obs("a")[WINDOW]
    inside = window != -1
    assert np.array_equal(sight.visible[inside], window[inside] != -2)
    assert not sight.visible[~inside].any()
    seen = sight.on_grid(3, 7)
    assert seen[1].tolist() == [True, True, True, False, False, False, False]
    assert not seen[:, 6].any()


@pytest.mark.parametrize("k", [0, 2])
def test_in_a_world_of_many(k):
    vec = world().vectorize(3, seed=0)
    vec.reset()
    vec.store.walls[1] = 0
    sight = sight_of(vec.store, vec.agents["a"], 0, k)
    assert not sight.on_grid(3, 7)[1, 4]
    assert sight_of(vec.store, vec.agents["a"], 0, 1).on_grid(3, 7)[1, 4]


def test_those_who_see_nothing():
    sim = world()
    assert sight_of(sim.store, sim.agents["a"], 0) is None  # nobody is placed yet
    sim.reset(seed=0)
    assert sight_of(sim.store, sim.agents["w"], 1) is None


def test_windows():
    sim = world(observers=[StackedPositionCenteredEncodingObserver, AbsoluteEncodingObserver])
    sim.reset(seed=0)
    channel, labels = window_of(sim.get_obs("a"))
    assert channel == "stacked_position_centered_encoding"
    assert labels[4, 4:9].tolist() == [1, 9, -2, -2, -2]
    assert (labels[0] == -1).all()
    channel, labels = window_of({"absolute_encoding": sim.get_obs("a")["absolute_encoding"]})
    assert labels[1].tolist() == [0, -1, 9, -2, -2, -2, -2]
    assert window_of({"position": np.zeros(2)}) is None
