"""Components by name, so that a simulation can be declared with strings."""

import difflib
from functools import partial
from typing import Any, TypeVar

from abmarl.gridworld.component import Component
from abmarl.gridworld.former_names import present_name

_BASES = {
    "state": "StateBase",
    "actor": "ActorBase",
    "observer": "ObserverBase",
    "done": "DoneBase",
}

registry: dict[str, dict[str, type]] = {role: {} for role in _BASES}

_Registered = TypeVar("_Registered", bound=type)


def register(component: _Registered) -> _Registered:
    """Register a component class under its name; a decorator, or a function to be called.

    Raises:
        TypeError: It is no component class.
        ValueError: Another class of that name is registered.
    """
    role = getattr(component, "role", None)
    if not isinstance(component, type) or not issubclass(component, Component) or role is None:
        names = ", ".join(_BASES.values())
        raise TypeError(f"A component is a subclass of {names}; got {component!r}.")
    if registry[role].setdefault(component.__name__, component) is not component:
        raise ValueError(
            f"A {role} component {component.__name__!r} is registered already; "
            "give yours another name."
        )
    return component


def find_component(kind: str, component: Any) -> Any:
    """Return the component class for a class or a registered name.

    A ``functools.partial`` of a class, which gives it parameters of its own, is returned as it is.

    Raises:
        ValueError: No component of this kind has that name.
        TypeError: It is neither a name nor a class of this kind.
    """
    if isinstance(component, str):
        component = present_name(component)
        known = registry[kind]
        if component not in known:
            near = difflib.get_close_matches(component, known, 1, 0.4)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {sorted(known)}."
            raise ValueError(f"There is no {kind} component {component!r}; {hint}")
        return known[component]
    plain = class_of(component)
    if isinstance(plain, type) and issubclass(plain, Component) and plain.role == kind:
        return component
    raise TypeError(
        f"{kind}s are given as subclasses of {_BASES[kind]} or registered names, got {component!r}."
    )


def class_of(component: Any) -> Any:
    """Return the class that a component, which may be a partial, is made of."""
    return component.func if isinstance(component, partial) else component


def layers_of(component: Any) -> list:
    """Return a component and what it is given to wrap, as classes or partials."""
    found = [component]
    for inner in component.args if isinstance(component, partial) else ():
        found += layers_of(find_component("actor", inner))
    return found


def make_component(component: Any, parameters: dict) -> Any:
    """Make a component; what a partial says for itself goes before ``parameters``."""
    own = component.keywords if isinstance(component, partial) else {}
    return component(**{name: value for name, value in parameters.items() if name not in own})
