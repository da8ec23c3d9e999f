"""Dicts of spaces; the library itself uses `abmarl.sim.spaces`."""

from typing import Any

from gymnasium.spaces import Space

from abmarl.sim.spaces import is_space, to_gymnasium

__all__ = ["check_space", "make_dict"]


def check_space(space: Any) -> bool:
    """Return whether `space` is a space, or a dict of spaces, nested at will."""
    if isinstance(space, dict):
        return all(check_space(part) for part in space.values())
    return is_space(space)


def make_dict(space: Any) -> Space:
    """Return a space, or a (nested) dict of spaces, as a gymnasium space.

    Raises:
        TypeError: it, or something in it, is no space.
    """
    return to_gymnasium(space)
