"""Drawing is injected: simulations name a renderer and draw nothing themselves."""

import pkgutil
from typing import Any


class Renderable:
    """A simulation with ``render``, ``show`` and ``close``, which its renderer carries out.

    Attributes:
        renderer: The renderer, or where to import it from: a module, or any object, with
            ``show(sim, mode, world, fig)``, ``picture(sim, world, size)`` and ``close(sim)``.
            Set it on a class or a simulation to draw in another way.
    """

    renderer: Any = "abmarl.render"

    def render(self, mode: str = "human", fig: Any = None, world: int = 0, **kwargs: Any) -> Any:
        """Show the present state.

        Args:
            mode: ``"human"``: in a window, where the next call goes on; it keeps to a pace, and
                does not return while the person in front of it has it paused. ``"rgb_array"``: as
                an array. ``"ansi"``: as text with colours.
            fig: A matplotlib figure to draw into; the mode does not matter then.
            world: Which world of a vectorised simulation.
            kwargs: Ignored.

        Returns:
            uint8 [height, width, 3] for ``"rgb_array"``, a str for ``"ansi"``, else None.

        Raises:
            ValueError: There is no such mode or world.
            OSError: There is no screen for a window.
            ImportError: The extra ``render`` is not installed.
        """
        return self._renderer().show(self, mode, world, fig)

    def show(self, world: int = 0, size: tuple[int, int] | None = None) -> Any:
        """Return a picture of the present state, which notebooks show inline.

        Args:
            world: Which world of a vectorised simulation.
            size: Width and height in pixels; by default what suits the grid.

        Returns:
            An ``abmarl.render.Picture``.

        Raises:
            ValueError: There is no such world.
            ImportError: The extra ``render`` is not installed.
        """
        return self._renderer().picture(self, world, size)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer().close(self)

    def _renderer(self) -> Any:
        given = self.renderer
        return pkgutil.resolve_name(given) if isinstance(given, str) else given
