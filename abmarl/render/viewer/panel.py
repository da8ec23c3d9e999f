"""The panel beside the grid: who an agent is and what it sees."""

from typing import Any

from abmarl.extras import load
from abmarl.render.drawing.sprites import FAINT_INK, INK, agent_sprite, hatching, team_color, text
from abmarl.render.scenes.scene import Scene
from abmarl.render.viewer.shows import Observed

pygame = load("pygame")

PANEL_WIDTH = 280
_GROUND, _LINE = (255, 255, 255), (214, 211, 203)
_EMPTY, _OUTSIDE, _HATCH = (250, 249, 246), (120, 122, 130), (150, 152, 160)
_PAD, _LABEL = 16, 84
_LARGEST_CELL = 44


def draw_panel(
    surface: Any, scene: Scene, slot: int, facts: list[tuple[str, str]], observed: Observed | None
) -> None:
    """Draw the panel over the whole of a surface.

    Args:
        surface: where.
        scene: what the agent is part of.
        slot: its number.
        facts: what to tell about it.
        observed: what it observes, if that is known.
    """
    surface.fill(_GROUND)
    pygame.draw.line(surface, _LINE, (0, 0), (0, surface.get_height()))
    team = team_color(int(scene.team[slot])) if scene.outlined else None
    look, solid = scene.looks[scene.look[slot]], bool(scene.blocking[slot])
    sprite = agent_sprite(look._replace(size=200.0), 36, 1.0, solid, team)
    surface.blit(sprite, (_PAD, _PAD + 12 - sprite.get_height() // 2))
    x = _PAD + sprite.get_width() + 8
    _write(surface, scene.ids[slot], 18, INK, (x, _PAD + 4))
    y = _PAD + 40
    for label, words in facts:
        surface.blit(text(label, 13, FAINT_INK), (_PAD, y))
        for line in _wrapped(words, surface.get_width() - _PAD - _LABEL - 8):
            surface.blit(text(line, 13, INK), (_PAD + _LABEL, y))
            y += 20
    if observed is not None:
        _draw_observed(surface, observed, y + 14)


def _draw_observed(surface: Any, observed: Observed, y: int) -> None:
    """The window, cell by cell; masked ones are hatched, those out of bounds are dark."""
    surface.blit(text("what it sees", 15, INK), (_PAD, y))
    name = observed.channel.replace("_", " ")
    y += 20
    _write(surface, name, 12, FAINT_INK, (_PAD, y))
    y += 20
    rows, cols = observed.labels.shape
    room = surface.get_width() - 2 * _PAD, surface.get_height() - y - _PAD - 22
    cell = min(room[0] // cols, room[1] // rows, _LARGEST_CELL)
    if cell < 1:
        return
    inner = max(cell - 1, 1)
    for row in range(rows):
        for col in range(cols):
            label = int(observed.labels[row, col])
            corner = _PAD + col * cell + 1, y + row * cell + 1
            _draw_cell(surface, label, observed.looks.get(label), corner, cell, inner)
    pygame.draw.rect(surface, _LINE, (_PAD, y, cols * cell + 1, rows * cell + 1), 1)
    _legend(surface, y + rows * cell + 8)


def _draw_cell(surface: Any, label: int, found: Any, corner: Any, cell: int, inner: int) -> None:
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
            words = text(str(label), max(7, cell // 2), INK)
            surface.blit(
                words, words.get_rect(center=(corner[0] + inner // 2, corner[1] + inner // 2))
            )


def _legend(surface: Any, y: int) -> None:
    surface.blit(hatching(11, _HATCH, _EMPTY), (_PAD, y + 1))
    masked = text("masked", 12, FAINT_INK)
    surface.blit(masked, (_PAD + 16, y))
    x = _PAD + 16 + masked.get_width() + 14
    surface.fill(_OUTSIDE, (x, y + 1, 11, 11))
    surface.blit(text("out of bounds", 12, FAINT_INK), (x + 16, y))


def _write(surface: Any, words: str, height: int, color: Any, at: tuple[int, int]) -> None:
    """A line that is cut where the surface ends."""
    line = text(words, height, color)
    room = surface.get_width() - at[0] - 6
    while line.get_width() > room and len(words) > 4:
        words = words[:-1]
        line = text(f"{words}...", height, color)
    surface.blit(line, at)


def _wrapped(words: str, room: int) -> list[str]:
    """Lines that fit, of whole words."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text(longer, 13, INK).get_width() > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
