"""A scene as text with colours, for terminals."""

import os

import numpy as np

from abmarl.render.colors import RGB
from abmarl.render.scene import Scene

# What comes nearest to matplotlib's markers.
_SYMBOLS = {
    "o": "●", ".": "•", ",": "·", "s": "■", "^": "▲", "v": "▼", "<": "◀", ">": "▶", "D": "◆",
    "d": "♦", "p": "⬟", "h": "⬢", "H": "⬢", "8": "⬢", "*": "★", "P": "✚", "X": "✖", "+": "+",
    "x": "x", "|": "|", "_": "_", "1": "Y", "2": "⅄", "3": "≺", "4": "≻",
}  # fmt: skip
_WALL, _EMPTY = "█", "·"
_FAINT: RGB = (140, 138, 132)
_RESET = "\x1b[0m"


def text(scene: Scene, color: bool | None = None) -> str:
    """The scene as text: a line per row, two characters per cell, the score below.

    The first character is the newest agent's symbol in its colour, the second one says how many
    share the cell (``+``: more than nine). Walls fill their cells.

    Args:
        scene: what to write.
        color: whether with colours (24-bit SGR escapes); None: unless the environment has
            ``NO_COLOR`` (no-color.org).
    """
    color = "NO_COLOR" not in os.environ if color is None else color

    def painted(words: str, rgb: RGB) -> str:
        return f"\x1b[38;2;{rgb[0]};{rgb[1]};{rgb[2]}m{words}{_RESET}" if color else words

    cells: dict[tuple[int, int], list[int]] = {}
    for slot in np.flatnonzero(scene.alive).tolist():
        cells.setdefault((int(scene.row[slot]), int(scene.col[slot])), []).append(slot)
    blank = painted(_EMPTY, _FAINT) + " "
    edge = painted("+" + "-" * (2 * scene.cols + 1) + "+", _FAINT)
    side = painted("|", _FAINT)
    lines = [edge]
    for row in range(scene.rows):
        parts = []
        for col in range(scene.cols):
            slots = cells.get((row, col))
            parts.append(blank if slots is None else _cell(scene, slots, painted))
        lines.append(f"{side} {''.join(parts)}{side}")
    lines.append(edge)
    lines.append(_score(scene, painted))
    return "\n".join(lines)


def _cell(scene: Scene, slots: list[int], painted) -> str:
    slot = slots[-1]
    look = scene.looks[scene.look[slot]]
    if scene.blocking[slot] and look.shape == "s":
        return painted(2 * _WALL, look.color)
    count = len(slots)
    mark = " " if count == 1 else str(count) if count <= 9 else "+"
    return painted(_SYMBOLS.get(look.shape, "?") + mark, look.color)


def _score(scene: Scene, painted) -> str:
    parts = [] if scene.step is None else [f"step {scene.step}"]
    parts += [
        f"{painted('●', tally.color)} {tally.name} {tally.alive}/{tally.total}"
        for tally in scene.tallies()
    ]
    return "  ".join([*parts, painted(scene.title, _FAINT)] if scene.title else parts)
