"""What all components have in common."""

import numpy as np

from abmarl.gridworld.grid import Grid


class Component:
    """One part of a grid world, working on the arrays of all its worlds.

    Args:
        agents: The agents of the simulation, by id.
        grid: Its grid.
        kwargs: Parameters of other components of the simulation, ignored.

    Attributes:
        store: The arrays; ``store.num_worlds`` is 1 in a single simulation.
        needs_positions: Whether it is of no use while agents stand nowhere.
    """

    needs_positions = False

    def __init__(self, agents=None, grid=None, **kwargs):
        if not isinstance(grid, Grid):
            raise TypeError(f"{type(self).__name__} needs grid=Grid(rows, cols), got {grid!r}.")
        if not isinstance(agents, dict):
            raise TypeError(f"{type(self).__name__} needs agents={{id: agent}}, got {agents!r}.")
        if grid.store is None:
            # In the store a parameter that is missing would look like 0.
            for agent in agents.values():
                agent.check_configured()
        self.agents = agents
        self.grid = grid
        self.store = grid.bind(agents)

    @property
    def rows(self) -> int:
        """Rows of the grid."""
        return self.grid.rows

    @property
    def cols(self) -> int:
        """Columns of the grid."""
        return self.grid.cols

    def __repr__(self):
        return f"{type(self).__name__}()"


def on_listed(method, worlds, *arguments):
    """A step that calls ``method(listed, *arguments)`` with the numbers of worlds that stand in
    the array ``worlds`` by then, up to the first one below 0, if there are any.
    """

    def call():
        listed = worlds[: np.argmax(worlds < 0)] if (worlds < 0).any() else worlds
        if len(listed):
            method(listed, *arguments)

    return call


def has_calls(component, *methods) -> bool:
    """Whether ``component.calls`` says what it does, rather than one of the methods named.

    What the most derived class defines counts: a class that overrides one of the methods of a
    component with calls is asked through that method.
    """
    for one in type(component).__mro__:
        if "calls" in vars(one):
            return True
        if any(method in vars(one) for method in methods):
            return False
    return False
