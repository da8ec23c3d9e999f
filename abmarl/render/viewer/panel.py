"""The panel beside the map: who an agent is, and what it observes.

Windows of cells are drawn as large as there is room, all other observations are lines of text.
"""

import itertools
import math
import operator

import numpy as np

from abmarl.render.colors import RGB
from abmarl.render.drawing.library import pygame
from abmarl.render.drawing.sprites import agent_sprite, count_badge, hatching, team_color
from abmarl.render.drawing.text import (
    FAINT_INK,
    INK,
    draw_text,
    fits,
    shortened,
    text_image,
    wrapped,
)
from abmarl.render.scenes.appearance import Look
from abmarl.render.scenes.scene import Scene
from abmarl.render.viewer.shows import Observed, Pane

_Point = tuple[int, int]

PANEL_WIDTH = 280
_GROUND, _LINE = (255, 255, 255), (214, 211, 203)
_EMPTY, _OUTSIDE, _HATCH = (250, 249, 246), (120, 122, 130), (150, 152, 160)
_PAD, _LABEL = 16, 84  # how far from the edges everything stays, and the width of labels
_LARGEST_CELL = 44
_LEGIBLE = 5  # pixels of a cell
_GAP, _TITLE, _PART, _BELOW, _LEGEND = 12, 18, 16, 9, 14


def draw_panel(
    surface: pygame.Surface, scene: Scene, slot: int, facts: list[tuple[str, str]],
    observed: Observed | None,
) -> None:  # fmt: skip
    """Draw the panel of the agent with number `slot` over the whole of a surface."""
    surface.fill(_GROUND)
    pygame.draw.line(surface, _LINE, (0, 0), (0, surface.get_height()))
    team = team_color(int(scene.team[slot])) if scene.outlined else None
    look, solid = scene.looks[scene.look[slot]], bool(scene.blocking[slot])
    sprite = agent_sprite(look._replace(size=200.0), 36, 1.0, solid, team)
    surface.blit(sprite, (_PAD, _PAD + 12 - sprite.get_height() // 2))
    x = _PAD + sprite.get_width() + 8
    draw_text(surface, scene.ids[slot], 18, INK, (x, _PAD + 4), _PAD)
    y = _PAD + 40
    room = surface.get_width() - _LABEL - 2 * _PAD
    for label, words in facts:
        surface.blit(text_image(label, 13, FAINT_INK), (_PAD, y))
        for line in wrapped(words, 13, room):
            surface.blit(text_image(line, 13, INK), (_PAD + _LABEL, y))
            y += 20
    if observed is not None:
        draw_observed(surface, observed, y + 14)


def draw_observed(surface: pygame.Surface, observed: Observed, y: int) -> None:
    """Draw what an agent observes below row `y` of a surface, as large as there is room."""
    surface.blit(text_image("what it sees", 15, INK), (_PAD, y))
    y += 22
    room = surface.get_width() - 2 * _PAD
    for label, words in observed.lines:
        for line in wrapped(f"{label}: {words}", 13, room):
            surface.blit(text_image(line, 13, INK), (_PAD, y))
            y += 19
    by_channel = itertools.groupby(observed.panes, operator.attrgetter("channel"))
    channels = [list(panes) for _, panes in by_channel]
    height = surface.get_height() - y - _PAD - _LEGEND
    cell, shown = _fitted(channels, room, height)
    for panes in channels[:shown]:
        y = _draw_channel(surface, panes, y, cell)
    if shown < len(channels):
        words = f"{len(channels) - shown} more in a higher window"
        surface.blit(text_image(words, 12, FAINT_INK), (_PAD, y))
        y += _TITLE
    if any(pane.looks is not None for panes in channels[:shown] for pane in panes):
        _draw_legend(surface, y)


def _fitted(channels: list[list[Pane]], width: int, height: int) -> tuple[int, int]:
    """Return the size of cells, and how many channels are shown, the first ones.

    Windows that could not be read are not worth the room that others have then.
    """
    for shown in range(len(channels), 0, -1):
        left = height - _TITLE * (shown < len(channels))
        for cell in range(_LARGEST_CELL, 0, -1):
            heights = [_height(panes, cell, width) for panes in channels[:shown]]
            if sum(heights) <= left and (cell >= _LEGIBLE or shown == 1):
                return cell, shown
    return 1, 0


def _across(panes: list[Pane], cell: int, width: int) -> int:
    """Return how many windows of a channel are beside one another; 0: not even one."""
    return (width + _GAP) // (panes[0].cells.shape[1] * cell + 1 + _GAP)


def _height(panes: list[Pane], cell: int, width: int) -> float:
    across = _across(panes, cell, width)
    if not across:
        return math.inf
    part = _PART if panes[0].part else 0
    return _TITLE + -(-len(panes) // across) * (panes[0].cells.shape[0] * cell + part + _BELOW)


def _draw_channel(surface: pygame.Surface, panes: list[Pane], y: int, cell: int) -> int:
    """Draw the windows of a channel and return the row where they end."""
    draw_text(surface, panes[0].channel, 12, FAINT_INK, (_PAD, y), _PAD)
    y += _TITLE
    across = _across(panes, cell, surface.get_width() - 2 * _PAD)
    rows, cols = panes[0].cells.shape
    for first in range(0, len(panes), across):
        part = _PART if panes[0].part else 0
        for k, pane in enumerate(panes[first : first + across]):
            x = _PAD + k * (cols * cell + 1 + _GAP)
            if part:
                room = cols * cell + _GAP - 3
                words = pane.part if fits(pane.part, 11, room) else pane.part.split()[-1]
                words = shortened(words, 11, room)
                surface.blit(text_image(words, 11, FAINT_INK), (x, y))
            _draw_pane(surface, pane, x, y + part, cell)
        y += part + rows * cell + _BELOW
    return y


def _draw_pane(surface: pygame.Surface, pane: Pane, left: int, top: int, cell: int) -> None:
    """Draw a window, cell by cell."""
    rows, cols = pane.cells.shape
    inner = max(cell - 1, 1)
    for row in range(rows):
        for col in range(cols):
            corner = left + col * cell + 1, top + row * cell + 1
            if pane.looks is None:
                _draw_shade(surface, pane.cells, (row, col), corner, inner)
                continue
            label = int(pane.cells[row, col])
            _draw_cell(surface, label, pane.looks.get(label), corner, cell, inner)
            count = 1 if pane.counts is None else int(pane.counts[row, col])
            if count > 1 and cell >= 10:
                surface.blit(count_badge(count, max(7, cell // 3)), corner)
    pygame.draw.rect(surface, _LINE, (left, top, cols * cell + 1, rows * cell + 1), 1)


def _draw_cell(
    surface: pygame.Surface, label: int, found: tuple[Look, bool] | None, corner: _Point,
    cell: int, inner: int,
) -> None:  # fmt: skip
    """Draw what has a label; masked cells are hatched, those out of bounds are dark."""
    if found is not None:
        look, solid = found
        if cell < 6:
            surface.fill(look.color, (*corner, inner, inner))
            return
        surface.fill(_EMPTY, (*corner, inner, inner))
        sprite = agent_sprite(look, cell, 1.0, solid, None)
        inset = (inner - sprite.get_width()) // 2
        surface.blit(sprite, (corner[0] + inset, corner[1] + inset))
    elif label == -2:
        surface.blit(hatching(inner, _HATCH, _EMPTY), corner)
    elif label == -1:
        surface.fill(_OUTSIDE, (*corner, inner, inner))
    else:
        surface.fill(_EMPTY, (*corner, inner, inner))
        if label:  # nobody is known who looks like that
            _put_number(surface, str(label), corner, inner, INK)


def _draw_shade(
    surface: pygame.Surface, cells: np.ndarray, at: tuple[int, int], corner: _Point, inner: int
) -> None:
    """Draw a number: the larger, the darker."""
    low, high = float(np.nanmin(cells)), float(np.nanmax(cells))
    value = float(cells[at])
    share = (value - low) / (high - low) if high > low and np.isfinite(value) else 0.0
    level = round(250 - 170 * share)
    surface.fill((level, level, level), (*corner, inner, inner))
    if inner >= 16:
        _put_number(surface, f"{value:.2g}", corner, inner, INK if share < 0.6 else _EMPTY)


def _put_number(
    surface: pygame.Surface, words: str, corner: _Point, inner: int, color: RGB
) -> None:
    number = text_image(words, max(7, inner // 2 if len(words) < 3 else inner // 3), color)
    middle = corner[0] + inner // 2, corner[1] + inner // 2
    surface.blit(number, number.get_rect(center=middle))


def _draw_legend(surface: pygame.Surface, y: int) -> None:
    surface.blit(hatching(11, _HATCH, _EMPTY), (_PAD, y + 1))
    masked = text_image("masked", 12, FAINT_INK)
    surface.blit(masked, (_PAD + 16, y))
    x = _PAD + 16 + masked.get_width() + 14
    surface.fill(_OUTSIDE, (x, y + 1, 11, 11))
    surface.blit(text_image("out of bounds", 12, FAINT_INK), (x + 16, y))
