import pytest

from abmarl.examples import traffic_corridor
from abmarl.examples.traffic_corridor import EASTBOUND, WALL

DRIVE_ON, LEFT, DOWN, RIGHT, UP = range(5)


def step(sim, **moves):
    """One step; returns the rewards of those that acted."""
    sim.step({car: {"move": move} for car, move in moves.items()})
    return pytest.approx([sim.get_reward(car) for car in moves])


def start(corridor):
    sim = traffic_corridor(corridor)
    sim.reset(seed=0)
    return sim


def test_cars_drive_on_until_they_meet():
    sim = start("E . . . W")
    assert step(sim, east0=DRIVE_ON, west0=DRIVE_ON) == [-0.01, -0.01]
    assert [tuple(sim.agents[one].position) for one in ("east0", "west0")] == [(0, 1), (0, 3)]
    assert step(sim, east0=DRIVE_ON, west0=DRIVE_ON) == [-0.01, -0.11]
    assert step(sim, east0=DRIVE_ON, west0=DRIVE_ON) == [-0.11, -0.11]
    # It cannot turn up, so it drives on, which it cannot either.
    assert step(sim, east0=UP) == [-0.11]
    assert sim.agents["east0"].orientation == RIGHT
    assert step(sim, west0=RIGHT) == [-0.01]
    assert sim.agents["west0"].orientation == RIGHT


def test_cars_pass_one_another_and_arrive():
    sim = start("E . W\n. . .")
    assert step(sim, east0=RIGHT, west0=DOWN) == [-0.01, -0.01]
    assert step(sim, east0=DRIVE_ON, west0=LEFT) == [0.99, -0.01]
    assert [sim.get_done(car) for car in ("east0", "west0")] == [True, False]
    assert list(sim.grid[0, 2]) == ["goal_east0"]
    assert step(sim, west0=DRIVE_ON) == [-0.01]
    assert step(sim, west0=UP) == [0.99]
    assert sim.get_all_done()


def test_a_goal_is_that_of_one_car():
    sim = start("E . .\n. . W\nE . W")
    for _ in range(2):
        step(sim, east0=DRIVE_ON, east1=UP)
    # Now east0 is above the goals; east1 has gone up to the row of east0's goal and on.
    assert tuple(sim.agents["east0"].position) == (0, 2)
    assert step(sim, west0=LEFT) == [-0.01]
    assert step(sim, east0=DOWN) == [0.99]
    assert not sim.get_done("east1")


@pytest.mark.parametrize("corridor", ["E . .", ". . .", "E E W"])
def test_as_many_from_either_side(corridor):
    with pytest.raises(ValueError, match=r"has \d E and \d W; there must be as many of each"):
        traffic_corridor(corridor)


def test_walls_hide_what_is_behind_them():
    sim = traffic_corridor()
    sim.reset(seed=0)
    window = sim.get_obs("east0")["position_centered_encoding"]
    # The wall above the next cell hides the walls beyond it.
    assert window[2].tolist() == [-1, -1, -1, WALL, WALL, -2, -2]
    assert window[3].tolist() == [-1, -1, -1, EASTBOUND, 0, 0, 0]
    assert len(sim.groups["east"]) == len(sim.groups["west"]) == 3
