import itertools
import time

import matplotlib.markers
import numpy as np
import pygame
import pytest
from matplotlib.path import Path

from abmarl.render import Scene, draw, frame, picture_size, rgb
from abmarl.render.drawing.geometry import fit_geometry
from abmarl.render.drawing.sprites import marker
from abmarl.render.drawing.surface import BACKGROUND
from abmarl.render.drawing.text import brief_name
from abmarl.render.scenes.appearance import SHAPES

RED, BLUE = (255, 0, 0), (0, 0, 255)


def cell_of(image, row, col, rows, cols):
    """The pixels of a cell without its grid lines."""
    geometry = fit_geometry(rows, cols, (image.shape[1], image.shape[0]))
    y, x = geometry.top + row * geometry.cell, geometry.left + col * geometry.cell
    return image[y + 1 : y + geometry.cell, x + 1 : x + geometry.cell]


def middle_of(cell):
    return tuple(cell[cell.shape[0] // 2, cell.shape[1] // 2].tolist())


def has(pixels, color):
    return bool((pixels == color).all(axis=-1).any())


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_marker_is_in_its_cell_and_nowhere_else(sim, agent, shape, blocking):
    image = frame(Scene.of(sim(3, 5, [agent((1, 3), "red", shape, blocking=blocking)])))
    assert middle_of(cell_of(image, 1, 3, 3, 5)) == RED
    for row in range(3):
        for col in range(5):
            if (row, col) != (1, 3):
                assert (cell_of(image, row, col, 3, 5) == BACKGROUND).all()


@pytest.mark.parametrize("shape", [s for s in SHAPES if s not in "+x|_1234,."])
def test_marker_has_matplotlibs_silhouette(shape):
    """Scaled to the same box, the areas agree; matplotlib's y axis points up."""
    surface = marker(shape, RED, 80.0, True, False)
    drawn = pygame.surfarray.array_alpha(surface).T > 127
    rows, cols = np.flatnonzero(drawn.any(1)), np.flatnonzero(drawn.any(0))
    drawn = drawn[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1]
    style = matplotlib.markers.MarkerStyle(shape)
    path = style.get_path().transformed(style.get_transform())
    polygon = np.concatenate(path.to_polygons())
    low, high = polygon.min(0), polygon.max(0)
    y, x = np.indices(drawn.shape)
    points = np.stack([(x + 0.5) / drawn.shape[1], 1 - (y + 0.5) / drawn.shape[0]], -1)
    expected = Path(polygon).contains_points((low + points * (high - low)).reshape(-1, 2))
    expected = expected.reshape(drawn.shape)
    overlap = np.count_nonzero(drawn & expected) / np.count_nonzero(drawn | expected)
    assert overlap > (0.72 if shape == "*" else 0.85)  # our star is a little stouter


def test_edges_are_smooth(sim, agent):
    cell = cell_of(frame(Scene.of(sim(3, 5, [agent((1, 3))]))), 1, 3, 3, 5)
    assert len(np.unique(cell.reshape(-1, 3), axis=0)) > 10


def test_dead_agents_are_not_drawn(sim, agent):
    world = sim(3, 5, [agent((1, 3))])
    world.store.active[:] = False
    assert (cell_of(frame(Scene.of(world)), 1, 3, 3, 5) == BACKGROUND).all()


def test_size_shows(sim, agent):
    sizes = [50, 100, 200, 400]
    image = frame(Scene.of(sim(3, 5, [agent((1, k), size=size) for k, size in enumerate(sizes)])))
    areas = [(cell_of(image, 1, k, 3, 5) == RED).all(-1).sum() for k in range(4)]
    # render_size is an area, as in matplotlib.
    for small, large in itertools.pairwise(areas):
        assert 1.7 < large / small < 2.4


def test_blocking_has_a_dark_outline(sim, agent):
    agents = [agent((1, 1), "yellow"), agent((1, 3), "yellow", blocking=True)]
    image = frame(Scene.of(sim(3, 5, agents)))
    dark = [(cell_of(image, 1, col, 3, 5) < 60).all(-1).sum() for col in (1, 3)]
    assert dark[0] == 0
    assert dark[1] > 50


def test_health_bar_grows_with_health(sim, agent):
    world = sim(3, 5, [agent((1, col)) for col in range(5)])
    world.store.health[0] = [1.0, 0.9, 0.5, 0.2, 0.01]
    image = frame(Scene.of(world))
    green, amber, red = (46, 160, 80), (235, 160, 30), (214, 52, 52)
    cells = [cell_of(image, 1, col, 3, 5) for col in range(5)]
    assert not any(has(cells[0], color) for color in (green, amber, red))
    filled = [
        (cell == color).all(-1).sum()
        for cell, color in zip(cells[1:], (green, amber, red, red), strict=True)
    ]
    assert filled == sorted(filled, reverse=True)
    assert filled[-1] > 0


@pytest.mark.parametrize("count", [2, 3, 4])
def test_several_agents_in_a_cell_are_all_seen(sim, agent, count):
    colors = ["red", "blue", "lime", "magenta"][:count]
    image = frame(Scene.of(sim(3, 5, [agent((1, 3), color) for color in colors])))
    cell = cell_of(image, 1, 3, 3, 5)
    assert all(has(cell, agent_color) for agent_color in (RED, BLUE))
    areas = {
        tuple(color): (cell == color).all(-1).sum()
        for color in np.unique(cell.reshape(-1, 3), axis=0)
        if tuple(color) in {RED, BLUE, (0, 255, 0), (255, 0, 255)}
    }
    assert len(areas) == count
    assert max(areas.values()) == min(areas.values())


def test_a_crowd_shows_a_count_and_the_lone_enemy(sim, agent):
    five = frame(Scene.of(sim(3, 5, [agent((1, 3))] * 4 + [agent((1, 3), "blue")])))
    many = frame(Scene.of(sim(3, 5, [agent((1, 3)) for _ in range(37)] + [agent((1, 3), "blue")])))
    four = frame(Scene.of(sim(3, 5, [agent((1, 3)) for _ in range(4)])))
    corner = [cell_of(image, 1, 3, 3, 5)[2:10, -12:] for image in (four, five, many)]
    assert (corner[0] == BACKGROUND).all()
    assert not (corner[1] == BACKGROUND).all()
    assert has(cell_of(many, 1, 3, 3, 5), BLUE)
    assert not np.array_equal(five, many)


def test_same_scene_same_frame(sim, agent):
    def picture():
        agents = [agent((k % 3, k % 5), f"C{k}", SHAPES[k]) for k in range(20)]
        world = sim(3, 5, agents)
        world.store.health[0, ::3] = 0.4
        return frame(Scene.of(world, step=3, title="a title"))

    first, second = picture(), picture()
    assert np.array_equal(first, second)
    assert first is not second


def test_survives_pygame_quit(sim, agent):
    scene = Scene.of(sim(3, 5, [agent((1, 3))]), step=1)
    before = frame(scene)
    pygame.quit()
    assert np.array_equal(before, frame(scene))
    frame(Scene.of(sim(3, 5, [agent((1, 3))]), step=2))


def test_score_line(sim, agent):
    world = sim(8, 8, [agent((0, 0), "red", group="reds"), agent((1, 1), "blue", encoding=2)])
    plain = frame(Scene.of(world))
    bottom = plain[-28:]
    assert has(bottom, RED)
    assert has(bottom, BLUE)
    for other in (Scene.of(world, step=1), Scene.of(world, title="x")):
        image = frame(other)
        assert np.array_equal(image[:-30], plain[:-30])
        assert not np.array_equal(image[-30:], plain[-30:])


def test_too_many_teams_for_the_score_line(sim, agent):
    frame(Scene.of(sim(8, 8, [agent((0, 0), encoding=k) for k in range(1, 40)]), step=10**9))


def test_names_in_the_score_line_give_way_to_colours(sim, agent):
    """Where there is no room for them, but each team has a colour of its own."""
    colors = ["red", "blue", "green", "black", "orange"]
    everybody = [agent((k, k), c, group=c * 3, encoding=k + 1) for k, c in enumerate(colors)]
    bottom = frame(Scene.of(sim(8, 8, everybody)), (300, 330))[-28:]
    assert all(has(bottom, rgb(color)) for color in colors)
    everybody = [agent((k, k), "red", group=c * 3, encoding=k + 1) for k, c in enumerate(colors)]
    image = frame(Scene.of(sim(8, 8, everybody), title="x"), (300, 330))
    plain = frame(Scene.of(sim(8, 8, everybody)), (300, 330))
    assert np.array_equal(image, plain)  # names are whole, and there is no room left


@pytest.mark.parametrize(
    ("rows", "cols"), [(1, 1), (3, 5), (8, 8), (5, 3), (20, 31), (100, 100), (1, 700), (500, 500)]
)
def test_sizes_are_even_and_frames_have_them(sim, agent, rows, cols):
    width, height = picture_size(rows, cols)
    assert width % 2 == height % 2 == 0
    image = frame(Scene.of(sim(rows, cols, [agent((rows - 1, cols - 1))])))
    assert image.dtype == np.uint8
    assert image.shape == (height, width, 3)
    assert image.flags.writeable
    assert middle_of(cell_of(image, rows - 1, cols - 1, rows, cols)) == RED


def test_draws_on_a_given_surface_without_a_display(sim, agent):
    surface = pygame.Surface((401, 300))
    scene = Scene.of(sim(3, 5, [agent((1, 3))]))
    draw(scene, surface)
    assert np.array_equal(
        pygame.surfarray.array3d(surface).swapaxes(0, 1), frame(scene, (401, 300))
    )
    assert not pygame.display.get_init()


def test_refused(sim, agent):
    with pytest.raises(ValueError, match="40 x 30 pixels is too small for 50 x 50"):
        frame(Scene.of(sim(50, 50, [])), (40, 30))
    with pytest.raises(ValueError, match="unknown render_shape 'Q': known are o"):
        frame(Scene.of(sim(3, 5, [agent((1, 3), shape="Q")])))


@pytest.mark.parametrize(("side", "agents", "floor"), [(8, 24, 75), (100, 2000, 15)])
def test_fast_enough(sim, agent, side, agents, floor):
    """Half of what is asked for, because machines are busy."""
    rng = np.random.default_rng(0)
    world = sim(side, side, [agent((0, 0), f"C{k % 4}", encoding=k % 4 + 1) for k in range(agents)])
    frame(Scene.of(world))
    start = time.perf_counter()
    for step in range(20):
        world.store.position[:] = rng.integers(0, side, world.store.position.shape)
        frame(Scene.of(world, step=step))
    assert 20 / (time.perf_counter() - start) > floor


def test_text_between_dollars(sim, agent):
    agents = [agent((1, k), "red", shape) for k, shape in enumerate(("$R$", "$L$", "$abc$"))]
    image = frame(Scene.of(sim(3, 5, agents)))
    pixels = [cell_of(image, 1, k, 3, 5) for k in range(3)]
    cells = [(one[..., 0] > 120) & (one[..., 1] < 90) for one in pixels]
    for cell in cells:
        rows, cols = np.flatnonzero(cell.any(1)), np.flatnonzero(cell.any(0))
        assert abs(rows[0] + rows[-1] + 1 - cell.shape[0]) < 6, "in the middle"
        assert abs(cols[0] + cols[-1] + 1 - cell.shape[1]) < 6
    # An L has nothing in its upper right quarter.
    side = cells[1].shape[0] // 2
    assert not cells[1][:side, side + 4 :].any()
    assert cells[0][:side, side + 4 :].any()


def test_long_names_of_teams_are_shortened_before_one_is_left_out(sim, agent):
    names = [f"explorers_of_the_far_north_{k}" for k in range(4)]
    agents = [agent((0, k), f"C{k}", encoding=1 + k, group=name) for k, name in enumerate(names)]
    image = frame(Scene.of(sim(3, 5, agents)))
    for k in range(4):
        assert has(image[-30:], rgb(f"C{k}")), "the dot of every team"


def test_names_keep_their_ends():
    assert brief_name("agent17", 7) == "agent17"
    assert brief_name("explorer_17", 7) == "exp..17"
    assert brief_name("explorer_17", 10) == "explor..17"
