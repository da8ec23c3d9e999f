"""Frames around agents that somebody plays."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from abmarl.extras import load
from abmarl.render.colors import RGB
from abmarl.render.drawing.crowds import place_agents
from abmarl.render.drawing.layout import Layout
from abmarl.render.drawing.sprites import text
from abmarl.render.scenes.scene import Scene

pygame = load("pygame")

# Of the people at a keyboard; agents have such colours only when their author wants it.
PERSON_COLORS: tuple[RGB, ...] = ((214, 0, 150), (0, 150, 160))
_SMALLEST = 9  # pixels, so that it is found on a large grid


class Mark(NamedTuple):
    """An agent to be marked.

    Attributes:
        slot: its number.
        color: of its frame.
        label: what stands at the frame, or "".
    """

    slot: int
    color: RGB
    label: str = ""


def draw_marks(scene: Scene, surface: Any, plan: Layout, marks: Sequence[Mark]) -> None:
    """Frame the agents that live, each where it stands in its cell."""
    rows, cols = plan.shown(scene.rows, scene.cols)
    placed = place_agents(scene, rows, cols, [mark.slot for mark in marks])
    for mark in marks:
        found = np.flatnonzero(placed.slots == mark.slot)
        if not len(found):
            continue
        k = int(found[0])
        scale = float(placed.scales[placed.share[k]])
        side = max(round(scale * plan.cell) - 3, _SMALLEST)
        x = plan.left + (int(scene.col[mark.slot]) + 0.5 + float(placed.dx[k])) * plan.cell
        y = plan.top + (int(scene.row[mark.slot]) + 0.5 + float(placed.dy[k])) * plan.cell
        frame = pygame.Rect(0, 0, side, side)
        frame.center = round(x), round(y)
        width = 3 if side >= 30 else 2
        pygame.draw.rect(surface, mark.color, frame, width, border_radius=max(2, side // 8))
        if mark.label:
            _draw_label(surface, mark, frame)


def _draw_label(surface: Any, mark: Mark, frame: Any) -> None:
    """A tag at the upper left corner."""
    words = text(mark.label, min(max(frame.width // 5, 10), 14), (255, 255, 255))
    tag = pygame.Rect(0, 0, words.get_width() + 6, words.get_height() + 1)
    tag.topleft = frame.topleft
    if frame.width < 2 * tag.width:
        tag.bottomright = frame.topleft
    tag.clamp_ip(surface.get_rect())
    pygame.draw.rect(surface, mark.color, tag, border_radius=3)
    surface.blit(words, words.get_rect(center=tag.center))
