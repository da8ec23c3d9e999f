"""What an agent observes, drawn: windows of cells, and lines of text for all else."""

import itertools
import math
from typing import Any

import numpy as np

from abmarl.extras import load
from abmarl.render.drawing.lines import fits, shortened, wrapped, write
from abmarl.render.drawing.sprites import (
    FAINT_INK,
    INK,
    agent_sprite,
    count_badge,
    hatching,
    text,
)
from abmarl.render.viewer.shows import Observed, Pane

pygame = load("pygame")

_LINE = (214, 211, 203)
_EMPTY, _OUTSIDE, _HATCH = (250, 249, 246), (120, 122, 130), (150, 152, 160)
_LARGEST_CELL = 44
_LEGIBLE = 5  # pixels of a cell
_GAP, _TITLE, _PART, _BELOW, _LEGEND = 12, 18, 16, 9, 14


def draw_observed(surface: Any, observed: Observed, y: int, pad: int) -> None:
    """Draw it below a row of a surface, as large as there is room.

    Args:
        surface: where.
        observed: what the agent observes.
        y: the row.
        pad: how far from the edges it stays.
    """
    surface.blit(text("what it sees", 15, INK), (pad, y))
    y += 22
    room = surface.get_width() - 2 * pad
    for label, words in observed.lines:
        for line in wrapped(f"{label}: {words}", 13, room):
            surface.blit(text(line, 13, INK), (pad, y))
            y += 19
    channels = [list(panes) for _, panes in itertools.groupby(observed.panes, _channel)]
    height = surface.get_height() - y - pad - _LEGEND
    cell, shown = _fitted(channels, room, height)
    for panes in channels[:shown]:
        y = _draw_channel(surface, panes, y, cell, pad)
    if shown < len(channels):
        words = f"{len(channels) - shown} more in a higher window"
        surface.blit(text(words, 12, FAINT_INK), (pad, y))
        y += _TITLE
    if any(pane.looks is not None for panes in channels[:shown] for pane in panes):
        _draw_legend(surface, y, pad)


def _channel(pane: Pane) -> str:
    return pane.channel


def _fitted(channels: list[list[Pane]], width: int, height: int) -> tuple[int, int]:
    """The size of cells, and of how many channels the windows are shown, the first ones.

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
    """How many windows of a channel are beside one another; 0: not even one."""
    return (width + _GAP) // (panes[0].cells.shape[1] * cell + 1 + _GAP)


def _height(panes: list[Pane], cell: int, width: int) -> float:
    across = _across(panes, cell, width)
    if not across:
        return math.inf
    part = _PART if panes[0].part else 0
    return _TITLE + -(-len(panes) // across) * (panes[0].cells.shape[0] * cell + part + _BELOW)


def _draw_channel(surface: Any, panes: list[Pane], y: int, cell: int, pad: int) -> int:
    """The windows of a channel; where they end."""
    write(surface, panes[0].channel, 12, FAINT_INK, (pad, y), pad)
    y += _TITLE
    across = _across(panes, cell, surface.get_width() - 2 * pad)
    rows, cols = panes[0].cells.shape
    for first in range(0, len(panes), across):
        part = _PART if panes[0].part else 0
        for k, pane in enumerate(panes[first : first + across]):
            x = pad + k * (cols * cell + 1 + _GAP)
            if part:
                room = cols * cell + _GAP - 3
                words = pane.part if fits(pane.part, 11, room) else pane.part.split()[-1]
                words = shortened(words, 11, room)
                surface.blit(text(words, 11, FAINT_INK), (x, y))
            _draw_pane(surface, pane, x, y + part, cell)
        y += part + rows * cell + _BELOW
    return y


def _draw_pane(surface: Any, pane: Pane, left: int, top: int, cell: int) -> None:
    """A window, cell by cell."""
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


def _draw_cell(surface: Any, label: int, found: Any, corner: Any, cell: int, inner: int) -> None:
    """What has a label; masked cells are hatched, those out of bounds are dark."""
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


def _draw_shade(surface: Any, cells: np.ndarray, at: Any, corner: Any, inner: int) -> None:
    """A number: the larger, the darker."""
    low, high = float(np.nanmin(cells)), float(np.nanmax(cells))
    value = float(cells[at])
    share = (value - low) / (high - low) if high > low and np.isfinite(value) else 0.0
    level = round(250 - 170 * share)
    surface.fill((level, level, level), (*corner, inner, inner))
    if inner >= 16:
        _put_number(surface, f"{value:.2g}", corner, inner, INK if share < 0.6 else _EMPTY)


def _put_number(surface: Any, words: str, corner: Any, inner: int, color: Any) -> None:
    number = text(words, max(7, inner // 2 if len(words) < 3 else inner // 3), color)
    middle = corner[0] + inner // 2, corner[1] + inner // 2
    surface.blit(number, number.get_rect(center=middle))


def _draw_legend(surface: Any, y: int, pad: int) -> None:
    surface.blit(hatching(11, _HATCH, _EMPTY), (pad, y + 1))
    masked = text("masked", 12, FAINT_INK)
    surface.blit(masked, (pad + 16, y))
    x = pad + 16 + masked.get_width() + 14
    surface.fill(_OUTSIDE, (x, y + 1, 11, 11))
    surface.blit(text("out of bounds", 12, FAINT_INK), (x + 16, y))
