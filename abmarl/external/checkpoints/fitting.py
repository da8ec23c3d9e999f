"""From the spaces of a group to those of a checkpoint."""

from collections.abc import Callable
from typing import Any

from gymnasium import spaces

from abmarl.external.checkpoints.described import DescribedSpace
from abmarl.sim.conversion import (
    Conversion,
    FlattenConversion,
    MultiDiscreteConversion,
    RavelConversion,
)

# How points of a group are made points of a checkpoint, in the order in which it is tried.
CONVERSIONS: dict[str, Callable[[spaces.Space, str], Conversion]] = {
    "flat": FlattenConversion,
    "flat, a number for each Discrete": lambda space, name: FlattenConversion(space, name, False),
    "ravelled": RavelConversion,
    "a number for each entry": MultiDiscreteConversion,
}


def fit(space: spaces.Space, wanted: DescribedSpace) -> tuple[bool, Conversion | None]:
    """Find out how points of a space become points of another one.

    Args:
        space: The space of a group.
        wanted: That of the checkpoint.

    Returns:
        Whether there is a way, and the conversion to use, None where points can stay as they are.
    """
    if wanted.matches(space):
        return True, None
    for make in CONVERSIONS.values():
        try:
            conversion = make(space, "space")
        except (TypeError, ValueError):
            continue  # this space cannot be converted so
        if wanted.matches(conversion.target):
            return True, conversion
    return False, None


def refusal(path: str, group: str, side: str, space: Any, wanted: DescribedSpace) -> ValueError:
    """The error that no conversion fits, with both spaces."""
    return ValueError(
        f"{path} does not fit group {group!r}: its {side} is {wanted!r:.200},\n"
        f"that of the group is {space!r:.200}, which is not that either as it is, flattened or "
        f"ravelled"
    )
