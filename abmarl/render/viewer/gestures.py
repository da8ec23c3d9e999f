"""Keys, clicks, drags and the wheel: what a person does to a viewer."""

from typing import Any

from abmarl.extras import load
from abmarl.render.viewer.controls import key_name

pygame = load("pygame")

_BUTTONS = (1, 2, 3)  # the higher ones are the wheel once more
_CLICK = 4  # pixels that the mouse may move between press and release


class Gestures:
    """Makes calls of a `Viewer` and its hands and strips out of pygame's events.

    Args:
        viewer: the viewer.
    """

    def __init__(self, viewer: Any):
        self._viewer = viewer
        self._pressed: tuple[str, Any] | None = None
        self._mouse = viewer.view.size[0] // 2, viewer.view.size[1] // 2

    def listen(self, events: list) -> None:
        """React to events until the viewer is closed."""
        for event in events:
            if self._viewer.closed:
                return
            self.handle(event)

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
            self._press(event.pos, event.button)
        elif event.type == pygame.MOUSEMOTION:
            self._mouse = event.pos
            self._drag(event)
            return
        elif event.type == pygame.MOUSEBUTTONUP and event.button in _BUTTONS:
            self._release(event.pos, event.button)
        self._viewer.stale = True

    def _key(self, name: str, down: bool) -> None:
        listener = getattr(self._viewer.hands, "key", None)
        if (listener is not None and listener(name, down)) or not down:
            return
        for control in self._viewer.controls:
            if name in control.keys:
                getattr(self._viewer, control.action)()
                return

    def _press(self, place: tuple[int, int], button: int) -> None:
        strip = self._viewer.canvas.strip_at(place)
        self._pressed = ("strip", strip) if strip is not None else ("map", place)
        if strip is not None:
            self._click_strip(place)

    def _drag(self, event: Any) -> None:
        if self._pressed is None or not any(event.buttons):
            return
        kind, start = self._pressed
        if kind == "strip":
            self._click_strip(event.pos)
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
        pressed, self._pressed = self._pressed, None
        if pressed is None or pressed[0] != "map":
            return
        cell = self._viewer.view.cell_at(*place) if self._viewer.canvas.on_map(place) else None
        if cell is None:
            beside = getattr(self._viewer.hands, "beside", None)
            if self._viewer.canvas.on_map(place) and (beside is None or not beside(button)):
                self._viewer.chosen = None
            return
        listener = getattr(self._viewer.hands, "cell", None)
        if listener is None or not listener(*cell, button):
            self._choose_at(*cell)

    def _click_strip(self, place: tuple[int, int]) -> None:
        strip, x, width = self._viewer.canvas.in_strip(self._pressed[1], place)
        if hasattr(strip, "click"):
            strip.click(x, width)

    def _choose_at(self, row: int, col: int) -> None:
        """The first agent of a cell; the next one of it when one is chosen already."""
        slots = self._viewer.show.scene(self._viewer.world).agents_at(row, col)
        if self._viewer.chosen in slots:
            self._viewer.chosen = slots[(slots.index(self._viewer.chosen) + 1) % len(slots)]
        else:
            self._viewer.chosen = slots[0] if slots else None
        if self._viewer.chosen is None:
            self._viewer.following = False
