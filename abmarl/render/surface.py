"""Draws a scene on a pygame surface, and makes images of it. Needs no screen."""

import functools

import numpy as np

from abmarl.extras import load
from abmarl.render.crowds import place_agents
from abmarl.render.layout import MARGIN, SCORE_HEIGHT, Layout, layout, picture_size
from abmarl.render.markers import marker
from abmarl.render.scene import Scene
from abmarl.render.sight import Sight
from abmarl.render.sprites import (
    FAINT_INK,
    INK,
    agent_sprite,
    burst,
    count_badge,
    ghost_sprite,
    health_bar,
    nose,
    team_color,
    text,
)

pygame = load("pygame")

BACKGROUND = (250, 249, 246)
GRID_LINE = (228, 226, 220)
_FRAME_LINE = (196, 193, 185)
_FLASH, _MISS = (236, 86, 24), (196, 193, 185)
_FOG = (176, 178, 186)  # what colours are multiplied by, 255 leaves them alone
# In cells of fewer pixels agents are squares that fill them: there is no room for shapes.
_SMALLEST_SPRITE = 4


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


def draw(scene: Scene, surface, plan: Layout | None = None, sight: Sight | None = None) -> None:
    """Draw a scene over the whole of a pygame surface.

    Args:
        scene: what to draw.
        surface: where.
        plan: which part of the grid goes where, as of a `MapView`; None: all of it fitted in, with
            the score line below.
        sight: what one agent sees: all else lies in a fog.

    Raises:
        ValueError: the surface is too small for the grid, or an agent's render_shape is unknown.
    """
    plan = layout(scene.rows, scene.cols, surface.get_size()) if plan is None else plan
    surface.blit(_background(scene.rows, scene.cols, plan), (0, 0))
    if plan.cell < _SMALLEST_SPRITE:
        _draw_squares(scene, surface, plan)
    else:
        _draw_sprites(scene, surface, plan)
    if sight is not None:
        _draw_fog(scene, surface, plan, sight)
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
    _draw_attacks(scene, surface, plan, *_middles(scene, plan), reach)


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


def _middles(scene: Scene, plan: Layout) -> tuple[np.ndarray, np.ndarray]:
    """float [N], float [N]: where the middles of the agents' cells are, x and y."""
    middle = (plan.cell + 1) / 2
    x = plan.left + scene.col.astype(np.float64) * plan.cell + middle
    return x, plan.top + scene.row.astype(np.float64) * plan.cell + middle


def _draw_sprites(scene: Scene, surface, plan: Layout) -> None:
    """Ghosts, attacks, markers, noses, bars and counts: lists of what to blit where.

    One list and one call each: crossing into pygame once per agent would cost more than drawing.
    """
    middle_x, middle_y = _middles(scene, plan)
    rows, cols = plan.shown(scene.rows, scene.cols)
    placed = place_agents(scene, rows, cols)
    slots, inner = placed.slots, plan.cell - 1
    left = plan.left + scene.col[slots].astype(np.int64) * plan.cell + 1
    top = plan.top + scene.row[slots].astype(np.int64) * plan.cell + 1
    dx = np.rint(placed.dx * plan.cell).astype(np.int64)
    dy = np.rint(placed.dy * plan.cell).astype(np.int64)
    x, y = left + dx, top + dy
    middle_x[slots], middle_y[slots] = x + plan.cell / 2, y + plan.cell / 2

    # Agents that look the same share a sprite: `kind` numbers the different ones.
    solid = scene.blocking[slots].astype(np.int64)
    team = scene.team[slots].astype(np.int64) if scene.outlined else np.zeros_like(slots)
    keys = np.stack([scene.look[slots], placed.share, solid, team], 1)
    found, kind = _unique_rows(keys)
    sprites = []
    for look, share, is_solid, number in found.tolist():
        outline = team_color(number) if scene.outlined else None
        scale = float(placed.scales[share])
        one = agent_sprite(scene.looks[look], plan.cell, scale, bool(is_solid), outline)
        sprites.append(one)
    inset = (inner - np.array([one.get_width() for one in sprites], np.int64)) // 2
    inset = inset[kind] if len(sprites) else inset
    markers = _items(sprites, kind, x + inset, y + inset)

    surface.blits(_ghosts(scene, plan, rows, cols), False)
    surface.blits(markers, False)
    surface.blits(_noses(scene, plan, placed, x, y), False)
    reach = np.full(len(scene.ids), 0.42 * plan.cell)
    reach[slots] *= placed.scales[placed.share]
    _draw_attacks(scene, surface, plan, middle_x, middle_y, reach)
    surface.blits(_bars(scene, plan, placed, x, y), False)
    if plan.cell >= 14:
        surface.blits(_badges(scene, plan, placed), False)


def _items(sprites: list, kind: np.ndarray, x: np.ndarray, y: np.ndarray) -> list:
    places = zip(x.tolist(), y.tolist(), strict=True)
    return list(zip(map(sprites.__getitem__, kind.tolist()), places, strict=True))


def _unique_rows(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different rows of small numbers, and which of them every row is.

    As ``np.unique(keys, axis=0)``, which compares bytes and takes twenty times as long.
    """
    low = keys.min(axis=0, initial=0)
    code = np.zeros(len(keys), np.int64)
    for column, least in zip(keys.T, low, strict=True):
        code = code * (int(column.max(initial=0)) - int(least) + 1) + column - least
    _, first, kind = np.unique(code, return_index=True, return_inverse=True)
    return keys[first], kind


def _ghosts(scene: Scene, plan: Layout, rows: slice, cols: slice) -> list:
    items = []
    for slot in np.flatnonzero(scene.fading > 0).tolist():
        row, col = int(scene.row[slot]), int(scene.col[slot])
        if not (rows.start <= row < rows.stop and cols.start <= col < cols.stop):
            continue
        ghost = ghost_sprite(
            scene.looks[scene.look[slot]], plan.cell, round(float(scene.fading[slot]), 2)
        )
        inset = (plan.cell - 1 - ghost.get_width()) // 2 + 1
        at = plan.left + col * plan.cell + inset, plan.top + row * plan.cell + inset
        items.append((ghost, at))
    return items


def _noses(scene: Scene, plan: Layout, placed, x: np.ndarray, y: np.ndarray) -> list:
    way = scene.orientation[placed.slots]
    turned = np.flatnonzero(way > 0)
    if plan.cell < 7 or not len(turned):
        return []
    keys = np.stack([scene.look[placed.slots], placed.share, way], 1)[turned]
    found, kind = _unique_rows(keys)
    sprites = [
        nose(scene.looks[look], plan.cell, float(placed.scales[share]), direction)
        for look, share, direction in found.tolist()
    ]
    return _items(sprites, kind, x[turned], y[turned])


def _bars(scene: Scene, plan: Layout, placed, x: np.ndarray, y: np.ndarray) -> list:
    health = scene.health[placed.slots]
    scale = placed.scales[placed.share]
    width = (0.64 * scale * plan.cell).astype(np.int64)
    hurt = np.flatnonzero((health < 1) & (width >= 6))
    width, scale, cell = width[hurt], scale[hurt], plan.cell
    filled = np.clip(np.ceil(health[hurt] * (width - 2)), 0, width - 2).astype(np.int64)
    found, kind = _unique_rows(np.stack([placed.share[hurt], filled], 1))
    sprites, dy = [], []
    for share, part in found.tolist():
        size = float(placed.scales[share])
        wide, high = int(0.64 * size * cell), max(3, round(0.08 * size * cell))
        sprites.append(health_bar(wide, high, part))
        dy.append(min(round((0.5 + 0.43 * size) * cell) - high // 2, cell - high - 2))
    below = np.array(dy, np.int64)[kind] if len(sprites) else width
    return _items(sprites, kind, x[hurt] + (cell - 1 - width) // 2, y[hurt] + below)


def _badges(scene: Scene, plan: Layout, placed) -> list:
    items = []
    for row, col, count in placed.crowds.tolist():
        badge = count_badge(count, min(max(plan.cell // 4, 9), 18))
        right, top = plan.left + (col + 1) * plan.cell, plan.top + row * plan.cell + 1
        items.append((badge, (right - badge.get_width(), top)))
    return items


def _draw_attacks(
    scene: Scene, surface, plan: Layout, x: np.ndarray, y: np.ndarray, reach: np.ndarray
) -> None:
    """A wedge from attacker to target with a star where it hits; a ring for a miss.

    Agents are at float [N] `x` and `y`, and `reach` is the radius of a ring around each.
    """
    bounds = surface.get_rect().inflate(2 * plan.cell, 2 * plan.cell)
    width = max(1.0, 0.09 * plan.cell)
    star = burst(plan.cell, _FLASH)
    half = star.get_width() / 2
    stars = []
    for attacker, target in scene.attacks.tolist():
        start = float(x[attacker]), float(y[attacker])
        if target < 0:
            if plan.cell >= 12 and scene.alive[attacker] and bounds.collidepoint(start):
                pygame.draw.circle(surface, _MISS, start, float(reach[attacker]), 1)
            continue
        end = float(x[target]), float(y[target])
        if not bounds.collidepoint(start) and not bounds.collidepoint(end):
            continue
        across, down = end[0] - start[0], end[1] - start[1]
        length = max((across**2 + down**2) ** 0.5, 1e-9)
        nx, ny = -down / length * width, across / length * width
        wedge = [(start[0] + nx, start[1] + ny), (start[0] - nx, start[1] - ny), end]
        if plan.cell >= 8:
            pygame.draw.polygon(surface, _FLASH, wedge)
            pygame.draw.aalines(surface, _FLASH, True, wedge)
            stars.append((star, (round(end[0] - half), round(end[1] - half))))
        else:
            pygame.draw.line(surface, _FLASH, start, end)
    surface.blits(stars, False)


def score_line(scene: Scene, left: int, width: int, top: int) -> list:
    """What to blit for the score: step and teams from the left, the title right if it fits.

    Args:
        scene: the scene.
        left: where it begins, and how far from the right edge it ends.
        width: of the picture.
        top: of the line, which is `SCORE_HEIGHT` high.
    """
    x, middle = left, top + SCORE_HEIGHT // 2
    end = width - x
    items: list = []

    def put(image, gap: int) -> bool:
        nonlocal x
        if x + image.get_width() > end:
            return False
        items.append((image, (x, middle - image.get_height() // 2)))
        x += image.get_width() + gap
        return True

    if scene.step is not None:
        put(text(f"step {scene.step}", 15, INK), 18)
    for tally in scene.tallies():
        label = text(f"{tally.name} {tally.alive}/{tally.total}", 15, INK)
        dot = marker("o", tally.color, 11.0, False, False)
        if x + dot.get_width() + 4 + label.get_width() > end:
            put(text("...", 15, FAINT_INK), 0)
            return items
        put(dot, 4)
        put(label, 16)
    if scene.title:
        title = text(scene.title, 15, FAINT_INK)
        if x + title.get_width() <= end:
            x = end - title.get_width()
            put(title, 0)
    return items
