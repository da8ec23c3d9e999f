"""What scenes show besides where agents are, on the pixels: flash, fade, nose, outline, fog."""

import dataclasses

import numpy as np
import pytest

from abmarl.render import Scene, draw, frame
from abmarl.render.drawing.agents import FLASH
from abmarl.render.drawing.geometry import MapView, fit_geometry
from abmarl.render.drawing.sprites import team_color
from abmarl.render.drawing.surface import BACKGROUND, pixels_of, pygame
from abmarl.render.drawing.text import INK
from abmarl.render.scenes.sight import VisibleCells

RED, BLUE = (255, 0, 0), (0, 0, 255)


def cell_of(image, row, col, rows=3, cols=5):
    """The pixels of a cell without its grid lines."""
    geometry = fit_geometry(rows, cols, (image.shape[1], image.shape[0]))
    y, x = geometry.top + row * geometry.cell, geometry.left + col * geometry.cell
    return image[y + 1 : y + geometry.cell, x + 1 : x + geometry.cell]


def count(pixels, color):
    return int((pixels == color).all(axis=-1).sum())


def scene_of(sim, agents, **changes):
    return dataclasses.replace(Scene.of(sim(3, 5, agents)), **changes)


def test_an_attack_is_a_line_from_attacker_to_target(sim, agent):
    agents = [agent((1, 0)), agent((1, 3), "blue")]
    image = frame(scene_of(sim, agents, attacks=np.array([[0, 1]])))
    widths = [count(cell_of(image, 1, col), FLASH) for col in range(5)]
    assert widths[1] > widths[2] > 100  # it gets narrower towards its target
    assert widths[3] > 100  # the star
    assert widths[4] == 0
    assert all(count(cell_of(image, row, col), FLASH) == 0 for row in (0, 2) for col in range(5))
    plain = frame(scene_of(sim, agents))
    assert count(plain, FLASH) == 0


def test_a_miss_is_a_ring_around_the_attacker(sim, agent):
    agents = [agent((1, 1))]
    plain, missed = (
        frame(scene_of(sim, agents, attacks=np.array(pairs, np.int64).reshape(-1, 2)))
        for pairs in ([], [[0, -1]])
    )
    changed = (plain != missed).any(axis=-1)
    assert count(missed, FLASH) == 0
    assert 500 < changed.sum() < 2000
    rows = np.flatnonzero(changed.any(1))
    middle = changed[(rows[0] + rows[-1]) // 2]
    assert np.diff(np.flatnonzero(np.diff(middle.astype(int))))[0] >= 3, "no hairline"
    assert not (cell_of(plain, 1, 1) == cell_of(missed, 1, 1)).all()


def test_an_attack_within_a_cell_ends_at_the_one_that_is_hit(sim, agent):
    agents = [agent((1, 2)), agent((1, 2), "blue")]
    cell = cell_of(frame(scene_of(sim, agents, attacks=np.array([[0, 1]]))), 1, 2)
    half = cell.shape[1] // 2
    assert count(cell[:, half:], FLASH) > count(cell[:, :half], FLASH) > 0


def test_a_death_fades(sim, agent):
    """Less and less is left of it, and nothing of somebody who has been dead for long."""
    pale = []
    for left in (0.75, 0.45, 0.2, 0.0):
        scene = scene_of(
            sim, [agent((1, 3), "blue")], alive=np.zeros(1, bool), fading=np.array([left])
        )
        cell = cell_of(frame(scene), 1, 3).astype(int)
        pale.append(int(np.abs(cell - BACKGROUND).sum()))
    assert pale[0] > pale[1] > pale[2] > 0
    assert pale[3] == 0


def test_the_living_stand_over_the_dead(sim, agent):
    agents = [agent((1, 3), "blue"), agent((1, 3), "red")]
    for size in (None, (40, 60)):  # as sprites and as squares
        scene = scene_of(sim, agents, alive=np.array([False, True]), fading=np.array([0.75, 0.0]))
        image = frame(scene, size)
        cell = cell_of(image, 1, 3)
        middle = cell.shape[0] // 2
        assert tuple(cell[middle, middle].tolist()) == RED


@pytest.mark.parametrize(("way", "side"), [(1, "left"), (2, "down"), (3, "right"), (4, "up")])
def test_the_nose_points_where_the_agent_looks(sim, agent, way, side):
    scene = scene_of(sim, [agent((1, 3))], orientation=np.array([way]))
    dark = (np.abs(cell_of(frame(scene), 1, 3).astype(int) - INK) < 30).all(-1)
    rows, cols = np.nonzero(dark)
    middle = (dark.shape[0] - 1) / 2
    down, right = rows.mean() - middle, cols.mean() - middle
    towards = {"left": -right, "right": right, "up": -down, "down": down}
    assert towards[side] > 0.25 * middle
    assert abs(down if side in ("left", "right") else right) < 1


def test_an_agent_without_orientation_has_no_nose(sim, agent):
    plain = frame(scene_of(sim, [agent((1, 3))]))
    assert np.array_equal(plain, frame(scene_of(sim, [agent((1, 3))], orientation=np.zeros(1))))


def test_teams_are_outlines_where_they_are_something_of_their_own(sim, agent):
    agents = [agent((1, 1)), agent((1, 3))]
    team = np.array([1, 2])
    image = frame(scene_of(sim, agents, team=team, outlined=True, team_names={}))
    for col, number in ((1, 1), (3, 2)):
        own = count(cell_of(image, 1, col), team_color(number))
        other = count(cell_of(image, 1, col), team_color(3 - number))
        assert own > 50
        assert other == 0
    plain = frame(scene_of(sim, agents, team=team, team_names={}))
    assert count(plain, team_color(1)) == 0


def test_the_fog_lies_on_all_that_is_not_seen(sim, agent):
    scene = scene_of(sim, [agent((0, 0)), agent((2, 4), "blue")])
    visible = np.ones((3, 3), bool)
    visible[2, 2] = False
    sight = VisibleCells(-1, -1, visible)  # sees around (0, 0)
    surface = pygame.Surface((520, 330), 0, 32)
    draw(scene, surface)
    plain = pixels_of(surface)
    draw(scene, surface, None, sight)
    foggy = pixels_of(surface)
    for row in range(3):
        for col in range(5):
            seen = (row, col) in {(0, 0), (0, 1), (1, 0)}
            before, after = cell_of(plain, row, col), cell_of(foggy, row, col)
            assert np.array_equal(before, after) == seen
            if not seen:
                assert after.mean() < before.mean()


@pytest.mark.parametrize("cell", [1, 2, 3, 4, 7, 12, 40])
def test_zoomed_parts_are_the_whole_picture_cut_out(sim, agent, cell):
    """Panning moves what is drawn and changes nothing else, whatever the size of a cell."""
    rng = np.random.default_rng(0)
    agents = [
        agent((int(r), int(c)), f"C{k % 5}", "os^D*"[k % 5])
        for k, (r, c) in enumerate(rng.integers(0, (30, 45), (300, 2)))
    ]
    scene = Scene.of(sim(30, 45, agents))
    gone = rng.random(300) < 0.2
    scene = dataclasses.replace(scene, alive=~gone, fading=0.5 * gone)

    def drawn(left, top, size):
        view = MapView(30, 45, size)
        view.cell, view.left, view.top = cell, left, top
        surface = pygame.Surface(size, 0, 32)
        draw(scene, surface, view.geometry)
        return pixels_of(surface)

    whole = drawn(0, 0, (45 * cell + 1, 30 * cell + 1))
    part = drawn(-7 * cell, -4 * cell, (20 * cell, 15 * cell))
    expected = whole[4 * cell : 19 * cell, 7 * cell : 27 * cell]
    differing = (part != expected).any(axis=-1)
    # Markers may reach over the edge of their cells: those whose cell is cut off are left out.
    assert not differing[cell:-cell, cell:-cell].any()


def test_tiny_cells_are_squares_of_the_right_colour(sim, agent):
    agents = [agent((400, 100)), agent((7, 499), "blue"), agent((7, 499), "red")]
    scene = Scene.of(sim(500, 500, agents))
    image = frame(scene, (540, 560))
    geometry = fit_geometry(500, 500, (540, 560))
    assert geometry.cell == 1
    for row, col in ((400, 100), (7, 499)):  # of several, the newest
        assert tuple(image[geometry.top + row + 1, geometry.left + col + 1].tolist()) == RED


def test_identical_scenes_identical_frames(sim, agent):
    def picture():
        agents = [agent((k % 3, k % 5), f"C{k}") for k in range(12)]
        return frame(
            scene_of(
                sim, agents, attacks=np.array([[0, 1], [2, -1]]), fading=np.linspace(0, 1, 12),
                orientation=np.arange(12) % 5, outlined=True,
            )
        )  # fmt: skip

    assert np.array_equal(picture(), picture())
