"""What can be refused of a declaration before any of its components is made."""

import difflib
import inspect

from abmarl.gridworld.registry import class_of, layers_of


def refuse_unknown(kwargs, components):
    """Refuses parameters that no component takes.

    Args:
        kwargs: The parameters of the components by name.
        components: What was declared, with everything that it wraps.

    Raises:
        TypeError: Names a parameter, and the nearest one that is known.
    """
    known = {
        name
        for component in components
        for base in class_of(component).__mro__
        if "__init__" in vars(base)
        for name in inspect.signature(base.__init__).parameters
    }
    own = [name for one in components for name in getattr(one, "keywords", ())]
    for name in (*kwargs, *own):
        if name not in known:
            near = difflib.get_close_matches(name, known - {"self", "kwargs"}, 1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise TypeError(f"No component of this simulation takes {name!r}{hint}")


def refuse_unplaced(components):
    """Refuses components that need agents on the grid where nothing places them.

    Placement comes from a state component: there is no class that could do it by hand.

    Args:
        components: What was declared, by kind.

    Raises:
        ValueError: Names a component.
    """
    for state in map(class_of, components["state"]):
        if state.rank == 0 or not state.__module__.startswith("abmarl."):
            return
    acting = [layer for actor in components["actor"] for layer in layers_of(actor)]
    for component in map(class_of, (*acting, *components["observer"])):
        if component.needs_positions:
            raise ValueError(
                f"{component.__name__} needs agents on the grid, and no state component places "
                'them; add one, states=["PositionState", ...].'
            )
