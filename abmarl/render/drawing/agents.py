"""Draws the agents of a scene: markers, health bars, counts, attacks and highlights.

Where they stand in their cells is worked out on arrays: alone in the middle, several fanned out.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from abmarl.render.colors import RGB
from abmarl.render.drawing.geometry import MapGeometry
from abmarl.render.drawing.library import pygame
from abmarl.render.drawing.sprites import (
    agent_sprite,
    burst,
    count_badge,
    ghost_sprite,
    health_bar,
    nose,
    team_color,
)
from abmarl.render.drawing.text import text_image
from abmarl.render.scenes.scene import Scene

FLASH = (236, 86, 24)
_MISS = (96, 92, 104)
# Of the people at a keyboard; no default colour of agents is like these.
PERSON_COLORS: tuple[RGB, ...] = ((214, 0, 150), (0, 150, 160))
_SMALLEST_FRAME = 9  # pixels, so that it is found on a large grid
_MOST = 4  # agents that are drawn in a cell
# Centres of k agents in a cell and how large they are, as parts of the cell.
_SCALES = np.array([1.0, 1.0, 0.62, 0.54, 0.56])
_FANS = np.zeros((_MOST + 1, _MOST, 2))
_FANS[2, :2] = [(-0.22, 0.0), (0.22, 0.0)]
_FANS[3, :3] = [(0.0, -0.24), (-0.22, 0.2), (0.22, 0.2)]
_FANS[4] = [(-0.22, -0.22), (0.22, -0.22), (-0.22, 0.22), (0.22, 0.22)]


class AgentSpots(NamedTuple):
    """The agents to be drawn.

    Attributes:
        slots: int [n], their numbers, ascending.
        share: int [n], how many are drawn in the cell of each, 1 to 4.
        dx, dy: float [n], how far from the middle of its cell, in cells.
        crowds: int [m, 3], row, column and number of agents of cells with more than are drawn.
        scales: float [5], by `share`: how large they are.
    """

    slots: np.ndarray
    share: np.ndarray
    dx: np.ndarray
    dy: np.ndarray
    crowds: np.ndarray
    scales: np.ndarray = _SCALES


class Highlight(NamedTuple):
    """A frame around an agent, as around one that somebody plays.

    Attributes:
        slot: its number.
        color: of its frame.
        label: what stands at the frame, or "".
    """

    slot: int
    color: RGB
    label: str = ""


def draw_agents(
    scene: Scene, surface: pygame.Surface, geometry: MapGeometry, first: Sequence[int] = ()
) -> None:
    """Draw ghosts, markers, noses, attacks, bars and counts: lists of what to blit where.

    One list and one call each: crossing into pygame once per agent would cost more than drawing.
    The agents with the numbers in `first` are drawn in every crowd.
    """
    middle_x, middle_y = cell_middles(scene, geometry)
    rows, cols = geometry.visible_cells(scene.rows, scene.cols)
    placed = place_agents(scene, rows, cols, first)
    slots, cell = placed.slots, geometry.cell
    x, y = geometry.corner(*(side[slots].astype(np.int64) for side in (scene.row, scene.col)))
    x = x + 1 + np.rint(placed.dx * cell).astype(np.int64)
    y = y + 1 + np.rint(placed.dy * cell).astype(np.int64)
    middle_x[slots], middle_y[slots] = x + cell / 2, y + cell / 2

    # Agents that look the same share a sprite: `kind` numbers the different ones.
    solid = scene.blocking[slots].astype(np.int64)
    team = scene.team[slots].astype(np.int64) if scene.outlined else np.zeros_like(slots)
    keys = np.stack([scene.look[slots], placed.share, solid, team], 1)
    found, kind = _unique_rows(keys)
    sprites = []
    for look, share, is_solid, number in found.tolist():
        outline = team_color(number) if scene.outlined else None
        scale = float(placed.scales[share])
        sprites.append(agent_sprite(scene.looks[look], cell, scale, bool(is_solid), outline))
    inset = (cell - 1 - np.array([one.get_width() for one in sprites], np.int64)) // 2
    inset = inset[kind] if len(sprites) else inset
    markers = _items(sprites, kind, x + inset, y + inset)

    surface.blits(_ghosts(scene, geometry, rows, cols), False)
    surface.blits(markers, False)
    surface.blits(_noses(scene, cell, placed, x, y), False)
    reach = np.full(len(scene.ids), 0.42 * cell)
    reach[slots] *= placed.scales[placed.share]
    draw_attacks(scene, surface, geometry, middle_x, middle_y, reach)
    surface.blits(_bars(scene, cell, placed, x, y), False)
    if cell >= 14:
        surface.blits(_badges(scene, geometry, placed), False)


def _ghosts(scene: Scene, geometry: MapGeometry, rows: slice, cols: slice) -> list:
    items = []
    for slot in np.flatnonzero(scene.fading > 0).tolist():
        row, col = int(scene.row[slot]), int(scene.col[slot])
        if not (rows.start <= row < rows.stop and cols.start <= col < cols.stop):
            continue
        ghost = ghost_sprite(
            scene.looks[scene.look[slot]], geometry.cell, round(float(scene.fading[slot]), 2)
        )
        inset = (geometry.cell - 1 - ghost.get_width()) // 2 + 1
        x, y = geometry.corner(row, col)
        items.append((ghost, (x + inset, y + inset)))
    return items


def _noses(scene: Scene, cell: int, placed: AgentSpots, x: np.ndarray, y: np.ndarray) -> list:
    direction = scene.orientation[placed.slots]
    turned = np.flatnonzero(direction > 0)
    if cell < 7 or not len(turned):
        return []
    keys = np.stack([scene.look[placed.slots], placed.share, direction], 1)[turned]
    found, kind = _unique_rows(keys)
    sprites = [
        nose(scene.looks[look], cell, float(placed.scales[share]), towards)
        for look, share, towards in found.tolist()
    ]
    return _items(sprites, kind, x[turned], y[turned])


def _bars(scene: Scene, cell: int, placed: AgentSpots, x: np.ndarray, y: np.ndarray) -> list:
    health = scene.health[placed.slots]
    scale = placed.scales[placed.share]
    width = (0.64 * scale * cell).astype(np.int64)
    hurt = np.flatnonzero((health < 1) & (width >= 6))
    width = width[hurt]
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


def _badges(scene: Scene, geometry: MapGeometry, placed: AgentSpots) -> list:
    items = []
    for row, col, count in placed.crowds.tolist():
        badge = count_badge(count, min(max(geometry.cell // 4, 9), 18))
        right, top = geometry.corner(row, col + 1)
        items.append((badge, (right - badge.get_width(), top + 1)))
    return items


def draw_attacks(
    scene: Scene, surface: pygame.Surface, geometry: MapGeometry,
    x: np.ndarray, y: np.ndarray, reach: np.ndarray,
) -> None:  # fmt: skip
    """Draw a wedge from attacker to target with a star where it hits; a ring for a miss.

    Agents are at float [N] `x` and `y`, and `reach` is the radius of a ring around each.
    """
    bounds = surface.get_rect().inflate(2 * geometry.cell, 2 * geometry.cell)
    width = max(1.0, 0.09 * geometry.cell)
    star = burst(geometry.cell, FLASH)
    half = star.get_width() / 2
    stars = []
    for attacker, target in scene.attacks.tolist():
        start = float(x[attacker]), float(y[attacker])
        if target < 0:
            if geometry.cell >= 10 and scene.alive[attacker] and bounds.collidepoint(start):
                # Thick enough for films, which lose lines of a pixel, and dark enough for the fog.
                ring = max(2, round(0.05 * geometry.cell))
                pygame.draw.circle(surface, _MISS, start, float(reach[attacker]) + 1, ring)
            continue
        end = float(x[target]), float(y[target])
        if not bounds.collidepoint(start) and not bounds.collidepoint(end):
            continue
        across, down = end[0] - start[0], end[1] - start[1]
        length = max((across**2 + down**2) ** 0.5, 1e-9)
        nx, ny = -down / length * width, across / length * width
        wedge = [(start[0] + nx, start[1] + ny), (start[0] - nx, start[1] - ny), end]
        if geometry.cell >= 8:
            # Not with aalines for smooth edges: it leaves dots in the colours of other pixels.
            pygame.draw.polygon(surface, FLASH, wedge)
            stars.append((star, (round(end[0] - half), round(end[1] - half))))
        else:
            pygame.draw.line(surface, FLASH, start, end)
    surface.blits(stars, False)


def cell_middles(scene: Scene, geometry: MapGeometry) -> tuple[np.ndarray, np.ndarray]:
    """Return where the middles of the agents' cells are: x and y, float [N]."""
    middle = (geometry.cell + 1) / 2
    x, y = geometry.corner(scene.row.astype(np.float64), scene.col.astype(np.float64))
    return x + middle, y + middle


def draw_highlights(
    scene: Scene, surface: pygame.Surface, geometry: MapGeometry, highlights: Sequence[Highlight]
) -> None:
    """Frame the agents that are alive, each where it stands in its cell."""
    rows, cols = geometry.visible_cells(scene.rows, scene.cols)
    placed = place_agents(scene, rows, cols, [one.slot for one in highlights])
    for one in highlights:
        found = np.flatnonzero(placed.slots == one.slot)
        if not len(found):
            continue
        k = int(found[0])
        scale = float(placed.scales[placed.share[k]])
        side = max(round(scale * geometry.cell) - 3, _SMALLEST_FRAME)
        row = int(scene.row[one.slot]) + 0.5 + float(placed.dy[k])
        col = int(scene.col[one.slot]) + 0.5 + float(placed.dx[k])
        x, y = geometry.corner(row, col)
        frame = pygame.Rect(0, 0, side, side)
        frame.center = round(x), round(y)
        width = 3 if side >= 30 else 2
        pygame.draw.rect(surface, one.color, frame, width, border_radius=max(2, side // 8))
        if one.label:
            _draw_label(surface, one, frame)


def _draw_label(surface: pygame.Surface, one: Highlight, frame: pygame.Rect) -> None:
    """Draw a tag at the upper left corner."""
    words = text_image(one.label, min(max(frame.width // 5, 10), 14), (255, 255, 255))
    tag = pygame.Rect(0, 0, words.get_width() + 6, words.get_height() + 1)
    tag.topleft = frame.topleft
    if frame.width < 2 * tag.width:
        tag.bottomright = frame.topleft
    tag.clamp_ip(surface.get_rect())
    pygame.draw.rect(surface, one.color, tag, border_radius=3)
    surface.blit(words, words.get_rect(center=tag.center))


def place_agents(scene: Scene, rows: slice, cols: slice, first: Sequence[int] = ()) -> AgentSpots:
    """Place the agents that are alive in some rows and columns.

    Of a crowd every look is drawn once before any is drawn twice, so that a lone enemy is not
    hidden; of those that look alike, the ones with the lowest numbers. The numbers in `first` come
    before all others.
    """
    inside = scene.alive & (scene.row >= rows.start) & (scene.row < rows.stop)
    inside &= (scene.col >= cols.start) & (scene.col < cols.stop)
    slots = np.flatnonzero(inside)
    cell = scene.row[slots].astype(np.int64) * scene.cols + scene.col[slots]
    where, place, count = np.unique(cell, return_inverse=True, return_counts=True)
    crowded = where[count > _MOST]
    crowds = np.stack([crowded // scene.cols, crowded % scene.cols, count[count > _MOST]], 1)
    if len(crowds):
        # Those of one look in one cell are numbered; low numbers of any look come first.
        alike = _rank(place * (int(scene.look.max()) + 1) + scene.look[slots]) + 1
        alike[np.isin(slots, first)] = 0
        kept = np.flatnonzero(_rank(place, alike) < _MOST)
        slots, place = slots[kept], place[kept]
    share = np.minimum(count, _MOST)[place]
    fan = _FANS[share, _rank(place)]
    return AgentSpots(slots, share, fan[:, 0], fan[:, 1], crowds)


def _rank(keys: np.ndarray, order: np.ndarray | None = None) -> np.ndarray:
    """Return the place of each of `keys` int [n] among the equal ones, by `order`, then number.

    With ``keys = [5, 7, 5, 5]`` it is ``[0, 0, 1, 2]``.
    """
    size = len(keys)
    if not size:
        return np.zeros(0, np.int64)
    codes = keys if order is None else keys * (int(order.max()) + 1) + order
    sorting = np.argsort(codes, kind="stable")
    found = keys[sorting]
    starts = np.concatenate([[True], found[1:] != found[:-1]])
    first = np.maximum.accumulate(np.where(starts, np.arange(size), 0))
    rank = np.empty(size, np.int64)
    rank[sorting] = np.arange(size) - first
    return rank


def _unique_rows(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different rows of small numbers, and which of them every row is.

    Like ``np.unique(keys, axis=0)``, which compares bytes and takes twenty times as long.
    """
    low = keys.min(axis=0, initial=0)
    code = np.zeros(len(keys), np.int64)
    for column, least in zip(keys.T, low, strict=True):
        code = code * (int(column.max(initial=0)) - int(least) + 1) + column - least
    _, first, kind = np.unique(code, return_index=True, return_inverse=True)
    return keys[first], kind


def _items(sprites: list, kind: np.ndarray, x: np.ndarray, y: np.ndarray) -> list:
    places = zip(x.tolist(), y.tolist(), strict=True)
    return list(zip(map(sprites.__getitem__, kind.tolist()), places, strict=True))
