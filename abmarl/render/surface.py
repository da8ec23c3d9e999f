"""Draws a scene on a pygame surface, and makes images of it. Needs no screen."""

import functools
import math

import numpy as np

from abmarl.extras import load
from abmarl.render.colors import RGB
from abmarl.render.layout import MARGIN, SCORE_HEIGHT, Layout, layout, picture_size
from abmarl.render.markers import marker
from abmarl.render.scene import Look, Scene

pygame = load("pygame")

BACKGROUND = (250, 249, 246)
GRID_LINE = (228, 226, 220)
_FRAME_LINE = (196, 193, 185)
_INK, _FAINT_INK = (52, 52, 58), (140, 138, 132)
_BAR_BACK = (70, 70, 74)
_USUAL_SIZE, _USUAL_DIAMETER = 200.0, 0.62  # render_size 200 takes 62 percent of the cell
_SHOWN = 4
# Centres of k agents in a cell and how large they are, as parts of the cell.
_FANS = {
    1: (1.0, [(0.0, 0.0)]),
    2: (0.62, [(-0.22, 0.0), (0.22, 0.0)]),
    3: (0.54, [(0.0, -0.24), (-0.22, 0.2), (0.22, 0.2)]),
    4: (0.56, [(-0.22, -0.22), (0.22, -0.22), (-0.22, 0.22), (0.22, 0.22)]),
}


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
    pixels = np.frombuffer(pygame.image.tobytes(surface, "RGB"), dtype=np.uint8)
    return pixels.reshape(surface.get_height(), surface.get_width(), 3).copy()


def draw(scene: Scene, surface) -> None:
    """Draw a scene over the whole of a pygame surface.

    Raises:
        ValueError: the surface is too small for the grid, or an agent's render_shape is unknown.
    """
    plan = layout(scene.rows, scene.cols, surface.get_size())
    surface.blit(_background(scene.rows, scene.cols, plan), (0, 0))
    # One list and one call: crossing into pygame once per agent would cost more than drawing.
    surface.blits(_agents(scene, plan), False)
    surface.blits(_score(scene, plan), False)


@functools.lru_cache(maxsize=4)
def _background(rows: int, cols: int, plan: Layout):
    surface = pygame.Surface((plan.width, plan.height), 0, 32)
    surface.fill(BACKGROUND)
    right, bottom = plan.left + cols * plan.cell, plan.top + rows * plan.cell
    # Lines closer than this would be a grey veil: every tenth will do.
    stride = 1 if plan.cell >= 5 else 10
    for col in range(0, cols, stride):
        x = plan.left + col * plan.cell
        pygame.draw.line(surface, GRID_LINE, (x, plan.top), (x, bottom))
    for row in range(0, rows, stride):
        y = plan.top + row * plan.cell
        pygame.draw.line(surface, GRID_LINE, (plan.left, y), (right, y))
    border = (plan.left, plan.top, cols * plan.cell + 1, rows * plan.cell + 1)
    pygame.draw.rect(surface, _FRAME_LINE, border, 1)
    return surface


def _agents(scene: Scene, plan: Layout) -> list:
    """What to blit where: markers, health bars above them, and counts of crowded cells."""
    slots = np.flatnonzero(scene.alive)
    cells = scene.row[slots].astype(np.int64) * scene.cols + scene.col[slots]
    _, place, count = np.unique(cells, return_inverse=True, return_counts=True)
    alone = count[place] == 1
    markers: list = []
    over: list = []
    for slot in slots[alone].tolist():
        _put(scene, plan, slot, 1.0, (0.0, 0.0), markers, over)
    for crowd in np.flatnonzero(count > 1).tolist():
        members = slots[place == crowd].tolist()
        scale, centres = _FANS[min(len(members), _SHOWN)]
        for slot, centre in zip(_varied(scene, members), centres, strict=False):
            _put(scene, plan, slot, scale, centre, markers, over)
        if len(members) > _SHOWN and plan.cell >= 14:
            over.append(_badge(scene, plan, members))
    return markers + over


def _varied(scene: Scene, members: list[int]) -> list[int]:
    """Every look of a crowd once before any look twice, so that a lone enemy is not hidden."""
    seen: dict[int, int] = {}
    rank = []
    for slot in members:
        look = int(scene.look[slot])
        seen[look] = seen.get(look, 0) + 1
        rank.append((seen[look], slot))
    return sorted(slot for _, slot in sorted(rank)[:_SHOWN])


def _put(scene, plan, slot: int, scale: float, centre, markers: list, over: list) -> None:
    look = scene.looks[scene.look[slot]]
    sprite = _sprite(look, plan.cell, scale, bool(scene.blocking[slot]))
    side = sprite.get_width()
    # The cell's first row and column of pixels are grid lines.
    x = plan.left + int(scene.col[slot]) * plan.cell + 1 + round(centre[0] * plan.cell)
    y = plan.top + int(scene.row[slot]) * plan.cell + 1 + round(centre[1] * plan.cell)
    inset = (plan.cell - 1 - side) // 2
    markers.append((sprite, (x + inset, y + inset)))
    health = float(scene.health[slot])
    width = int(0.64 * scale * plan.cell)
    if health < 1 and width >= 6:
        height = max(3, round(0.08 * scale * plan.cell))
        bar = _bar(width, height, min(max(math.ceil(health * (width - 2)), 0), width - 2))
        below = round((0.5 + 0.43 * scale) * plan.cell) - height // 2
        over.append(
            (bar, (x + (plan.cell - 1 - width) // 2, y + min(below, plan.cell - height - 2)))
        )


@functools.lru_cache(maxsize=4096)
def _sprite(look: Look, cell: int, scale: float, solid: bool):
    part = _USUAL_DIAMETER * math.sqrt(max(look.size, 0.0) / _USUAL_SIZE)
    # Small cells need all their pixels; markers never leave their cell by much.
    part = min(max(part * (1.3 if cell < 12 else 1.0), 0.12), 0.92)
    return marker(look.shape, look.color, part * scale * cell, (cell - 1) % 2 == 1, solid)


@functools.lru_cache(maxsize=1024)
def _bar(width: int, height: int, filled: int):
    share = filled / (width - 2)
    color = (46, 160, 80) if share > 0.6 else (235, 160, 30) if share > 0.3 else (214, 52, 52)
    bar = pygame.Surface((width, height), 0, 32)
    bar.fill(_BAR_BACK)
    bar.fill(color, (1, 1, filled, height - 2))
    return bar


def _badge(scene: Scene, plan: Layout, members: list[int]):
    row, col = int(scene.row[members[0]]), int(scene.col[members[0]])
    badge = _count_badge(len(members), min(max(plan.cell // 4, 9), 18))
    right, top = plan.left + (col + 1) * plan.cell, plan.top + row * plan.cell + 1
    return badge, (right - badge.get_width(), top)


@functools.lru_cache(maxsize=256)
def _count_badge(count: int, height: int):
    text = _text(str(count), height, (255, 255, 255))
    badge = pygame.Surface((text.get_width() + 6, text.get_height()), pygame.SRCALPHA, 32)
    box = badge.get_rect()
    pygame.draw.rect(badge, (*_INK, 230), box, border_radius=box.height // 3)
    badge.blit(text, (3, 0))
    return badge


def _score(scene: Scene, plan: Layout) -> list:
    """The line below the grid: step and teams from the left, the title at the right if it fits."""
    x, middle = max(plan.left, MARGIN), plan.score + SCORE_HEIGHT // 2
    end = plan.width - x
    items: list = []

    def put(image, gap: int) -> bool:
        nonlocal x
        if x + image.get_width() > end:
            return False
        items.append((image, (x, middle - image.get_height() // 2)))
        x += image.get_width() + gap
        return True

    if scene.step is not None:
        put(_text(f"step {scene.step}", 15, _INK), 18)
    for tally in scene.tallies():
        label = _text(f"{tally.name} {tally.alive}/{tally.total}", 15, _INK)
        dot = marker("o", tally.color, 11.0, False, False)
        if x + dot.get_width() + 4 + label.get_width() > end:
            put(_text("...", 15, _FAINT_INK), 0)
            return items
        put(dot, 4)
        put(label, 16)
    if scene.title:
        title = _text(scene.title, 15, _FAINT_INK)
        if x + title.get_width() <= end:
            x = end - title.get_width()
            put(title, 0)
    return items


@functools.lru_cache(maxsize=512)
def _text(text: str, height: int, color: RGB):
    # Surfaces outlive pygame.quit(), fonts do not: only surfaces are kept.
    if not pygame.font.get_init():
        pygame.font.init()
    return pygame.font.Font(None, round(1.35 * height)).render(text, True, color)
