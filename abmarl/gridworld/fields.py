"""How agent classes declare what the store keeps for them.

An agent that belongs to no simulation yet is a plain object. Once it is in a store, its traits and
fields live in the store's arrays and nowhere else: the attribute reads and writes its entry.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np


class Trait:
    """A parameter of an agent, the same in all worlds: one entry of ``store.traits``.

    Args:
        check: Function of (name of the trait, value) that returns the value to keep, or raises.
        default: What the attribute is before anything was set.
    """

    def __init__(self, check: Callable, default: Any = None) -> None:
        self._check = check
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, agent: Any, owner: type | None = None) -> Any:
        if agent is None:
            return self
        if agent._store is None:
            return agent.__dict__.get(self.name, self._default)
        return agent._store.trait(self.name, agent._slot)

    def __set__(self, agent: Any, value: Any) -> None:
        value = _checked(self._check, agent, self.name, value)
        if agent._store is None:
            agent.__dict__[self.name] = value
        else:
            agent._store.set_trait(self.name, agent._slot, value)


class Field:
    """A variable of an agent, its own in every world: the array ``store.<name>`` [B, N, *shape].

    Declared as a class attribute of an agent class, it gives the attribute on the object and the
    array in the store. It starts every episode at its default.

    Args:
        dtype: dtype of the array.
        shape: Shape of one agent's entry; () for a number.
        default: Value at the start of an episode.
        check: Function of (name, value) that returns what to keep of a value that is set on an
            agent, or raises.

    Example:
        >>> class Courier(MovingAgent):
        ...     parcels = Field(np.int32)
    """

    def __init__(
        self,
        dtype: Any = np.float64,
        shape: tuple = (),
        default: Any = 0,
        check: Callable | None = None,
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.shape = tuple(shape)
        self.default = default
        self._check = check
        if self.dtype.hasobject:
            raise TypeError(f"A field holds numbers, got dtype {self.dtype}.")

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, agent: Any, owner: type | None = None) -> Any:
        if agent is None:
            return self
        if agent._store is None:
            if self.shape:  # an array is kept, so that what is written into it stays
                return agent.__dict__.setdefault(self.name, self._initial())
            return agent.__dict__.get(self.name, self.default)
        entry = agent._store.array(self.name)[0, agent._slot]
        return entry if self.shape else entry.item()

    def __set__(self, agent: Any, value: Any) -> None:
        if self._check is not None:
            value = _checked(self._check, agent, self.name, value)
        value = np.asarray(value)
        numbers = value.dtype.kind in "biuf" and value.shape == self.shape
        with np.errstate(invalid="ignore"):
            converted = value.astype(self.dtype) if numbers else None
        if not numbers or (self.dtype.kind in "biu" and (converted != value).any()):
            raise ValueError(
                f"{self.name!r} of agent {agent.id!r} takes {self.dtype} of shape {self.shape}, "
                f"got {value.dtype} of shape {value.shape}: {value!r:.60}"
            )
        value = converted
        if agent._store is None:
            agent.__dict__[self.name] = value.astype(self.dtype) if self.shape else value.item()
        else:
            agent._store.array(self.name)[0, agent._slot] = value
            agent._store.touch()

    def _initial(self) -> np.ndarray:
        return np.full(self.shape, self.default, self.dtype)


def _checked(check: Callable, agent: Any, name: str, value: Any) -> Any:
    """Return what a check makes of a value; its errors name the agent."""
    try:
        return check(name, value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Agent {agent.id!r}: {error}") from None


def _declared(agent_class: type, kind: type) -> dict[str, Any]:
    """Return the traits or fields (``kind``) that an agent class and its bases declare, by name."""
    found = {}
    for base in reversed(agent_class.__mro__):
        found.update({name: item for name, item in vars(base).items() if isinstance(item, kind)})
    return found


declared: Callable[[type, type], dict[str, Any]] = functools.cache(_declared)


def integer(low: int | None = None, special: str | None = None, bits: int = 32) -> Callable:
    """Return a check for an int of so many bits, ``low`` or more, or a ``special`` word."""

    def check(name: str, value: Any) -> Any:
        if special is not None and isinstance(value, str) and value == special:
            return value
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
            raise TypeError(f"{name} must be an int{_or(special)}, got {value!r}.")
        if low is not None and value < low:
            raise ValueError(f"{name} must be {low} or more{_or(special)}, got {value!r}.")
        if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise ValueError(f"{name} must fit {bits} bits, got {value!r}.")
        return int(value)

    return check


positive = integer(1, bits=64)
"""A check for a count: an int above 0."""


def number(low: float, high: float, open_below: bool = False, optional: bool = False) -> Callable:
    """Return a check for a float within [low, high], or (low, high] when ``open_below``."""

    def check(name: str, value: Any) -> Any:
        if value is None and optional:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise TypeError(f"{name} must be a number, got {value!r}.")
        if not (low < value <= high if open_below else low <= value <= high):
            bracket = "(" if open_below else "["
            raise ValueError(f"{name} must be in {bracket}{low}, {high}], got {value!r}.")
        return float(value)

    return check


def truth(name: str, value: Any) -> bool:
    """Return a check for a bool."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def _or(special: str | None) -> str:
    return f' or "{special}"' if special is not None else ""
