from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("abmarl.kernels", reason="abmarl is not installed")

from abmarl.render import Scene, frame


def test_reads_the_asked_for_world(sim, agent):
    worlds = sim(3, 5, [agent((0, 0)), agent((2, 4), "blue")], num_worlds=4)
    worlds.store.position[2] = [[1, 3], [0, 4]]
    worlds.store.active[2] = [True, False]
    worlds.store.health[2] = [0.25, 0.0]
    scene = Scene.of(worlds, 2, step=7, title="x")
    assert (scene.rows, scene.cols, scene.step, scene.title) == (3, 5, 7, "x")
    assert scene.row.tolist() == [1, 0]
    assert scene.col.tolist() == [3, 4]
    assert scene.alive.tolist() == [True, False]
    assert scene.health.tolist() == [0.25, 0.0]
    assert [scene.looks[k].color for k in scene.look] == [(255, 0, 0), (0, 0, 255)]


def test_is_a_read_only_snapshot(sim, agent):
    world = sim(3, 5, [agent((1, 2))])
    scene = Scene.of(world)
    world.store.position[:] = 0
    world.store.active[:] = False
    assert (scene.row[0], scene.col[0], scene.alive[0]) == (1, 2, True)
    with pytest.raises(ValueError, match="read-only"):
        scene.health[0] = 0


def test_looks_are_shared_and_read_anew(sim, agent):
    world = sim(3, 5, [agent((0, c), color=[1, 0, 0]) for c in range(5)])
    assert len(Scene.of(world).looks) == 1
    world.agents["agent1"].render_color = "lime"
    assert {look.color for look in Scene.of(world).looks} == {(255, 0, 0), (0, 255, 0)}


def test_tallies_name_groups_and_leave_walls_out(sim, agent):
    agents = [agent((0, c), "red", group="reds", encoding=1) for c in range(3)]
    agents += [agent((1, c), "blue", encoding=2) for c in range(2)]
    agents += [agent((2, c), "black", blocking=True, encoding=3) for c in range(4)]
    world = sim(3, 5, agents)
    world.store.active[0, 0] = False
    lines = Scene.of(world).team_counts()
    assert [tuple(line) for line in lines] == [
        ("reds", (255, 0, 0), 2, 3),
        ("team 2", (0, 0, 255), 2, 2),
    ]


def test_looks_through_wrappers(sim, agent):
    world = sim(3, 5, [agent((1, 2))])
    manager = SimpleNamespace(sim=SimpleNamespace(sim=world))
    assert Scene.of(manager).rows == 3


def test_agents_without_a_place_are_not_there(sim, agent):
    world = sim(3, 5, [agent((-1, 2)), agent((0, 5)), agent((2, 4))])
    assert Scene.of(world).alive.tolist() == [False, False, True]


def test_refused(sim, agent):
    world = sim(3, 5, [agent((0, 0), "bleu")], num_worlds=2)
    with pytest.raises(ValueError, match=r"agent 'agent0': unknown colour 'bleu'.*'blue'"):
        Scene.of(world)
    for number in (2, -1):
        with pytest.raises(ValueError, match="there are 2: 0 to 1"):
            Scene.of(world, number)
    with pytest.raises(TypeError, match="SimpleNamespace has no grid to draw"):
        Scene.of(SimpleNamespace(sim=None))


def test_an_empty_grid(sim):
    scene = Scene.of(sim(3, 5, []))
    assert scene.team_counts() == []
    assert np.count_nonzero(scene.alive) == 0


def test_teams_of_one_group_have_numbers(sim, agent):
    """Else the score would tell two teams by one name."""
    agents = [agent((0, k), encoding=1 + k % 2, group="fighters") for k in range(4)]
    agents.append(agent((1, 0), encoding=3, group="judges"))
    names = {1: "team 1", 2: "team 2", 3: "judges"}
    assert Scene.of(sim(2, 4, agents)).team_names == names


@pytest.mark.parametrize("color", [5, None, float("nan"), ("red", 0.5)])
def test_colours_of_no_known_kind_name_the_agent(sim, agent, color):
    with pytest.raises(TypeError, match="agent 'agent1': a colour is a name, hex or three floats"):
        Scene.of(sim(2, 3, [agent((0, 0)), agent((1, 1), color=color)]))


@pytest.mark.parametrize("size", ["large", None, float("nan"), float("inf")])
def test_sizes_that_are_none_name_the_agent(sim, agent, size):
    with pytest.raises(ValueError, match=r"agent 'agent0': render_size is .*, but must be"):
        Scene.of(sim(2, 3, [agent((0, 0), size=size)]))


@pytest.mark.parametrize("size", [0, -4.0])
def test_sizes_of_nothing_name_the_agent(sim, agent, size):
    with pytest.raises(ValueError, match=r"agent 'agent1': render_size is .* above 0"):
        Scene.of(sim(2, 3, [agent((0, 0)), agent((1, 1), size=size)]))


@pytest.mark.parametrize("shape", ["oo", "$$", "$letters$", r"$\alpha$", "$ $", None, 3, ["o"]])
def test_unknown_markers_name_the_agent_and_what_is_known(sim, agent, shape):
    message = r"agent 'agent1': unknown render_shape .*: known are o \."
    with pytest.raises(ValueError, match=message):
        Scene.of(sim(2, 3, [agent((0, 0)), agent((1, 1), shape=shape)]))


def colors_of(world):
    scene = Scene.of(world)
    return [scene.looks[k].color for k in scene.look]


def test_gray_encodings_are_told_apart(sim, agent):
    gray = (128, 128, 128)
    agents = [agent((0, k), "gray", encoding=1 + k % 3) for k in range(4)]
    agents.append(agent((1, 0), "gray", blocking=True, encoding=9))
    world = sim(2, 4, agents)
    first, second, third, again, wall = colors_of(world)
    assert len({first, second, third, gray}) == 4
    assert (again, wall) == (first, gray)
    assert agents[0].render_color == "gray", "only drawing"
    agents[3].render_color = "red"
    assert colors_of(world) == [gray, gray, gray, (255, 0, 0), gray]


def test_a_lone_encoding_stays_gray(sim, agent):
    agents = [agent((0, k), "gray") for k in range(2)]
    agents.append(agent((1, 0), "gray", blocking=True, encoding=9))
    assert set(colors_of(sim(2, 4, agents))) == {(128, 128, 128)}


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
