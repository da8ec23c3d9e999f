"""The small surfaces that pictures are put together from, each drawn once and kept."""

import functools
import math

from abmarl.extras import load
from abmarl.render.colors import PALETTE, RGB, rgb
from abmarl.render.drawing.markers import marker
from abmarl.render.scenes.cast import Look

pygame = load("pygame")

_TEXT_SCALE = 3
INK, FAINT_INK = (52, 52, 58), (140, 138, 132)
_BAR_BACK = (70, 70, 74)
_USUAL_SIZE, _USUAL_DIAMETER = 200.0, 0.62  # render_size 200 takes 62 percent of the cell


def team_color(number: int) -> RGB:
    """The colour in which agents of a team are outlined."""
    return rgb(PALETTE[(number - 1) % len(PALETTE)])


@functools.lru_cache(maxsize=4096)
def agent_sprite(look: Look, cell: int, scale: float, solid: bool, team: RGB | None):
    """An agent in a cell of so many pixels; ``scale`` is below 1 where it shares the cell."""
    diameter = _part(look) * scale * cell
    if cell < 12:
        diameter = min(1.3 * diameter, 0.92 * scale * cell)
    outline = team if cell >= 8 else None
    return marker(look.shape, look.color, diameter, (cell - 1) % 2 == 1, solid, outline)


def _part(look: Look) -> float:
    """How much of a cell a marker takes; it never leaves its cell by much."""
    part = _USUAL_DIAMETER * math.sqrt(look.size / _USUAL_SIZE)
    return min(max(part, 0.12), 0.92)


@functools.lru_cache(maxsize=1024)
def ghost_sprite(look: Look, cell: int, left: float):
    """What is left of an agent that has died: paler by and by, and crossed out."""
    body = agent_sprite(look, cell, 1.0, False, None)
    side = body.get_width()
    ghost = pygame.Surface((side, side), pygame.SRCALPHA, 32)
    ghost.blit(body, (0, 0))
    if cell >= 8:
        arm, middle = 0.2 * cell, (side - 1) / 2
        width = max(2, round(0.07 * cell))
        for up in (-1, 1):
            ends = (middle - arm, middle + up * arm), (middle + arm, middle - up * arm)
            pygame.draw.line(ghost, INK, *ends, width)
    ghost.fill((255, 255, 255, round(255 * 0.8 * left)), special_flags=pygame.BLEND_RGBA_MULT)
    return ghost


@functools.lru_cache(maxsize=512)
def nose(look: Look, cell: int, scale: float, way: int):
    """A wedge that points where an agent looks: 1 left, 2 down, 3 right, 4 up.

    It is as large as the cell, so that it goes to the cell's upper left corner.
    """
    large = pygame.Surface((4 * cell, 4 * cell), pygame.SRCALPHA, 32)
    large.fill((*INK, 0))
    radius, length, width = 2 * _part(look) * scale * cell, 0.44 * scale * cell, 0.5 * scale * cell
    angle = {1: math.pi, 2: math.pi / 2, 3: 0.0, 4: -math.pi / 2}[way]
    sin, cos = math.sin(angle), math.cos(angle)
    corners = [(radius + length, 0.0), (radius - length, width), (radius - length, -width)]
    middle = 2 * cell - 2
    points = [(middle + x * cos - y * sin, middle + x * sin + y * cos) for x, y in corners]
    pygame.draw.polygon(large, INK, points)
    return pygame.transform.smoothscale(large, (cell, cell))


@functools.lru_cache(maxsize=1024)
def health_bar(width: int, height: int, filled: int):
    """A bar of which so many of ``width - 2`` pixels are filled."""
    share = filled / (width - 2)
    color = (46, 160, 80) if share > 0.6 else (235, 160, 30) if share > 0.3 else (214, 52, 52)
    bar = pygame.Surface((width, height), 0, 32)
    bar.fill(_BAR_BACK)
    bar.fill(color, (1, 1, filled, height - 2))
    return bar


@functools.lru_cache(maxsize=256)
def count_badge(count: int, height: int):
    """How many agents share a cell."""
    label = text(str(count), height, (255, 255, 255))
    badge = pygame.Surface((label.get_width() + 6, label.get_height()), pygame.SRCALPHA, 32)
    box = badge.get_rect()
    pygame.draw.rect(badge, (*INK, 230), box, border_radius=box.height // 3)
    badge.blit(label, (3, 0))
    return badge


@functools.lru_cache(maxsize=64)
def burst(cell: int, color: RGB):
    """Where an attack hits: a small star."""
    return marker("*", color, max(5.0, 0.34 * cell), (cell - 1) % 2 == 1, False)


@functools.lru_cache(maxsize=64)
def hatching(side: int, color: RGB, ground: RGB):
    """A cell that is masked."""
    surface = pygame.Surface((side, side), 0, 32)
    surface.fill(ground)
    stride = max(4, side // 4)
    for start in range(-side, side, stride):
        pygame.draw.line(surface, color, (start, side), (start + side, 0))
    return surface


@functools.lru_cache(maxsize=1024)
def text(words: str, height: int, color: RGB):
    """A line of text."""
    # Surfaces outlive pygame.quit(), fonts do not: only surfaces are kept.
    if not pygame.font.get_init():
        pygame.font.init()
    # Drawn large and scaled down: pygame sets small letters a whole pixel too near or too far.
    # SDL crashes when it scales what has no width.
    font = pygame.font.Font(None, round(1.35 * height * _TEXT_SCALE))
    large = font.render(words or " ", True, color)
    width, height = (max(1, round(side / _TEXT_SCALE)) for side in large.get_size())
    return pygame.transform.smoothscale(large, (width, height))
