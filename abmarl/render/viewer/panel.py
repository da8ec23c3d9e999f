"""The panel beside the grid: who an agent is and what it sees."""

from typing import Any

from abmarl.extras import load
from abmarl.render.drawing.lines import wrapped, write
from abmarl.render.drawing.sprites import FAINT_INK, INK, agent_sprite, team_color, text
from abmarl.render.scenes.scene import Scene
from abmarl.render.viewer.panes import draw_observed
from abmarl.render.viewer.shows import Observed

pygame = load("pygame")

PANEL_WIDTH = 280
_GROUND, _LINE = (255, 255, 255), (214, 211, 203)
_PAD, _LABEL = 16, 84


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
    write(surface, scene.ids[slot], 18, INK, (x, _PAD + 4), _PAD)
    y = _PAD + 40
    room = surface.get_width() - _LABEL - 2 * _PAD
    for label, words in facts:
        surface.blit(text(label, 13, FAINT_INK), (_PAD, y))
        for line in wrapped(words, 13, room):
            surface.blit(text(line, 13, INK), (_PAD + _LABEL, y))
            y += 20
    if observed is not None:
        draw_observed(surface, observed, y + 14, _PAD)
