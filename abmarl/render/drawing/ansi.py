"""A scene as text with colours, for terminals."""

import os

import numpy as np

from abmarl.render.colors import RGB
from abmarl.render.scenes.appearance import marker_text
from abmarl.render.scenes.scene import Scene

# The characters nearest to matplotlib's markers.
_SYMBOLS = {
    "o": "●", ".": "•", ",": "·", "s": "■", "^": "▲", "v": "▼", "<": "◀", ">": "▶", "D": "◆",
    "d": "♦", "p": "⬟", "h": "⬢", "H": "⬢", "8": "⬢", "*": "★", "P": "✚", "X": "✖", "+": "+",
    "x": "x", "|": "|", "_": "_", "1": "Y", "2": "⅄", "3": "≺", "4": "≻",
}  # fmt: skip
_WALL, _EMPTY = "█", "·"
# The colours of pictures, also on a dark terminal, where blue on black could not be read.
_GROUND: RGB = (250, 249, 246)
_FAINT: RGB = (196, 193, 185)
_RESET = "\x1b[0m"


def ansi_text(scene: Scene, color: bool | None = None) -> str:
    """Return the scene as text: a line per row, two characters per cell, the score below.

    The first character is the newest agent's symbol in its colour, the second one says how many
    share the cell (``+``: more than nine). Walls fill their cells.

    Args:
        scene: what to write.
        color: whether with colours (24-bit SGR escapes); None: unless the environment has
            ``NO_COLOR``, not empty (no-color.org).
    """
    color = not os.environ.get("NO_COLOR") if color is None else color
    cells: dict[tuple[int, int], list[int]] = {}
    for slot in np.flatnonzero(scene.alive).tolist():
        cells.setdefault((int(scene.row[slot]), int(scene.col[slot])), []).append(slot)
    lines = []
    for row in range(scene.rows):
        parts = [(" ", _FAINT)]
        for col in range(scene.cols):
            parts.append(_cell(scene, cells.get((row, col), [])))
        lines.append(_colored(parts, _GROUND) if color else "".join(words for words, _ in parts))
    return "\n".join([*lines, _score(scene, color)])


def _cell(scene: Scene, slots: list[int]) -> tuple[str, RGB]:
    if not slots:
        return f"{_EMPTY} ", _FAINT
    slot = slots[-1]
    look = scene.looks[scene.look[slot]]
    if scene.blocking[slot] and look.shape == "s":
        return 2 * _WALL, look.color
    count = len(slots)
    mark = " " if count == 1 else str(count) if count <= 9 else "+"
    return (_SYMBOLS.get(look.shape) or (marker_text(look.shape) or "?")[0]) + mark, look.color


def _colored(parts: list[tuple[str, RGB]], ground: RGB | None = None) -> str:
    """Colour parts of a line, with an escape only where the colour changes."""
    found = [] if ground is None else [f"\x1b[48;2;{ground[0]};{ground[1]};{ground[2]}m"]
    last = None
    for words, color in parts:
        if color != last:
            found.append(f"\x1b[38;2;{color[0]};{color[1]};{color[2]}m")
        found.append(words)
        last = color
    return "".join([*found, _RESET])


def _score(scene: Scene, color: bool) -> str:
    parts = [] if scene.step is None else [f"step {scene.step}"]
    for team in scene.team_counts():
        dot = _colored([("●", team.color)]) if color else "●"
        parts.append(f"{dot} {team.name} {team.alive}/{team.total}")
    return "  ".join([*parts, scene.title] if scene.title else parts)
