"""The walls of the simulations that ship."""

from typing import Any

from abmarl.gridworld.agent import GridWorldAgent


class WallAgent(GridWorldAgent):
    """Stands in the way and, unless told otherwise, hides what is behind it."""

    def __init__(
        self,
        blocking: bool = True,
        render_shape: str = "s",
        render_color: str = "dimgray",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            blocking=blocking,
            initial_health=1.0,
            group="wall",
            render_shape=render_shape,
            render_color=render_color,
            **kwargs,
        )
