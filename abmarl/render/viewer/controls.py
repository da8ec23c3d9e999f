"""What a person does to a viewer: keys and the box that lists them, clicks, drags, the wheel."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from abmarl.render.drawing.agents import Highlight
from abmarl.render.drawing.library import pygame
from abmarl.render.drawing.text import FAINT_INK, INK, text_image


class Control(NamedTuple):
    """A control of the viewer.

    Attributes:
        keys: names of the keys, as `key_name` returns them.
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
    Control(("r",), "reset", "start over", "can_reset"),
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
_BUTTONS = (1, 2, 3)  # the higher ones are the wheel once more
_CLICK = 4  # pixels that the mouse may move between press and release


class InputHandler:
    """Reacts to keys and clicks before a `Viewer` does, as for a player. Override what it needs.

    Attributes:
        viewer: the `Viewer`, which sets it.
        help_lines: pairs of keys and what they do, for the viewer's help.
        reserved_keys: names of keys that the viewer's own controls leave out.
    """

    viewer: Any = None
    help_lines: Sequence[tuple[str, str]] = ()
    reserved_keys: frozenset[str] = frozenset()

    def on_key(self, name: str, down: bool) -> bool:
        """React to a key, named as by `key_name`, that was pressed or let go.

        Returns:
            Whether it was dealt with; else the viewer reacts.
        """
        return False

    def on_cell(self, row: int, col: int, button: int) -> bool:
        """React to a click at a cell; the result is as of `on_key`."""
        return False

    def on_outside(self, button: int) -> bool:
        """React to a click at the map outside of the grid; the result is as of `on_key`."""
        return False

    def highlights(self) -> Sequence[Highlight]:
        """Return the agents that are to be framed."""
        return ()


class Events:
    """Turns pygame's events into calls of a `Viewer`, its input handler and its widgets.

    Args:
        viewer: the viewer.
    """

    def __init__(self, viewer: Any) -> None:
        self._viewer = viewer
        self._pressed: tuple[str, Any] | None = None
        self._mouse = viewer.view.size[0] // 2, viewer.view.size[1] // 2

    def handle(self, event: Any) -> None:
        """React to an event of pygame."""
        if event.type == pygame.QUIT:
            self._viewer.close()
        elif event.type in (pygame.KEYDOWN, pygame.KEYUP):
            self._key(key_name(event), event.type == pygame.KEYDOWN)
        elif event.type == pygame.MOUSEWHEEL:
            if not event.y:  # sideways
                return
            self._viewer.view.zoom(event.y, *self._mouse)
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button in _BUTTONS:
            self._press(event.pos)
        elif event.type == pygame.MOUSEMOTION:
            self._mouse = event.pos
            self._drag(event)
            return
        elif event.type == pygame.MOUSEBUTTONUP and event.button in _BUTTONS:
            self._release(event.pos, event.button)
        self._viewer.stale = True

    def _key(self, name: str, down: bool) -> None:
        viewer = self._viewer
        if viewer.input_handler.on_key(name, down) or not down:
            return
        for control in viewer.controls:
            if name in control.keys:
                getattr(viewer, control.action)()
                return

    def _press(self, place: tuple[int, int]) -> None:
        number = self._viewer.canvas.widget_at(place)
        self._pressed = ("map", place) if number is None else ("widget", number)
        if number is not None:
            self._viewer.canvas.click_widget(number, place)

    def _drag(self, event: Any) -> None:
        if self._pressed is None or not any(event.buttons):
            return
        kind, start = self._pressed
        if kind == "widget":
            self._viewer.canvas.click_widget(start, event.pos)
        elif kind == "drag" or max(abs(event.pos[k] - start[k]) for k in (0, 1)) > _CLICK:
            if kind == "map":
                dx, dy = event.pos[0] - start[0], event.pos[1] - start[1]
            else:
                dx, dy = event.rel
            self._pressed = "drag", start
            self._viewer.following = False
            self._viewer.view.pan(dx, dy)
        self._viewer.stale = True

    def _release(self, place: tuple[int, int], button: int) -> None:
        viewer = self._viewer
        pressed, self._pressed = self._pressed, None
        if pressed is None or pressed[0] != "map" or not viewer.canvas.on_map(place):
            return
        cell = viewer.view.cell_at(*place)
        if cell is None:
            if not viewer.input_handler.on_outside(button):
                viewer.chosen = None
        elif not viewer.input_handler.on_cell(*cell, button):
            viewer.choose_at(*cell)


def key_name(event: Any) -> str:
    """Return what a key is called: its character where it has one, in lower case, else its name."""
    character = getattr(event, "unicode", "")
    if len(character) == 1 and character.isprintable() and character != " ":
        return character.lower()
    return pygame.key.name(event.key)


def draw_help(
    surface: pygame.Surface, middle: tuple[int, int], controls: Iterable[Control],
    more: Iterable[tuple[str, str]],
) -> None:  # fmt: skip
    """Draw a box with the keys of the viewer, and before them `more` keys and what they do."""
    lines = [*more]
    lines += [(_keys_text(one.keys), one.words) for one in controls]
    known = {keys for keys, _ in lines}
    lines += [(gesture, words) for gesture, words in _MOUSE if gesture not in known]
    pairs = [(text_image(keys, 14, INK), text_image(words, 14, FAINT_INK)) for keys, words in lines]
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


def _keys_text(keys: tuple[str, ...]) -> str:
    return "  ".join("esc" if key == "escape" else key for key in keys if key not in ("=", "?"))
