"""Lines of text as surfaces, shortened and wrapped to fit into their place."""

import functools

from abmarl.render.colors import RGB
from abmarl.render.drawing.library import pygame

INK, FAINT_INK = (52, 52, 58), (140, 138, 132)
# Longest names to try, one after the other, until a line fits.
NAME_LENGTHS = (60, 24, 16, 11, 7)
_DOTS = "..."
_SCALE = 3


@functools.lru_cache(maxsize=1024)
def text_image(words: str, height: int, color: RGB) -> pygame.Surface:
    """Return a line of text as a surface with alpha."""
    # Surfaces outlive pygame.quit(), fonts do not: only surfaces are kept.
    if not pygame.font.get_init():
        pygame.font.init()
    # Drawn large and scaled down: pygame sets small letters a whole pixel too near or too far.
    # SDL crashes when it scales what has no width.
    font = pygame.font.Font(None, round(1.35 * height * _SCALE))
    large = font.render(words or " ", True, color)
    width, height = (max(1, round(side / _SCALE)) for side in large.get_size())
    return pygame.transform.smoothscale(large, (width, height))


def draw_text(
    surface: pygame.Surface, words: str, height: int, color: RGB, at: tuple[int, int],
    margin: int = 6,
) -> None:  # fmt: skip
    """Draw a line, shortened so that it ends before the margin of a surface."""
    room = surface.get_width() - at[0] - margin
    surface.blit(text_image(shortened(words, height, room), height, color), at)


def fits(words: str, height: int, room: int) -> bool:
    """Return whether a line is at most so many pixels wide."""
    return text_image(words, height, INK).get_width() <= room


def shortened(words: str, height: int, room: int) -> str:
    """Return a line that fits, with dots in the place of what is left out."""
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


def wrapped(words: str, height: int, room: int) -> list[str]:
    """Return lines of whole words that fit; a word that does not is shortened."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and not fits(longer, height, room):
            lines.append(word)
        else:
            lines[-1] = longer
    return [shortened(line, height, room) for line in lines]


def brief_name(name: str, most: int) -> str:
    """Shorten a name to so many characters; its end stays, where names often differ."""
    return name if len(name) <= most else f"{name[: most - 4]}..{name[-2:]}"
