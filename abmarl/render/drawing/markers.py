"""matplotlib's markers as small anti-aliased surfaces.

A marker lives in the square from -1 to 1, x to the right and y *down* as on the screen. It is
either an area (a polygon) or a set of strokes.
"""

import functools
import math

from abmarl.extras import load
from abmarl.render.colors import RGB
from abmarl.render.scenes.shapes import check_shape, text_of

pygame = load("pygame")

Point = tuple[float, float]

_SUPERSAMPLING = 4
_OUTLINE = (38, 38, 44)


def _ring(count: int, start: float = -90.0, radius: float = 1.0) -> list[Point]:
    """Corners of a regular polygon; `start` is the first one's angle, -90 pointing up."""
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
) -> "pygame.Surface":
    """Draw a marker once; the same arguments give the same surface.

    Args:
        shape: one of `abmarl.render.scenes.shapes.SHAPES`, or short text between dollars.
        color: of its inside.
        diameter: of a circle of this size, in pixels.
        odd: whether the surface has an odd side, so that it can be centred in its cell.
        solid: a thick dark outline instead of a thin one in the marker's own hue.
        outline: colour of a thick outline, None: as `solid` says.

    Returns:
        A square surface with alpha, the marker in its middle.

    Raises:
        ValueError: no such marker.
    """
    check_shape(shape)
    if diameter < 3:
        return _dot(color, diameter, odd)
    edge = max(1.0, diameter * (0.045 if outline is None and not solid else 0.09))
    side = math.ceil(1.25 * diameter + 2 * edge) + 1
    side += side % 2 != odd
    if outline is None:
        outline = _OUTLINE if solid else tuple(int(0.62 * channel) for channel in color)
    large = pygame.Surface((side * _SUPERSAMPLING,) * 2, pygame.SRCALPHA, 32)
    # Transparent pixels carry the outline's colour: scaling down mixes channels one by one.
    large.fill((*outline, 0))
    scale, middle = diameter / 2 * _SUPERSAMPLING, (side * _SUPERSAMPLING - 1) / 2

    def pixels(points):
        return [(middle + scale * x, middle + scale * y) for x, y in points]

    width = edge * _SUPERSAMPLING
    if shape in _AREAS:
        corners = pixels(_AREAS[shape])
        for start, end in zip(corners, corners[1:] + corners[:1], strict=True):
            _stroke(large, outline, start, end, width)
        pygame.draw.polygon(large, color, corners)
    elif words := text_of(shape):
        _letters(large, words, color, outline, round(2 * scale), round(width))
    else:
        strokes = [pixels(stroke) for stroke in _STROKES[shape]]
        body = max(2.0 * _SUPERSAMPLING, 0.22 * diameter * _SUPERSAMPLING)
        for start, end in strokes:
            _stroke(large, outline, start, end, body + width)
        for start, end in strokes:
            _stroke(large, color, start, end, body)
    return pygame.transform.smoothscale(large, (side, side))


def _stroke(surface, color: RGB, start: Point, end: Point, width: float) -> None:
    """A line with round ends; pygame's own thick lines have slanted ones."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy)
    nx, ny = -dy / length * width / 2, dx / length * width / 2
    corners = [(start[0] + nx, start[1] + ny), (end[0] + nx, end[1] + ny)]
    corners += [(end[0] - nx, end[1] - ny), (start[0] - nx, start[1] - ny)]
    pygame.draw.polygon(surface, color, corners)
    for point in (start, end):
        pygame.draw.circle(surface, color, point, width / 2)


def _letters(surface, words: str, color: RGB, outline: RGB, side: int, width: int) -> None:
    """Text with an outline, as large as fits in a square in the middle of a surface."""
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


def _dot(color: RGB, diameter: float, odd: bool):
    """A few pixels have no room for a shape."""
    side = max(1, round(diameter))
    side += side % 2 != odd
    dot = pygame.Surface((side, side), 0, 32)
    dot.fill(color)
    return dot
