import pytest

from abmarl.examples import PacmanSim, pacman
from abmarl.examples.pacman import GHOST, PACMAN, PELLET

RUN_ON, LEFT, DOWN, RIGHT, UP = range(5)


@pytest.fixture
def start(tmp_path):
    """Makes a simulation of a map and resets it; ghosts and Pac-Man look to the right."""

    def make(text):
        path = tmp_path / "map.txt"
        path.write_text(text)
        sim = pacman(path)
        sim.reset(seed=0)
        for agent in sim.agents.values():
            if agent.encoding in (PACMAN, GHOST):
                agent.orientation = RIGHT
        return sim

    return make


def step(sim, move, ghost_move=RUN_ON):
    """One step; returns the rewards of Pac-Man and of the first ghost."""
    ghost = next(one.id for one in sim.agents.values() if one.encoding == GHOST)
    sim.step({"pacman": {"move": move}, ghost: {"move": ghost_move}})
    return pytest.approx([sim.get_reward(agent_id) for agent_id in ("pacman", ghost)])


def pellets(sim):
    return sum(agent.active for agent in sim.agents.values() if agent.encoding == PELLET)


def test_pacman_eats_until_nothing_is_left(start):
    sim = start("P o . o # G")
    assert step(sim, RUN_ON) == [0.09, -0.01]
    assert pellets(sim) == 1
    assert list(sim.grid[0, 1]) == ["pacman"]
    assert step(sim, RUN_ON) == [-0.01, -0.01]
    assert not sim.get_all_done()
    assert step(sim, UP) == [1.09, -0.01]
    assert sim.get_all_done()
    assert sim.get_done("pacman")


def test_a_ghost_catches_pacman_on_its_cell(start):
    sim = start("P . G o")
    assert step(sim, RIGHT, LEFT) == [-1.01, 0.99]
    assert sim.get_done("pacman")
    assert sim.get_all_done()
    assert [one for one in sim.grid[0, 1] if one == "pacman"] == []


def test_nobody_runs_through_a_ghost(start):
    sim = start("P G o")
    assert step(sim, RIGHT, LEFT) == [-1.01, 0.99]
    assert pellets(sim) == 1


def test_running_after_one_another_is_no_change_of_places(start):
    sim = start("G P . . o")
    assert step(sim, RIGHT, RIGHT) == [-0.01, -0.01]
    assert not sim.get_all_done()


def test_pacman_eats_before_it_is_caught(start):
    sim = start("P o G")
    assert step(sim, RIGHT, LEFT) == [0.1 + 1 - 1 - 0.01, 0.99]
    assert pellets(sim) == 0


def test_ghosts_leave_pellets_where_they_are(start):
    sim = start("G o . P")
    assert step(sim, RUN_ON, RIGHT) == [-0.01, -0.01]
    assert sorted(agent.encoding for agent in sim.grid[0, 1].values()) == [PELLET, GHOST]
    shown = sim.get_obs("pacman")["stacked_position_centered_encoding"][4, 2]
    assert shown.tolist() == [1, 0, 1, 0][: len(shown)]


def test_all_that_catch_it_are_rewarded(start):
    sim = start(". G .\nG P o")
    first, second = (one.id for one in sim.agents.values() if one.encoding == GHOST)
    sim.step({first: {"move": DOWN}, second: {"move": RIGHT}})
    assert [sim.get_reward(one) for one in (first, second, "pacman")] == pytest.approx(
        [0.99, 0.99, -1.0]
    )


@pytest.mark.parametrize(
    ("text", "counts"), [("G o", "0, 1 and 1"), ("P o", "1, 0 and 1"), ("P G", "1, 1 and 0")]
)
def test_what_a_map_needs(tmp_path, text, counts):
    (tmp_path / "map.txt").write_text(text)
    with pytest.raises(ValueError, match=f"has one Pac-Man, and ghosts .*; this one has {counts}"):
        pacman(tmp_path / "map.txt")


def test_the_map_of_the_package():
    sim = pacman()
    assert isinstance(sim, PacmanSim)
    assert (sim.grid.rows, sim.grid.cols) == (11, 15)
    sim.reset(seed=0)
    assert pellets(sim) == 77
