"""The spaces of checkpoints, compared with those of groups.

Stable-Baselines3 stores spaces as pickles, which can execute code, with their attributes printed
beside them. The printed attributes are enough to tell whether a space is the same.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.sim.conversion import (
    Conversion,
    FlattenConversion,
    MultiDiscreteConversion,
    RavelConversion,
)

# The attributes in which spaces of a kind differ. Dtypes are left out: networks work on floats.
ATTRIBUTES = {
    "Box": ("_shape", "low", "high"),
    "Discrete": ("n", "start"),
    "MultiDiscrete": ("nvec", "start"),
    "MultiBinary": ("n",),
    "Dict": ("spaces",),
    "Tuple": ("spaces",),
}
_DTYPE = re.compile(r", (?:dtype=)?(?:(?:u?int|float)\d+|bool)(?=\))")
_TOKEN = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?inf|\.\.\.|\w+|[^\s\w]", re.I)
# Brackets and line breaks of arrays add nothing to the shape.
_LAYOUT = frozenset("[](),")


class SpaceDescription:
    """The printed `ATTRIBUTES` of a space, by which it is compared with others.

    Its `text` stands for it in messages.
    """

    def __init__(self, kind: str, attributes: Mapping[str, str], text: str) -> None:
        self.kind, self.text = kind, text
        self.shape = attributes.get("_shape")
        self.tokens = {name: _tokens(value) for name, value in attributes.items()}

    @classmethod
    def of(cls, space: spaces.Space) -> "SpaceDescription":
        """Describe a space."""
        kind = type(space).__name__
        with np.printoptions(threshold=1000, edgeitems=3, precision=8, floatmode="maxprec"):
            found = {name: str(getattr(space, name)) for name in ATTRIBUTES.get(kind, ())}
        return cls(kind, found, f"{space!r:.200}")

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> "SpaceDescription":
        """Describe the space that Stable-Baselines3 wrote as JSON.

        Raises:
            ValueError: It is not a description of a space.
        """
        if not isinstance(entry, Mapping):
            raise ValueError(f"not a space that is known: {entry!r:.80}")
        found = re.fullmatch(r"<class '[\w.]*?(\w+)'>", str(entry.get(":type:")))
        kind = found[1] if found else None
        if kind not in ATTRIBUTES or not all(name in entry for name in ATTRIBUTES[kind]):
            raise ValueError(f"not a space that is known: {entry.get(':type:')!r:.80}")
        attributes = {name: str(entry[name]) for name in ATTRIBUTES[kind]}
        return cls(kind, attributes, _text_of(kind, attributes, entry))

    def matches(self, space: spaces.Space) -> bool:
        """Return whether points of a space are points of this one, whatever their dtype.

        A `Box` without any bounds, as RLlib makes them of other spaces, takes all of its shape.
        """
        other = SpaceDescription.of(space)
        if self.kind != other.kind:
            return False
        if self._is_unbounded():
            return self.tokens["_shape"] == other.tokens["_shape"]
        return self.tokens == other.tokens

    def _is_unbounded(self) -> bool:
        if self.kind != "Box" or not self.tokens["low"]:
            return False
        low, high = set(self.tokens["low"]), set(self.tokens["high"])
        return low - {"..."} == {-np.inf} and high - {"..."} == {np.inf}

    def __repr__(self) -> str:
        return self.text


# How points of a group become points of a checkpoint, in the order in which it is tried: flattened,
# flattened with one number for each Discrete, ravelled, one number for each entry.
CONVERSIONS: tuple[Callable[[spaces.Space, str], Conversion], ...] = (
    FlattenConversion,
    lambda space, name: FlattenConversion(space, name, one_hot=False),
    RavelConversion,
    MultiDiscreteConversion,
)


def fit(space: spaces.Space, wanted: SpaceDescription) -> tuple[bool, Conversion | None]:
    """Find a conversion of points of a group's space to points of a checkpoint's.

    Returns:
        Whether there is a way, and the conversion, None where points stay as they are.
    """
    if wanted.matches(space):
        return True, None
    for make in CONVERSIONS:
        try:
            conversion = make(space, "space")
        except (TypeError, ValueError):
            continue  # not possible for this space
        if wanted.matches(conversion.target):
            return True, conversion
    return False, None


def _text_of(kind: str, attributes: Mapping[str, str], entry: Mapping[str, Any]) -> str:
    """Return about what gymnasium prints for the space."""
    if kind != "Box":
        return f"{kind}({next(iter(attributes.values()))})"[:200]
    bounds = (entry.get(f"{name}_repr", attributes[name]) for name in ("low", "high"))
    shape = entry["_shape"]
    shape = tuple(shape) if isinstance(shape, list) else shape
    return f"Box({', '.join(map(str, bounds))}, {shape}, {entry.get('dtype')})"[:200]


def _tokens(text: str) -> list:
    """Return the words and numbers of a printed attribute; 1, 1. and 1.0 are the same number."""
    found = _TOKEN.findall(_DTYPE.sub("", text.replace("[]", "()")))
    return [_number(token) for token in found if token not in _LAYOUT]


def _number(token: str) -> Any:
    try:
        return float(token)
    except ValueError:
        return token
