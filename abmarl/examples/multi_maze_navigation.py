"""Navigators race one another to a target in a maze."""

from abmarl.examples.maze_navigation import MazeNavigationAgent, MazeNavigationSim, make_maze


class MultiMazeNavigationAgent(MazeNavigationAgent):
    """A navigator among others: sees 3 cells far."""

    def __init__(self, view_range=3, **kwargs):
        super().__init__(view_range=view_range, **kwargs)


class MultiMazeNavigationSim(MazeNavigationSim):
    """As ``MazeNavigationSim``, with navigators that get into one another's way.

    Only one of them can be on a cell, so that passages are blocked by those who wait in them, and
    one at a time arrives. Of n navigators the first to arrive gets a reward of 1, the next one
    1 - 1/n, and so on down to 1/n for the last.
    """

    def worth_of_arrival(self):
        """float [B, 1]: the share of navigators that are still on their way."""
        waiting = self.store.active & self._navigators
        return waiting.sum(axis=1, keepdims=True) / max(1, self._navigators.sum())


def multi_maze_navigation(rows=11, cols=15, num_navigators=5) -> MultiMazeNavigationSim:
    """Several navigators in a maze.

    Args:
        rows, cols: Size of the grid.
        num_navigators: How many of them.
    """
    return make_maze(rows, cols, num_navigators, MultiMazeNavigationSim, MultiMazeNavigationAgent)
