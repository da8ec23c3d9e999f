"""Placement around a target; draw by draw it is compared in tests/kernels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abmarl.gridworld import (
    Grid,
    GridWorldAgent,
    HealthState,
    MazePlacementState,
    PositionState,
    SmartGridWorldSimulation,
    TargetBarriersFreePlacementState,
)
from tests.naive.maze import neighbours
from tests.naive.world import NaiveWorld
from tests.support.target_worlds import (
    BARRIER,
    FREE,
    TARGET,
    build,
    cells,
    distances,
    refuses_to_start,
)

BOTH = pytest.mark.parametrize("kind", [TargetBarriersFreePlacementState, MazePlacementState])


def test_clusters_and_scatters():
    # . f . . . . .      The order of the agents is kept: cells at one distance are taken in
    # . . 0 . . . .      reading order by barriers, in reverse by free agents.
    # . 1 T 2 . . .
    # . . 3 . . . .
    # . . . . . . .
    sim = build(
        TargetBarriersFreePlacementState, 5, 3, starts={"target": (2, 2)},
        cluster_barriers=True, scatter_free_agents=True,
    )  # fmt: skip
    sim.reset(seed=0)
    assert cells(sim, "b") == [(1, 2), (2, 1), (2, 3), (3, 2), (1, 1)]
    assert cells(sim, "f") == [(4, 6), (0, 6), (3, 6)]


def test_what_overlaps_shares_the_closest_cell():
    parameters = {"starts": {"target": (2, 2)}, "cluster_barriers": True}
    overlapping = {BARRIER: {BARRIER, TARGET}}
    kind = TargetBarriersFreePlacementState
    sim = build(kind, 3, 0, overlapping=overlapping, **parameters)
    sim.reset(seed=0)
    assert cells(sim, "b") == [(2, 2)] * 3
    sim = build(kind, 3, 0, overlapping=overlapping, no_overlap_at_reset=True, **parameters)
    sim.reset(seed=0)
    assert cells(sim, "b") == [(1, 2), (2, 1), (2, 3)]


@BOTH
def test_without_clusters_placement_is_random(kind):
    found = set()
    for seed in range(20):
        sim = build(kind, 1, 1, starts={"target": (2, 2)})
        sim.reset(seed=seed)
        found.add((cells(sim, "b")[0], cells(sim, "f")[0]))
    assert len(found) > 15


@BOTH
@pytest.mark.parametrize("target", ["object", "id"])
def test_the_target_by_id_or_object(kind, target):
    agents = {name: GridWorldAgent(id=name, encoding=k + 1) for k, name in enumerate("abc")}
    sim = SmartGridWorldSimulation.build_sim(
        3, 5, agents=agents, states=[kind.__name__],
        target_agent=agents["b"] if target == "object" else "b",
        barrier_encodings=[1], free_encodings=frozenset({2, 3}),
    )  # fmt: skip
    assert sim.states[0].target_agent is sim.agents["b"]
    sim.reset(seed=0)
    assert len({tuple(agent.position) for agent in sim.agents.values()}) == 3


@BOTH
def test_a_random_target_leaves_the_starts_of_others_alone(kind):
    starts = {f"b{k}": (k // 7, k % 7) for k in range(34)}
    sim = build(kind, 34, 0, starts=starts)
    assert sim.states[0].may_fail is False
    for seed in range(5):
        sim.reset(seed=seed)
        assert cells(sim, "t") == [(4, 6)]


@BOTH
def test_random_order(kind):
    """Who is first gets the closest cell."""
    starts = {"target": (2, 2)}
    sim = build(kind, 3, 0, starts=starts, cluster_barriers=True, randomize_placement_order=True)
    orders = set()
    for seed in range(40):
        sim.reset(seed=seed)
        orders.add(tuple(sorted(range(3), key=cells(sim, "b").__getitem__)))
    assert len(orders) == 6


@BOTH
def test_starts_that_cannot_be(kind):
    starts = {"target": (1, 1), "f0": (1, 1)}
    refuses_to_start(
        build(kind, 0, 1, starts=starts), r"'f0' cannot start at its initial position \(1, 1\)"
    )
    starts = {"b0": (1, 1), "f0": (1, 1)}
    refuses_to_start(
        build(kind, 1, 1, starts=starts), r"'f0' cannot start at its initial position \(1, 1\)"
    )


def test_full_grids():
    kind = TargetBarriersFreePlacementState
    for ordered in (False, True):
        sim = build(kind, 35, 0, cluster_barriers=ordered)
        refuses_to_start(sim, "No cell of the 5 x 7 grid is left for agent 'b34'; use a larger")
    starts = {f"b{k}": (k // 7, k % 7) for k in range(35)}
    for one in (kind, MazePlacementState):
        sim = build(one, 35, 0, starts=starts)
        refuses_to_start(sim, "No cell of the 5 x 7 grid is left for agent 'target'")


@BOTH
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"target_agent": None}, ValueError, "needs a target_agent, an agent or its id"),
        ({"target_agent": "targets"}, ValueError, "'targets', which .* did you mean 'target'"),
        ({"target_agent": "nobody"}, ValueError, "target_agent names agent 'nobody', which does"),
        ({"target_agent": 3}, TypeError, "target_agent takes ids of agents or agents, got 3"),
        ({"barrier_encodings": "2"}, TypeError, "barrier_encodings must be an encoding or a set"),
        ({"barrier_encodings": {2: 3}}, TypeError, "barrier_encodings must be an encoding or a"),
        ({"barrier_encodings": True}, TypeError, "barrier_encodings must be an encoding or a set"),
        ({"free_encodings": {3, 2.5}}, TypeError, "free_encodings must be an encoding or .* 2.5"),
        ({"free_encodings": {3, 7}}, ValueError, r"free_encodings names encoding 7, .* \[1, 2, 3"),
        ({"free_encodings": {2, 3}}, ValueError, "Encoding 2 is in barrier_encodings and in free"),
        ({"free_encodings": None}, ValueError, "'f0' has encoding 3, which is neither in barrier"),
        ({"barrier_encodings": None}, ValueError, "'b0' has encoding 2, which is neither in bar"),
        ({"cluster_barriers": 1}, TypeError, "cluster_barriers must be True or False, got 1"),
        ({"scatter_free_agents": "x"}, TypeError, "scatter_free_agents must be True or False"),
        ({"no_overlap_at_reset": 0}, TypeError, "no_overlap_at_reset must be True or False"),
        ({"randomize_placement_order": 0}, TypeError, "randomize_placement_order must be True"),
    ],
)
def test_parameters(kind, parameters, error, message):
    with pytest.raises(error, match=message) as caught:
        build(kind, 1, 1, **parameters)
    assert len(str(caught.value)) < 300


@BOTH
def test_the_targets_encoding_may_be_a_role_too(kind):
    sim = build(kind, 1, 1, free_encodings={FREE, TARGET})
    sim.reset(seed=0)
    assert sim.states[0].free_encodings == {1, 3}
    # Of two agents with the target's encoding, the other one needs a role.
    agents = {name: GridWorldAgent(id=name, encoding=1) for name in "ab"}
    with pytest.raises(ValueError, match="Agent 'b' has encoding 1, which is neither"):
        kind(agents=agents, grid=Grid(3, 5), target_agent="a")


@BOTH
def test_they_place_before_other_states(kind):
    sim = build(kind, 1, 1, states=[HealthState])
    assert [type(state) for state in sim.states] == [kind, HealthState]
    assert issubclass(kind, PositionState)


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
