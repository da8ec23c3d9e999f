"""Mazes: what they look like, and who is where in them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abmarl.gridworld import MazePlacementState
from tests.naive.maze import neighbours
from tests.naive.world import NaiveWorld
from tests.support.target_worlds import build, cells, distances, refuses_to_start

SETTINGS = settings(max_examples=100, derandomize=True, database=None, deadline=None)


def check_maze(passages, start):
    """Every passage is reached, in one way only; none is more than one cell wide."""
    world = NaiveWorld(*passages.shape, [])
    reached, waiting = {start}, [start]
    while waiting:
        for cell in neighbours(world, waiting.pop()):
            if passages[cell] and cell not in reached:
                reached.add(cell)
                waiting.append(cell)
    assert len(reached) == passages.sum()
    squares = passages[1:, 1:] & passages[1:, :-1] & passages[:-1, 1:] & passages[:-1, :-1]
    assert not squares.any()
    # It is as large as can be: no wall has just one passage beside it.
    for cell in zip(*np.nonzero(~passages), strict=True):
        assert sum(passages[one] for one in neighbours(world, cell)) != 1


@st.composite
def mazes(draw):
    rows, cols = draw(st.integers(4, 20)), draw(st.integers(4, 20))
    return {
        "rows": rows,
        "cols": cols,
        "barriers": draw(st.integers(0, (rows // 2) * (cols // 2) - 1)),
        "free": draw(st.integers(0, rows * cols // 3 - 1)),
        "cluster_barriers": draw(st.booleans()),
        "scatter_free_agents": draw(st.booleans()),
    }


@SETTINGS
@given(mazes(), st.integers(0, 2**32))
def test_mazes(parameters, seed):
    sim = build(MazePlacementState, **parameters)
    assert sim.states[0].may_fail is False
    sim.reset(seed=seed)
    passages = sim.states[0].passages
    assert passages.shape == (parameters["rows"], parameters["cols"])
    check_maze(passages, cells(sim, "t")[0])
    assert all(passages[cell] for cell in cells(sim, "f"))
    assert not any(passages[cell] for cell in cells(sim, "b"))
    everywhere = [cell for letter in "tbf" for cell in cells(sim, letter)]
    assert len(set(everywhere)) == len(sim.agents)
    row, col = cells(sim, "t")[0]
    squares = (np.arange(sim.grid.rows)[:, None] - row) ** 2 + (np.arange(sim.grid.cols) - col) ** 2
    if parameters["cluster_barriers"]:
        nearest = np.sort(squares[~passages])[: parameters["barriers"]]
        assert distances(sim, "b") == nearest.tolist()
    if parameters["scatter_free_agents"]:
        farthest = np.sort(squares[passages])[::-1][: parameters["free"]]
        assert distances(sim, "f") == farthest.tolist()


def test_large_mazes():
    sim = build(MazePlacementState, 900, 60, rows=64, cols=64)
    sim.reset(seed=0)
    check_maze(sim.states[0].passages, cells(sim, "t")[0])
    assert not any(sim.states[0].passages[cell] for cell in cells(sim, "b"))


def test_initial_positions_hold_in_mazes():
    sim = build(MazePlacementState, 2, 2, starts={"b0": (0, 0), "f0": (0, 1), "target": (2, 2)})
    for seed in range(5):
        sim.reset(seed=seed)
        assert cells(sim, "b")[0] == (0, 0)
        assert cells(sim, "f")[0] == (0, 1)


def test_mazes_differ_between_worlds_and_episodes():
    sim = build(MazePlacementState, 0, 0, rows=9, cols=9, starts={"target": (4, 4)})
    found = set()
    for _ in range(10):
        sim.reset()
        found.add(sim.states[0].passages.tobytes())
    assert len(found) == 10


@pytest.mark.parametrize("ordered", [True, False])
def test_mazes_without_room(ordered):
    parameters = {"cluster_barriers": ordered, "scatter_free_agents": ordered}
    barriers = build(MazePlacementState, 25, 0, **parameters)
    assert barriers.states[0].may_fail is True
    refuses_to_start(barriers, r"No wall of the 5 x 7 maze is left for agent 'b\d+'; use a larger")
    free = build(MazePlacementState, 0, 30, **parameters)
    refuses_to_start(free, r"No passage of the 5 x 7 maze is left for agent 'f\d+'; use .* free")
