"""Draws a scene on a pygame surface, and makes images of it. Needs no screen."""

import functools
from collections.abc import Sequence

import numpy as np

from abmarl.render.drawing.agents import (
    Highlight,
    cell_middles,
    draw_agents,
    draw_attacks,
    draw_highlights,
)
from abmarl.render.drawing.geometry import (
    MARGIN,
    SCORE_HEIGHT,
    MapGeometry,
    fit_geometry,
    picture_size,
)
from abmarl.render.drawing.library import pygame
from abmarl.render.drawing.sprites import marker
from abmarl.render.drawing.text import (
    FAINT_INK,
    INK,
    NAME_LENGTHS,
    brief_name,
    shortened,
    text_image,
)
from abmarl.render.scenes.scene import Scene, TeamCount
from abmarl.render.scenes.sight import VisibleCells

BACKGROUND = (250, 249, 246)
_GRID_LINE = (228, 226, 220)
_FRAME_LINE = (196, 193, 185)
_FOG = (176, 178, 186)  # what colours are multiplied by, 255 leaves them alone
# In cells of fewer pixels agents are squares that fill them: there is no room for shapes.
_SMALLEST_SPRITE = 4
_SMALLEST_LETTERS = 6
# Of the score line: pixels of a dot with its gap, the height of letters and the gap between teams.
_DOT = 22
_USUAL, _TIGHT = (15, 16), (13, 7)


def frame(scene: Scene, size: tuple[int, int] | None = None) -> np.ndarray:
    """Return the picture of a scene.

    Args:
        scene: what to draw.
        size: width and height in pixels; by default what suits the grid.

    Returns:
        uint8 [height, width, 3], a new array.
    """
    surface = pygame.Surface(size or picture_size(scene.rows, scene.cols), 0, 32)
    draw(scene, surface)
    return pixels_of(surface)


def pixels_of(surface: pygame.Surface) -> np.ndarray:
    """Return what is on a surface: uint8 [height, width, 3], a new array."""
    pixels = np.frombuffer(pygame.image.tobytes(surface, "RGB"), dtype=np.uint8)
    return pixels.reshape(surface.get_height(), surface.get_width(), 3).copy()


def draw(
    scene: Scene, surface: pygame.Surface, geometry: MapGeometry | None = None,
    sight: VisibleCells | None = None, highlights: Sequence[Highlight] = (),
) -> None:  # fmt: skip
    """Draw a scene over the whole of a pygame surface.

    Args:
        scene: what to draw.
        surface: where.
        geometry: which part of the grid goes where, as of a `MapView`; None: all of it fitted in,
            with the score line below.
        sight: what one agent sees: all else lies in a fog.
        highlights: agents to be framed.

    Raises:
        ValueError: the surface is too small for the grid.
    """
    if geometry is None:
        geometry = fit_geometry(scene.rows, scene.cols, surface.get_size())
    surface.blit(_background(scene.rows, scene.cols, geometry), (0, 0))
    if geometry.cell < _SMALLEST_SPRITE:
        _draw_squares(scene, surface, geometry)
    else:
        draw_agents(scene, surface, geometry, [one.slot for one in highlights])
    _draw_captions(scene, surface, geometry)
    if sight is not None:
        _draw_fog(scene, surface, geometry, sight)
    if highlights:
        draw_highlights(scene, surface, geometry, highlights)
    if geometry.score is not None:
        draw_score(scene, surface, max(geometry.left, MARGIN), geometry.width, geometry.score)


@functools.lru_cache(maxsize=4)
def _background(rows: int, cols: int, geometry: MapGeometry) -> pygame.Surface:
    surface = pygame.Surface((geometry.width, geometry.height), 0, 32)
    surface.fill(BACKGROUND)
    left, top, cell = geometry.left, geometry.top, geometry.cell
    right, bottom = geometry.corner(rows, cols)
    # Lines closer than this would be a grey veil: every tenth will do.
    stride = 1 if cell >= 5 else 10
    shown_rows, shown_cols = geometry.visible_cells(rows, cols)
    for col in range(shown_cols.start - shown_cols.start % stride, shown_cols.stop, stride):
        x = left + col * cell
        pygame.draw.line(surface, _GRID_LINE, (x, top), (x, bottom))
    for row in range(shown_rows.start - shown_rows.start % stride, shown_rows.stop, stride):
        y = top + row * cell
        pygame.draw.line(surface, _GRID_LINE, (left, y), (right, y))
    pygame.draw.rect(surface, _FRAME_LINE, (left, top, cols * cell + 1, rows * cell + 1), 1)
    return surface


def _draw_squares(scene: Scene, surface: pygame.Surface, geometry: MapGeometry) -> None:
    """Draw all agents at once, as a small picture with a pixel per cell that is scaled up."""
    colors = np.array([look.color for look in scene.looks] or [(0, 0, 0)], np.uint8)
    shown = scene.alive | (scene.fading > 0)
    slots = np.flatnonzero(shown)
    slots = slots[np.argsort(scene.alive[slots], kind="stable")]  # the living over the dead
    cells = np.zeros((scene.rows, scene.cols, 4), np.uint8)
    cells[scene.row[slots], scene.col[slots], :3] = colors[scene.look[slots]]
    cells[scene.row[slots], scene.col[slots], 3] = np.where(
        scene.alive[slots], 255, 140 * scene.fading[slots]
    )
    _put_cells(surface, geometry, cells)
    reach = np.full(len(scene.ids), 0.42 * geometry.cell)
    draw_attacks(scene, surface, geometry, *cell_middles(scene, geometry), reach)


def _draw_captions(scene: Scene, surface: pygame.Surface, geometry: MapGeometry) -> None:
    height = min(round(0.7 * geometry.cell), 14)
    if height < _SMALLEST_LETTERS:
        return
    for caption in scene.captions:
        words = shortened(caption.words, height, caption.cols * geometry.cell)
        line = text_image(words, height, INK)
        left, top = geometry.corner(caption.row, caption.col)
        surface.blit(line, (left + 1, top + (geometry.cell - line.get_height()) // 2))


def _draw_fog(
    scene: Scene, surface: pygame.Surface, geometry: MapGeometry, sight: VisibleCells
) -> None:
    cells = np.full((scene.rows, scene.cols, 4), 255, np.uint8)
    cells[~sight.on_grid(scene.rows, scene.cols), :3] = _FOG
    _put_cells(surface, geometry, cells, pygame.BLEND_RGB_MULT)


def _put_cells(
    surface: pygame.Surface, geometry: MapGeometry, cells: np.ndarray, flags: int = 0
) -> None:
    """Colour cells, uint8 [rows, cols, 4] with alpha; only what is visible is scaled."""
    rows, cols = geometry.visible_cells(*cells.shape[:2])
    part = np.ascontiguousarray(cells[rows, cols])
    if not part.size:
        return
    height, width = part.shape[:2]
    small = pygame.image.frombuffer(part.data, (width, height), "RGBA")
    large = pygame.transform.scale(small, (width * geometry.cell, height * geometry.cell))
    left, top = geometry.corner(rows.start, cols.start)
    surface.blit(large, (left + 1, top + 1), None, flags)


def draw_score(scene: Scene, surface: pygame.Surface, left: int, width: int, top: int) -> None:
    """Draw the score: step and teams from the left, the title at the right if it fits.

    The line is `SCORE_HEIGHT` high. It begins at `left`, and ends as far from `width`.
    """
    x, end, middle = left, width - left, top + SCORE_HEIGHT // 2
    items: list = []

    def put(image: pygame.Surface, gap: int) -> None:
        nonlocal x
        if x + image.get_width() <= end:
            items.append((image, (x, middle - image.get_height() // 2)))
            x += image.get_width() + gap

    counts = scene.team_counts()
    if scene.step is not None:
        put(text_image(f"step {scene.step}", 15, INK), 18)
    labels, height, gap = _team_labels(counts, end - x)
    title = scene.title
    for count, words in zip(counts, labels, strict=True):
        label = text_image(words, height, INK)
        dot = marker("o", count.color, 11.0, False, False)
        if x + dot.get_width() + 4 + label.get_width() > end:
            put(text_image("...", 15, FAINT_INK), 0)
            title = ""
            break
        put(dot, 4)
        put(label, gap)
    if title:
        image = text_image(title, 15, FAINT_INK)
        if x + image.get_width() <= end:
            x = end - image.get_width()
            put(image, 0)
    surface.blits(items, False)


def _team_labels(counts: list[TeamCount], room: int) -> tuple[list[str], int, int]:
    """Return name and numbers of every team, the height of letters and the gap between teams.

    The gap gets narrower, then letters smaller, then names shorter until all fit; then names are
    left out where the teams' colours differ. If that is not enough some teams are left out, and
    names are whole.
    """
    sizes = [(NAME_LENGTHS[0], *_USUAL), (NAME_LENGTHS[0], _USUAL[0], _TIGHT[1])]
    sizes += [(most, *_TIGHT) for most in NAME_LENGTHS]
    if len({one.color for one in counts}) == len(counts):
        sizes.append((0, *_TIGHT))
    for most, height, gap in sizes:
        names = [f"{brief_name(one.name, most)} " if most else "" for one in counts]
        labels = [f"{n}{one.alive}/{one.total}" for n, one in zip(names, counts, strict=True)]
        widths = [text_image(words, height, INK).get_width() + _DOT + gap for words in labels]
        if sum(widths) - gap <= room:
            return labels, height, gap
    return [f"{one.name} {one.alive}/{one.total}" for one in counts], *_TIGHT
