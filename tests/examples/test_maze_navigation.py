import numpy as np
import pytest

from abmarl.examples import (
    MazeNavigationAgent,
    MazeNavigationSim,
    MultiMazeNavigationSim,
    WallAgent,
    maze_navigation,
    multi_maze_navigation,
)
from abmarl.examples.maze_navigation import NAVIGATOR, TARGET, WALL
from abmarl.gridworld import GridWorldAgent

STAY, LEFT, DOWN, RIGHT, UP = range(5)


def agents_at(target, walls, *navigators):
    agents = [
        GridWorldAgent(id="target", encoding=TARGET, initial_position=target),
        *(MazeNavigationAgent(id=f"n{i}", initial_position=at) for i, at in enumerate(navigators)),
        *(WallAgent(id=f"w{i}", encoding=WALL, initial_position=at) for i, at in enumerate(walls)),
    ]
    return {agent.id: agent for agent in agents}


def placed(kind, *places):
    """A maze of 3 x 5 that has been drawn by hand."""
    sim = kind.build_sim(3, 5, agents=agents_at(*places), overlapping={TARGET: {NAVIGATOR}})
    sim.reset(seed=0)
    return sim


def step(sim, *moves):
    """One step of those that are not done; returns their rewards."""
    actions = {f"n{i}": {"move": move} for i, move in enumerate(moves) if move is not None}
    sim.step(actions)
    return pytest.approx([sim.get_reward(agent_id) for agent_id in actions])


# n # . . .
# . # . t .
# . . . # .
def test_a_navigator_finds_its_way():
    sim = placed(MazeNavigationSim, (1, 3), [(0, 1), (1, 1), (2, 3)], (0, 0))
    assert sim.get_obs("n0")["position_centered_encoding"].tolist() == [
        [-1, -1, -1, -1, -1],
        [-1, -1, -1, -1, -2],
        [-1, -1, NAVIGATOR, WALL, -2],
        [-1, -1, 0, WALL, -2],
        [-1, -1, 0, -2, -2],
    ]
    assert step(sim, RIGHT) == [-0.11]
    for move in (DOWN, DOWN, RIGHT, RIGHT):
        assert step(sim, move) == [-0.01]
    assert step(sim, RIGHT) == [-0.11]
    assert step(sim, UP) == [-0.01]
    assert not sim.get_done("n0")
    assert step(sim, RIGHT) == [0.99]
    assert sim.get_done("n0")
    assert sim.get_all_done()
    assert list(sim.grid[1, 3]) == ["target"]


# . n0 t . .
# . n1 n2 . .
def test_a_race():
    sim = placed(MultiMazeNavigationSim, (0, 2), [(2, 4)], (0, 1), (1, 1), (1, 2))
    assert step(sim, STAY, RIGHT, DOWN) == [-0.01, -0.11, -0.01]  # n2 was still there
    assert step(sim, RIGHT, RIGHT, STAY) == [0.99, -0.01, -0.01]
    assert step(sim, None, UP, UP) == [2 / 3 - 0.01, -0.01]
    assert not sim.get_all_done()
    assert step(sim, None, None, UP) == [1 / 3 - 0.01]
    assert sim.get_all_done()


def test_arriving_at_once():
    """The second one finds the target taken, and has to try again."""
    sim = placed(MultiMazeNavigationSim, (0, 2), [(2, 4)], (0, 1), (1, 2))
    assert step(sim, RIGHT, UP) == [0.99, -0.11]
    assert step(sim, None, UP) == [0.49]


@pytest.mark.parametrize("make", [maze_navigation, multi_maze_navigation])
def test_every_wall_is_built(make):
    sim = make()
    maze, walls = sim.states[0], sim.store.traits["encoding"] == WALL
    assert not maze.may_fail
    for seed in range(20):
        sim.reset(seed=seed)
        built = np.zeros((sim.grid.rows, sim.grid.cols), bool)
        for agent in sim.agents.values():
            if agent.encoding == WALL and agent.active:
                built[tuple(agent.position)] = True
                assert agent.id in sim.grid[agent.position]
            else:
                assert maze.passages[tuple(agent.position)]
        assert (built == ~maze.passages).all()
        assert sim.store.active[0, walls].sum() == built.sum() < walls.sum()
        assert sim.store.active[0, ~walls].all()
        assert sim.state_dict()["walls"].sum() == built.sum()


def test_walls_are_left_over_in_every_world_by_itself():
    vec = maze_navigation(5, 7).vectorize(64, seed=1, horizon=3, num_threads=2)
    vec.reset()
    for _ in range(10):
        vec.step(vec.sample_actions())
        walls = vec.store.active & (vec.store.traits["encoding"] == WALL)
        standing = (vec.store.top == WALL).sum(axis=1)
        assert standing.tolist() == walls.sum(axis=1).tolist()
    assert len(set(standing.tolist())) > 3


def test_too_few_walls_stand_around_the_target():
    agents = agents_at((4, 4), [], (0, 0))
    agents |= {f"w{i}": WallAgent(id=f"w{i}", encoding=WALL) for i in range(6)}
    sim = MazeNavigationSim.build_sim(9, 9, agents=agents, overlapping={TARGET: {NAVIGATOR}})
    sim.reset(seed=2)
    found = [sim.agents[f"w{i}"] for i in range(6)]
    assert all(wall.active for wall in found)
    far = [((wall.position - (4, 4)) ** 2).sum() for wall in found]
    assert far == sorted(far)
    walls = np.argwhere(~sim.states[0].passages)
    assert far == sorted(((walls - (4, 4)) ** 2).sum(axis=1).tolist())[:6]


def test_barriers_may_come_first():
    agents = {"w": WallAgent(id="w", encoding=WALL), **agents_at((0, 0), [])}
    agents["n"] = MazeNavigationAgent(id="n")
    sim = MazeNavigationSim.build_sim(5, 5, agents=agents, overlapping={TARGET: {NAVIGATOR}})
    sim.reset(seed=0)
    assert sim.agents["w"].active


def test_more_navigators_than_a_maze_may_have_room_for():
    sim = multi_maze_navigation(3, 3, 8)
    assert sim.states[0].may_fail
    with pytest.raises(ValueError, match="No passage of the 3 x 3 maze is left for agent 'nav"):
        for seed in range(50):
            sim.reset(seed=seed)
