"""The keys of the viewer, and the box that lists them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from abmarl.extras import load
from abmarl.render.drawing.sprites import FAINT_INK, INK, text

pygame = load("pygame")


class Control(NamedTuple):
    """A control of the viewer.

    Attributes:
        keys: names of the keys, as `key_name` gives them.
        action: the method of the viewer.
        words: what it does.
        needs: what the show must have: ``"several"`` worlds, ``"can_reset"``, a ``"pace"``, or ""
            for nothing.
    """

    keys: tuple[str, ...]
    action: str
    words: str
    needs: str = ""


CONTROLS = (
    Control(("space", "p"), "pause", "pause, go on", "pace"),
    Control(("n", "."), "one_step", "one step", "pace"),
    Control(("-",), "slower", "slower", "pace"),
    Control(("+", "="), "faster", "faster", "pace"),
    Control(("r",), "reset", "start anew", "can_reset"),
    Control(("]", "page down"), "next_world", "next world", "several"),
    Control(("[", "page up"), "previous_world", "previous world", "several"),
    Control(("tab",), "next_agent", "next agent"),
    Control(("f",), "follow", "follow the chosen agent"),
    Control(("0", "home"), "fit", "show the whole grid"),
    Control(("h", "?"), "help", "these keys"),
    Control(("escape", "q"), "quit", "close the window"),
)
_MOUSE = (
    ("click", "choose an agent"),
    ("drag", "move the grid"),
    ("wheel", "zoom"),
)
_LINE, _PAD = 21, 18


def key_name(event: Any) -> str:
    """What a key is called: its character where it has one, in lower case, else its name."""
    character = getattr(event, "unicode", "")
    if len(character) == 1 and character.isprintable() and character != " ":
        return character.lower()
    return pygame.key.name(event.key)


def draw_help(
    surface: Any, middle: tuple[int, int], controls: Iterable[Control],
    more: Iterable[tuple[str, str]],
) -> None:  # fmt: skip
    """Draw a box with the keys.

    Args:
        surface: where.
        middle: of the box, which stays on the surface.
        controls: those of the viewer.
        more: keys of whoever else listens, and what they do.
    """
    lines = [*more]
    lines += [(_shown(one.keys), one.words) for one in controls]
    known = {keys for keys, _ in lines}
    lines += [(gesture, words) for gesture, words in _MOUSE if gesture not in known]
    pairs = [(text(keys, 14, INK), text(words, 14, FAINT_INK)) for keys, words in lines]
    left = max(keys.get_width() for keys, _ in pairs)
    width = left + 16 + max(words.get_width() for _, words in pairs) + 2 * _PAD
    box = pygame.Rect(0, 0, width, len(pairs) * _LINE + 2 * _PAD - 6)
    box.center = middle
    box = box.clamp(surface.get_rect())
    back = pygame.Surface(box.size, pygame.SRCALPHA, 32)
    pygame.draw.rect(back, (255, 255, 255, 250), back.get_rect(), border_radius=10)
    pygame.draw.rect(back, (*FAINT_INK, 255), back.get_rect(), 1, border_radius=10)
    for number, (keys, words) in enumerate(pairs):
        y = _PAD + number * _LINE
        back.blit(keys, (_PAD, y))
        back.blit(words, (_PAD + left + 16, y))
    surface.blit(back, box)


def _shown(keys: tuple[str, ...]) -> str:
    names = {"escape": "esc"}
    return "  ".join(names.get(key, key) for key in keys if key not in ("=", "?"))
