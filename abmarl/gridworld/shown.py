"""How simulations are shown, for the convenience of those who have one at hand."""

from typing import Any


class Shown:
    """Gives a simulation ``render``, ``show`` and ``close``. All drawing is `abmarl.render`'s."""

    def render(self, mode: str = "human", fig: Any = None, world: int = 0, **kwargs: Any) -> Any:
        """Shows the present state.

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
        from abmarl.render import show

        return show(self, mode, world, fig)

    def show(self, world: int = 0, size: tuple | None = None) -> Any:
        """A picture of the present state, which notebooks show inline.

        Args:
            world: Which world of a vectorised simulation.
            size: Width and height in pixels; by default what suits the grid.

        Returns:
            An ``abmarl.render.Picture``.

        Raises:
            ValueError: There is no such world.
            ImportError: The extra ``render`` is not installed.
        """
        from abmarl.render import Picture
        from abmarl.render.modes import picture_of

        return Picture(picture_of(self, world, size))

    def close(self):
        """Closes the window, if there is one."""
        from abmarl.render import close

        close(self)
