"""Draws the agents of a scene: markers, noses, health bars and counts."""

from collections.abc import Sequence

import numpy as np

from abmarl.render.drawing.attacks import cell_middles, draw_attacks
from abmarl.render.drawing.crowds import Placed, place_agents
from abmarl.render.drawing.layout import Layout
from abmarl.render.drawing.sprites import (
    agent_sprite,
    count_badge,
    ghost_sprite,
    health_bar,
    nose,
    team_color,
)
from abmarl.render.scenes.scene import Scene


def draw_agents(scene: Scene, surface, plan: Layout, first: Sequence[int] = ()) -> None:
    """Ghosts, attacks, markers, noses, bars and counts: lists of what to blit where.

    One list and one call each: crossing into pygame once per agent would cost more than drawing.
    The agents with the numbers in `first` are drawn in every crowd.
    """
    middle_x, middle_y = cell_middles(scene, plan)
    rows, cols = plan.shown(scene.rows, scene.cols)
    placed = place_agents(scene, rows, cols, first)
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
    draw_attacks(scene, surface, plan, middle_x, middle_y, reach)
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


def _noses(scene: Scene, plan: Layout, placed: Placed, x: np.ndarray, y: np.ndarray) -> list:
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


def _bars(scene: Scene, plan: Layout, placed: Placed, x: np.ndarray, y: np.ndarray) -> list:
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


def _badges(scene: Scene, plan: Layout, placed: Placed) -> list:
    items = []
    for row, col, count in placed.crowds.tolist():
        badge = count_badge(count, min(max(plan.cell // 4, 9), 18))
        right, top = plan.left + (col + 1) * plan.cell, plan.top + row * plan.cell + 1
        items.append((badge, (right - badge.get_width(), top)))
    return items
