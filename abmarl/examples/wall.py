"""The walls of the simulations that ship."""

from abmarl.gridworld.agent import GridWorldAgent


class WallAgent(GridWorldAgent):
    """Stands in the way and, unless told otherwise, hides what is behind it."""

    def __init__(self, blocking=True, render_shape="s", render_color="dimgray", **kwargs):
        super().__init__(
            blocking=blocking,
            initial_health=1.0,
            group="wall",
            render_shape=render_shape,
            render_color=render_color,
            **kwargs,
        )
