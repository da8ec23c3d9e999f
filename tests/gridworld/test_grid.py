"""The grid by itself: who may stand where."""

import numpy as np
import pytest

from abmarl.gridworld import Grid
from tests.support.grid_worlds import battle, fighter, wall


@pytest.mark.parametrize(
    ("rows", "cols", "error", "message"),
    [
        (0, 5, ValueError, "at least 1 row and 1 column, got rows=0"),
        (3, -1, ValueError, "at least 1 row and 1 column, got cols=-1"),
        (3.0, 5, TypeError, "rows must be an int, got 3.0"),
        (3, True, TypeError, "cols must be an int, got True"),
    ],
)
def test_sizes(rows, cols, error, message):
    with pytest.raises(error, match=message):
        Grid(rows, cols)


def test_overlapping_is_symmetric():
    assert Grid(3, 5, {1: 2, 3: {3}}).overlapping == {1: {2}, 2: {1}, 3: {3}}
    with pytest.raises(TypeError, match="overlapping must be a dict of encodings"):
        Grid(3, 5, [1])
    with pytest.raises(TypeError, match="overlapping must map encodings, which are ints, got 'a'"):
        Grid(3, 5, {1: "a"})


def test_place_query_remove():
    grid = Grid(3, 5, {1: {2}})
    one, again, two, three = fighter("one"), fighter("again"), fighter("two", 2), wall("three", 3)
    assert grid.place(one, (2, 4))
    assert one.position.tolist() == [2, 4]
    assert not grid.place(again, (2, 4))
    assert not grid.query(three, (2, 4))
    assert grid.query(two, (2, 4))
    assert grid.place(two, (2, 4))
    assert list(grid[2, 4]) == ["one", "two"]
    assert grid.place(three, (0, 0))
    assert list(grid[2, 4]) == ["one", "two"]
    grid.remove(one, (2, 4))
    assert list(grid[2, 4]) == ["two"]
    with pytest.raises(ValueError, match="Agent 'one' is not on cell"):
        grid.remove(one, (2, 4))
    grid.reset()
    assert grid[2, 4] == grid[0, 0] == {}


@pytest.mark.parametrize("cell", [(3, 0), (0, 5), (-1, 0), (0, -1)])
def test_cells_that_are_not_there(cell):
    sim = battle()
    sim.reset(seed=0)
    before = sim.store.cell.copy()
    for call in (
        lambda: sim.grid.query(sim.agents["red0"], cell),
        lambda: sim.grid.place(sim.agents["red0"], cell),
        lambda: sim.grid[cell],
    ):
        with pytest.raises((IndexError, ValueError), match="is not on the 3 x 5 grid"):
            call()
    assert np.array_equal(before, sim.store.cell)


@pytest.mark.parametrize("cell", ["12", (1.9, 2.9), (1, 2, 3), 1, (None, 1), np.array([1.0, 2.0])])
def test_cells_are_two_ints(cell):
    sim = battle()
    for call in (
        lambda: sim.grid.query(sim.agents["red0"], cell),
        lambda: sim.grid.place(sim.agents["red0"], cell),
        lambda: sim.grid[cell],
    ):
        with pytest.raises(TypeError, match="A cell is two ints, row and column"):
            call()
    assert sim.grid[np.int8(1), np.uint64(2)] == {}


def test_an_agent_of_another_grid_is_refused():
    one, other = battle(), battle()
    with pytest.raises(ValueError, match="Agent 'red0' is on another grid"):
        one.grid.place(other.agents["red0"], (1, 1))


def test_writing_a_position_moves_the_agent():
    sim = battle()
    sim.reset(seed=0)
    red = sim.agents["red0"]
    red.position = np.array([1, 4])
    assert list(sim.grid[1, 4]) == ["red0"]
    assert sim.grid[0, 0] == {}
    for cell, message in (((0, 1), "not available to 'red0'"), ((3, 0), "not on the 3 x 5 grid")):
        with pytest.raises(ValueError, match=message):
            red.position = np.array(cell)
    with pytest.raises(ValueError, match="position"):
        red.position = None
    assert list(sim.grid[1, 4]) == ["red0"]
