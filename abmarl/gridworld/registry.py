"""Components by name, so that a simulation can be declared with strings."""

import difflib
from functools import partial
from typing import Any

from abmarl.gridworld.actor import (
    ActorBase,
    BinaryAttackActor,
    CrossMoveActor,
    DriftMoveActor,
    EncodingBasedAttackActor,
    MoveActor,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)
from abmarl.gridworld.done import (
    ActiveDone,
    DoneBase,
    OneTeamRemainingDone,
    TargetAgentInactiveDone,
    TargetAgentOverlapDone,
    TargetEncodingInactiveDone,
)
from abmarl.gridworld.former_names import present_name
from abmarl.gridworld.observer import (
    AbsoluteEncodingObserver,
    AbsolutePositionObserver,
    AmmoObserver,
    ObserverBase,
    PositionCenteredEncodingObserver,
    StackedPositionCenteredEncodingObserver,
    TeamObserver,
)
from abmarl.gridworld.state import (
    AmmoState,
    HealthState,
    MazePlacementState,
    OrientationState,
    PositionState,
    StateBase,
    TargetBarriersFreePlacementState,
    TeamState,
)

_BASES = {"state": StateBase, "actor": ActorBase, "observer": ObserverBase, "done": DoneBase}

registry = {kind: {} for kind in _BASES}


def register(component: Any) -> type:
    """Make a component class known by its name; usable as a class decorator.

    Raises:
        TypeError: It is no component class.
        ValueError: Another class of that name is registered.
    """
    for kind, base in _BASES.items():
        if isinstance(component, type) and issubclass(component, base):
            known = registry[kind].setdefault(component.__name__, component)
            if known is not component:
                raise ValueError(
                    f"A {kind} component {component.__name__!r} is registered already; "
                    "give yours another name."
                )
            return component
    names = ", ".join(base.__name__ for base in _BASES.values())
    raise TypeError(f"A component is a subclass of {names}; got {component!r}.")


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
    if isinstance(class_of(component), type) and issubclass(class_of(component), _BASES[kind]):
        return component
    raise TypeError(
        f"{kind}s are given as subclasses of {_BASES[kind].__name__} or registered names, "
        f"got {component!r}."
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


for _component in (
    PositionState,
    TargetBarriersFreePlacementState,
    MazePlacementState,
    HealthState,
    TeamState,
    AmmoState,
    OrientationState,
    MoveActor,
    CrossMoveActor,
    DriftMoveActor,
    BinaryAttackActor,
    EncodingBasedAttackActor,
    SelectiveAttackActor,
    RestrictedSelectiveAttackActor,
    PositionCenteredEncodingObserver,
    StackedPositionCenteredEncodingObserver,
    TeamObserver,
    AbsoluteEncodingObserver,
    AbsolutePositionObserver,
    AmmoObserver,
    ActiveDone,
    OneTeamRemainingDone,
    TargetEncodingInactiveDone,
    TargetAgentOverlapDone,
    TargetAgentInactiveDone,
):
    register(_component)
