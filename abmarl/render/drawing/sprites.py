"""The small anti-aliased surfaces that pictures are made of, each drawn once and cached.

A marker, by matplotlib's name, is drawn in the square from -1 to 1, x to the right and y *down* as
on the screen. It is either an area (a polygon) or a set of strokes.
"""

import functools
import math
from collections.abc import Iterable

from abmarl.render.colors import PALETTE, RGB, rgb
from abmarl.render.drawing.library import pygame
from abmarl.render.drawing.text import INK, text_image
from abmarl.render.scenes.appearance import Look, check_shape, marker_text

Point = tuple[float, float]

_SUPERSAMPLING = 4
_OUTLINE = (38, 38, 44)
_BAR_BACK = (70, 70, 74)
_USUAL_SIZE, _USUAL_DIAMETER = 200.0, 0.62  # render_size 200 takes 62 percent of the cell


def _ring(count: int, start: float = -90.0, radius: float = 1.0) -> list[Point]:
    """Return the corners of a regular polygon; `start` is the first one's angle, -90 is up."""
    angles = [math.radians(start + 360.0 * k / count) for k in range(count)]
    return [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]


def _star() -> list[Point]:
    outer, inner = _ring(5), _ring(5, start=-54.0, radius=0.41)
    return [corner for pair in zip(outer, inner, strict=True) for corner in pair]


def _plus(arm: float = 1 / 3) -> list[Point]:
    quarter = [(-arm, -1.0), (arm, -1.0), (arm, -arm)]
    return [corner for turns in range(4) for corner in _turned(quarter, 90.0 * turns)]


def _turned(points: list[Point], degrees: float) -> list[Point]:
    sin, cos = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    return [(x * cos - y * sin, x * sin + y * cos) for x, y in points]


_SQUARE = [(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)]
_TRIANGLE = [(0.0, -1.0), (1.0, 0.88), (-1.0, 0.88)]
_AREAS = {
    "o": _ring(48),
    ".": _ring(32, radius=0.5),
    ",": [(-0.12, -0.12), (0.12, -0.12), (0.12, 0.12), (-0.12, 0.12)],
    "s": _SQUARE,
    "^": _TRIANGLE,
    ">": _turned(_TRIANGLE, 90),
    "v": _turned(_TRIANGLE, 180),
    "<": _turned(_TRIANGLE, 270),
    "D": [(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)],
    "d": [(0.0, -1.15), (0.7, 0.0), (0.0, 1.15), (-0.7, 0.0)],
    "p": _ring(5),
    "h": _ring(6),
    "H": _ring(6, start=0.0),
    "8": _ring(8, start=22.5),
    "*": _star(),
    "P": _plus(),
    "X": [(0.92 * x, 0.92 * y) for x, y in _turned(_plus(), 45)],
}
_TRIPOD = [(0.0, 1.0), (0.87, -0.5), (-0.87, -0.5)]
_STROKES = {
    "+": [((-1.0, 0.0), (1.0, 0.0)), ((0.0, -1.0), (0.0, 1.0))],
    "x": [((-0.8, -0.8), (0.8, 0.8)), ((-0.8, 0.8), (0.8, -0.8))],
    "|": [((0.0, -1.0), (0.0, 1.0))],
    "_": [((-1.0, 0.0), (1.0, 0.0))],
    "1": [((0.0, 0.0), end) for end in _TRIPOD],
    "2": [((0.0, 0.0), end) for end in _turned(_TRIPOD, 180)],
    "3": [((0.0, 0.0), end) for end in _turned(_TRIPOD, 90)],
    "4": [((0.0, 0.0), end) for end in _turned(_TRIPOD, 270)],
}


@functools.lru_cache(maxsize=4096)
def marker(
    shape: str, color: RGB, diameter: float, odd: bool, solid: bool, outline: RGB | None = None
) -> pygame.Surface:
    """Return a marker as a surface; the same arguments give the same surface.

    Args:
        shape: one of `SHAPES`, or short text between dollars.
        color: of its inside.
        diameter: of a circle of this size, in pixels.
        odd: whether the surface has an odd side, so that it can be centred in its cell.
        solid: a thick dark outline instead of a thin one in the marker's own hue.
        outline: colour of a thick outline, None: as `solid` says.

    Returns:
        A square surface with alpha, the marker in its middle.

    Raises:
        ValueError: there is no such marker.
    """
    check_shape(shape)
    if diameter < 3:
        return _dot(color, diameter, odd)
    edge = max(1.0, diameter * (0.045 if outline is None and not solid else 0.09))
    side = math.ceil(1.25 * diameter + 2 * edge) + 1
    side += side % 2 != odd
    if outline is None:
        red, green, blue = (int(0.62 * channel) for channel in color)
        outline = _OUTLINE if solid else (red, green, blue)
    large = pygame.Surface((side * _SUPERSAMPLING,) * 2, pygame.SRCALPHA, 32)
    # Transparent pixels carry the outline's colour: scaling down mixes channels one by one.
    large.fill((*outline, 0))
    scale, middle = diameter / 2 * _SUPERSAMPLING, (side * _SUPERSAMPLING - 1) / 2

    def pixels(points: Iterable[Point]) -> list[Point]:
        return [(middle + scale * x, middle + scale * y) for x, y in points]

    width = edge * _SUPERSAMPLING
    if shape in _AREAS:
        corners = pixels(_AREAS[shape])
        for start, end in zip(corners, corners[1:] + corners[:1], strict=True):
            _stroke(large, outline, start, end, width)
        pygame.draw.polygon(large, color, corners)
    elif words := marker_text(shape):
        _letters(large, words, color, outline, round(2 * scale), round(width))
    else:
        strokes = [pixels(stroke) for stroke in _STROKES[shape]]
        body = max(2.0 * _SUPERSAMPLING, 0.22 * diameter * _SUPERSAMPLING)
        for start, end in strokes:
            _stroke(large, outline, start, end, body + width)
        for start, end in strokes:
            _stroke(large, color, start, end, body)
    return pygame.transform.smoothscale(large, (side, side))


def _stroke(surface: pygame.Surface, color: RGB, start: Point, end: Point, width: float) -> None:
    """Draw a line with round ends; pygame's own thick lines have slanted ones."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy)
    nx, ny = -dy / length * width / 2, dx / length * width / 2
    corners = [(start[0] + nx, start[1] + ny), (end[0] + nx, end[1] + ny)]
    corners += [(end[0] - nx, end[1] - ny), (start[0] - nx, start[1] - ny)]
    pygame.draw.polygon(surface, color, corners)
    for point in (start, end):
        pygame.draw.circle(surface, color, point, width / 2)


def _letters(
    surface: pygame.Surface, words: str, color: RGB, outline: RGB, side: int, width: int
) -> None:
    """Draw text with an outline, as large as fits in a square in the middle of a surface."""
    if not pygame.font.get_init():
        pygame.font.init()
    font = pygame.font.Font(None, 2 * side)
    middle = surface.get_rect().center
    for ink, reach in ((outline, width), (color, 0)):
        drawn = font.render(words, True, ink)
        drawn = drawn.subsurface(drawn.get_bounding_rect())
        part = side / max(drawn.get_size())
        drawn = pygame.transform.smoothscale_by(drawn, part)
        place = drawn.get_rect(center=middle)
        for k in range(16 if reach else 1):
            angle = math.radians(22.5 * k)
            shift = round(reach * math.cos(angle)), round(reach * math.sin(angle))
            surface.blit(drawn, place.move(shift))


def _dot(color: RGB, diameter: float, odd: bool) -> pygame.Surface:
    """Return a square for a marker of a few pixels, which has no room for a shape."""
    side = max(1, round(diameter))
    side += side % 2 != odd
    dot = pygame.Surface((side, side), 0, 32)
    dot.fill(color)
    return dot


def team_color(number: int) -> RGB:
    """Return the colour in which agents of a team are outlined."""
    return rgb(PALETTE[(number - 1) % len(PALETTE)])


@functools.lru_cache(maxsize=4096)
def agent_sprite(
    look: Look, cell: int, scale: float, solid: bool, team: RGB | None
) -> pygame.Surface:
    """Return an agent in a cell of `cell` pixels; `scale` is below 1 where it shares the cell."""
    diameter = _part(look) * scale * cell
    if cell < 12:
        diameter = min(1.3 * diameter, 0.92 * scale * cell)
    outline = team if cell >= 8 else None
    return marker(look.shape, look.color, diameter, (cell - 1) % 2 == 1, solid, outline)


def _part(look: Look) -> float:
    """Return how much of a cell a marker takes; it never leaves its cell by much."""
    part = _USUAL_DIAMETER * math.sqrt(look.size / _USUAL_SIZE)
    return min(max(part, 0.12), 0.92)


@functools.lru_cache(maxsize=1024)
def ghost_sprite(look: Look, cell: int, visible: float) -> pygame.Surface:
    """Return an agent that has died lately: crossed out, and ever paler."""
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
    ghost.fill((255, 255, 255, round(255 * 0.8 * visible)), special_flags=pygame.BLEND_RGBA_MULT)
    return ghost


@functools.lru_cache(maxsize=512)
def nose(look: Look, cell: int, scale: float, direction: int) -> pygame.Surface:
    """Return a wedge, in a square of a cell, that points where an agent looks.

    The direction is 1 left, 2 down, 3 right, 4 up.
    """
    large = pygame.Surface((4 * cell, 4 * cell), pygame.SRCALPHA, 32)
    large.fill((*INK, 0))
    radius, length, width = 2 * _part(look) * scale * cell, 0.44 * scale * cell, 0.5 * scale * cell
    angle = {1: math.pi, 2: math.pi / 2, 3: 0.0, 4: -math.pi / 2}[direction]
    sin, cos = math.sin(angle), math.cos(angle)
    corners = [(radius + length, 0.0), (radius - length, width), (radius - length, -width)]
    middle = 2 * cell - 2
    points = [(middle + x * cos - y * sin, middle + x * sin + y * cos) for x, y in corners]
    pygame.draw.polygon(large, INK, points)
    return pygame.transform.smoothscale(large, (cell, cell))


@functools.lru_cache(maxsize=1024)
def health_bar(width: int, height: int, filled: int) -> pygame.Surface:
    """Return a bar of which `filled` of ``width - 2`` pixels are filled."""
    share = filled / (width - 2)
    color = (46, 160, 80) if share > 0.6 else (235, 160, 30) if share > 0.3 else (214, 52, 52)
    bar = pygame.Surface((width, height), 0, 32)
    bar.fill(_BAR_BACK)
    bar.fill(color, (1, 1, filled, height - 2))
    return bar


@functools.lru_cache(maxsize=256)
def count_badge(count: int, height: int) -> pygame.Surface:
    """Return a badge with the number of agents that share a cell."""
    label = text_image(str(count), height, (255, 255, 255))
    badge = pygame.Surface((label.get_width() + 6, label.get_height()), pygame.SRCALPHA, 32)
    box = badge.get_rect()
    pygame.draw.rect(badge, (*INK, 230), box, border_radius=box.height // 3)
    badge.blit(label, (3, 0))
    return badge


@functools.lru_cache(maxsize=64)
def burst(cell: int, color: RGB) -> pygame.Surface:
    """Return a small star, for where an attack hits."""
    return marker("*", color, max(5.0, 0.34 * cell), (cell - 1) % 2 == 1, False)


@functools.lru_cache(maxsize=64)
def hatching(side: int, color: RGB, ground: RGB) -> pygame.Surface:
    """Return a cell that is masked."""
    surface = pygame.Surface((side, side), 0, 32)
    surface.fill(ground)
    stride = max(4, side // 4)
    for start in range(-side, side, stride):
        pygame.draw.line(surface, color, (start, side), (start + side, 0))
    return surface
