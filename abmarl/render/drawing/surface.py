"""Draws a scene on a pygame surface, and makes images of it. Needs no screen."""

import functools
from collections.abc import Sequence

import numpy as np

from abmarl.extras import load
from abmarl.render.drawing.agents import draw_agents
from abmarl.render.drawing.attacks import cell_middles, draw_attacks
from abmarl.render.drawing.layout import MARGIN, Layout, layout, picture_size
from abmarl.render.drawing.lines import shortened
from abmarl.render.drawing.marks import Mark, draw_marks
from abmarl.render.drawing.score import score_line
from abmarl.render.drawing.sprites import INK, text
from abmarl.render.scenes.scene import Scene
from abmarl.render.scenes.sight import Sight

pygame = load("pygame")

BACKGROUND = (250, 249, 246)
GRID_LINE = (228, 226, 220)
_FRAME_LINE = (196, 193, 185)
_FOG = (176, 178, 186)  # what colours are multiplied by, 255 leaves them alone
# In cells of fewer pixels agents are squares that fill them: there is no room for shapes.
_SMALLEST_SPRITE = 4
_SMALLEST_LETTERS = 6


def frame(scene: Scene, size: tuple[int, int] | None = None) -> np.ndarray:
    """The picture of a scene.

    Args:
        scene: what to draw.
        size: width and height in pixels; by default what suits the grid.

    Returns:
        uint8 [height, width, 3], a new array.
    """
    surface = pygame.Surface(size or picture_size(scene.rows, scene.cols), 0, 32)
    draw(scene, surface)
    return pixels_of(surface)


def pixels_of(surface) -> np.ndarray:
    """What is on a surface: uint8 [height, width, 3], a new array."""
    pixels = np.frombuffer(pygame.image.tobytes(surface, "RGB"), dtype=np.uint8)
    return pixels.reshape(surface.get_height(), surface.get_width(), 3).copy()


def draw(
    scene: Scene, surface, plan: Layout | None = None, sight: Sight | None = None,
    marks: Sequence[Mark] = (),
) -> None:  # fmt: skip
    """Draw a scene over the whole of a pygame surface.

    Args:
        scene: what to draw.
        surface: where.
        plan: which part of the grid goes where, as of a `MapView`; None: all of it fitted in, with
            the score line below.
        sight: what one agent sees: all else lies in a fog.
        marks: agents to be framed.

    Raises:
        ValueError: the surface is too small for the grid.
    """
    plan = layout(scene.rows, scene.cols, surface.get_size()) if plan is None else plan
    surface.blit(_background(scene.rows, scene.cols, plan), (0, 0))
    if plan.cell < _SMALLEST_SPRITE:
        _draw_squares(scene, surface, plan)
    else:
        draw_agents(scene, surface, plan, [mark.slot for mark in marks])
    _draw_captions(scene, surface, plan)
    if sight is not None:
        _draw_fog(scene, surface, plan, sight)
    if marks:
        draw_marks(scene, surface, plan, marks)
    if plan.score is not None:
        surface.blits(score_line(scene, max(plan.left, MARGIN), plan.width, plan.score), False)


@functools.lru_cache(maxsize=4)
def _background(rows: int, cols: int, plan: Layout):
    surface = pygame.Surface((plan.width, plan.height), 0, 32)
    surface.fill(BACKGROUND)
    right, bottom = plan.left + cols * plan.cell, plan.top + rows * plan.cell
    # Lines closer than this would be a grey veil: every tenth will do.
    stride = 1 if plan.cell >= 5 else 10
    shown_rows, shown_cols = plan.shown(rows, cols)
    for col in range(shown_cols.start - shown_cols.start % stride, shown_cols.stop, stride):
        x = plan.left + col * plan.cell
        pygame.draw.line(surface, GRID_LINE, (x, plan.top), (x, bottom))
    for row in range(shown_rows.start - shown_rows.start % stride, shown_rows.stop, stride):
        y = plan.top + row * plan.cell
        pygame.draw.line(surface, GRID_LINE, (plan.left, y), (right, y))
    border = (plan.left, plan.top, cols * plan.cell + 1, rows * plan.cell + 1)
    pygame.draw.rect(surface, _FRAME_LINE, border, 1)
    return surface


def _draw_squares(scene: Scene, surface, plan: Layout) -> None:
    """All agents at once, as one small picture with a pixel per cell that is scaled up."""
    colors = np.array([look.color for look in scene.looks] or [(0, 0, 0)], np.uint8)
    shown = scene.alive | (scene.fading > 0)
    slots = np.flatnonzero(shown)
    slots = slots[np.argsort(scene.alive[slots], kind="stable")]  # the living over the dead
    cells = np.zeros((scene.rows, scene.cols, 4), np.uint8)
    cells[scene.row[slots], scene.col[slots], :3] = colors[scene.look[slots]]
    cells[scene.row[slots], scene.col[slots], 3] = np.where(
        scene.alive[slots], 255, 140 * scene.fading[slots]
    )
    _put_cells(surface, plan, cells)
    reach = np.full(len(scene.ids), 0.42 * plan.cell)
    draw_attacks(scene, surface, plan, *cell_middles(scene, plan), reach)


def _draw_captions(scene: Scene, surface, plan: Layout) -> None:
    height = min(round(0.7 * plan.cell), 14)
    if height < _SMALLEST_LETTERS:
        return
    for caption in scene.captions:
        line = text(shortened(caption.words, height, caption.cols * plan.cell), height, INK)
        left, top = plan.left + caption.col * plan.cell, plan.top + caption.row * plan.cell
        surface.blit(line, (left + 1, top + (plan.cell - line.get_height()) // 2))


def _draw_fog(scene: Scene, surface, plan: Layout, sight: Sight) -> None:
    cells = np.full((scene.rows, scene.cols, 4), 255, np.uint8)
    cells[~sight.on_grid(scene.rows, scene.cols), :3] = _FOG
    _put_cells(surface, plan, cells, pygame.BLEND_RGB_MULT)


def _put_cells(surface, plan: Layout, cells: np.ndarray, flags: int = 0) -> None:
    """Colour cells, uint8 [rows, cols, 4] with alpha; only what is shown is scaled."""
    rows, cols = plan.shown(*cells.shape[:2])
    part = np.ascontiguousarray(cells[rows, cols])
    if not part.size:
        return
    height, width = part.shape[:2]
    small = pygame.image.frombuffer(part, (width, height), "RGBA")
    large = pygame.transform.scale(small, (width * plan.cell, height * plan.cell))
    corner = plan.left + cols.start * plan.cell + 1, plan.top + rows.start * plan.cell + 1
    surface.blit(large, corner, None, flags)
