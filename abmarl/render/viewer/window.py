"""The window on the screen. The only place that touches pygame's display."""

import os
import sys
import weakref
from typing import Any

from abmarl.render.drawing.library import pygame

_open_windows: weakref.WeakSet = weakref.WeakSet()

# What SDL falls back to when there is no screen; nobody sees anything on them.
_INVISIBLE = ("dummy", "offscreen")


class NoScreenError(OSError):
    """There is no screen to open a window on."""


class Window:
    """A window that can be resized. All that are open in a process share one frame on the screen.

    Args:
        size: width and height in pixels.
        title: what stands in its frame.

    Raises:
        NoScreenError: there is no screen; says what to do instead.
    """

    def __init__(self, size: tuple[int, int], title: str) -> None:
        _init_display()
        self._title = title
        if pygame.display.get_surface() is None:
            try:
                pygame.display.set_mode(_on_screen(size), pygame.RESIZABLE)
            except pygame.error as error:
                raise _no_screen(str(error)) from None
            # Held keys repeat, for steps and zooming.
            pygame.key.set_repeat(350, 60)
        _open_windows.add(self)

    @property
    def surface(self) -> pygame.Surface:
        """The surface to draw on; another one after the window was resized."""
        return pygame.display.get_surface()

    def events(self) -> list[Any]:
        """Return the events since the last call."""
        return pygame.event.get()

    def present(self) -> None:
        """Bring what was drawn to the screen."""
        if pygame.display.get_caption()[0] != self._title:
            pygame.display.set_caption(self._title)
        pygame.display.flip()

    def close(self) -> None:
        """Close the window; the frame goes with the last one."""
        _open_windows.discard(self)
        if not _open_windows:
            pygame.display.quit()


def _init_display() -> None:
    asked = os.environ.get("SDL_VIDEODRIVER", "")
    seen = ("DISPLAY", "WAYLAND_DISPLAY")
    if sys.platform.startswith("linux") and not asked and not any(map(os.environ.get, seen)):
        raise _no_screen("DISPLAY is not set")
    # Without a socket of Wayland there is X alone; asked for it, Wayland's library would complain.
    only_x = sys.platform.startswith("linux") and not asked and not os.environ.get(seen[1])
    if only_x:
        os.environ["SDL_VIDEODRIVER"] = "x11"
    try:
        pygame.display.init()
    except pygame.error as error:
        display = os.environ.get("DISPLAY")
        raise _no_screen(f"DISPLAY is {display!r}, {error}" if only_x else str(error)) from None
    finally:
        if only_x:
            del os.environ["SDL_VIDEODRIVER"]
    driver = pygame.display.get_driver()
    if driver in _INVISIBLE and driver not in asked:
        pygame.display.quit()
        raise _no_screen("no display was found")


def _no_screen(reason: str) -> NoScreenError:
    return NoScreenError(
        f"there is no screen to open a window on ({reason}): use "
        'render(mode="rgb_array") for a picture, or a Recorder for a film'
    )


def _on_screen(size: tuple[int, int]) -> tuple[int, int]:
    """Return a size that the screen has room for, with frame and task bar."""
    sizes = pygame.display.get_desktop_sizes()
    if not sizes:
        return size
    width, height = sizes[0]
    return min(size[0], max(width - 40, 320)), min(size[1], max(height - 100, 240))
