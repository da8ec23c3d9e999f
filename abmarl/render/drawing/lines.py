"""Lines of text that fit into their place."""

from typing import Any

from abmarl.render.colors import RGB
from abmarl.render.drawing.sprites import INK, text

_DOTS = "..."
# Longest names to try, one after the other, until a line fits.
NAME_LENGTHS = (60, 24, 16, 11, 7)


def fits(words: str, height: int, room: int) -> bool:
    """Whether a line is at most so many pixels wide."""
    return text(words, height, INK).get_width() <= room


def shortened(words: str, height: int, room: int) -> str:
    """A line that fits, with dots in the place of what is left out."""
    if fits(words, height, room):
        return words
    least, most = 0, len(words)  # characters that fit, and one more than do
    while most - least > 1:
        middle = (least + most) // 2
        if fits(words[:middle].rstrip() + _DOTS, height, room):
            least = middle
        else:
            most = middle
    return words[:least].rstrip() + _DOTS


def brief_name(name: str, most: int) -> str:
    """A name of at most so many characters; its end stays, where names often differ."""
    return name if len(name) <= most else f"{name[: most - 4]}..{name[-2:]}"


def wrapped(words: str, height: int, room: int) -> list[str]:
    """Lines of whole words that fit; a word that does not is shortened."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and not fits(longer, height, room):
            lines.append(word)
        else:
            lines[-1] = longer
    return [shortened(line, height, room) for line in lines]


def write(
    surface: Any, words: str, height: int, color: RGB, at: tuple[int, int], margin: int = 6
) -> None:
    """Write a line, shortened so that it ends before the margin of a surface."""
    room = surface.get_width() - at[0] - margin
    surface.blit(text(shortened(words, height, room), height, color), at)
