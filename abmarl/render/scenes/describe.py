"""Actions and observations as text, for the panel of a viewer."""

import math
from typing import Any

import numpy as np

from abmarl.gridworld.actor import (
    BinaryAttackActor,
    CrossMoveActor,
    DriftMoveActor,
    EncodingBasedAttackActor,
    MoveActor,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)

_MOST_CELLS, _MOST_NUMBERS = 3, 12  # that are listed one by one
_DIRECTIONS = ("stay", "left", "down", "right", "up")


def describe_action(actors: dict[str, Any], slot: int, action: dict[str, Any]) -> list[str]:
    """Describe what the agent with number `slot` did, given actors and actions by channel."""
    return [_describe(actors.get(key), key, slot, value) for key, value in action.items()]


def _describe(actor: Any, key: str, slot: int, value: Any) -> str:
    while actor is not None and actor.wrapped_component is not None:
        value, actor = actor.inner_point(slot, int(value)), actor.wrapped_component
    if isinstance(actor, RestrictedSelectiveAttackActor):
        # Cells are numbers here, whose meaning depends on the side of the window.
        side = math.isqrt(int(actor.form(slot).high.max()))
        value = np.asarray(value)
        numbers = value[value > 0] - 1
        far = side // 2
        offsets = [(int(n) // side - far, int(n) % side - far, 1) for n in numbers]
        return _cells(offsets, side * side)
    for kind, describe in _KINDS:
        if isinstance(actor, kind):
            return describe(value)
    return f"{key}: {_plain(value)}"


def _move(value: Any) -> str:
    return f"move {offset}" if (offset := _offset(*np.asarray(value).tolist())) else "stay"


def _cross(value: Any) -> str:
    return f"move {_DIRECTIONS[int(value)]}" if value else "stay"


def _drift(value: Any) -> str:
    return f"turn {_DIRECTIONS[int(value)]}" if value else "drift"


def _binary(value: Any) -> str:
    return f"attack{_times(int(value))}" if value else "no attack"


def _encodings(value: dict) -> str:
    parts = [f"{encoding}{_times(int(n))}" for encoding, n in value.items() if n]
    return f"attack encoding {', '.join(parts)}" if parts else "no attack"


def _selective(value: Any) -> str:
    window = np.asarray(value)
    far = window.shape[0] // 2
    cells = [(r - far, c - far, int(window[r, c])) for r, c in np.argwhere(window)]
    return _cells(cells, window.size)


def _cells(cells: list[tuple[int, int, int]], total: int) -> str:
    """List attacked cells by their offsets, or count them out of `total`."""
    count = len({cell[:2] for cell in cells})
    if count > _MOST_CELLS:
        return f"attack on {count} of {total} cells"
    parts = [(_offset(int(r), int(c)) or "own cell") + _times(n) for r, c, n in cells]
    return f"attack {', '.join(parts)}" if parts else "no attack"


def _offset(down: int, right: int) -> str:
    parts = []
    if down:
        parts.append(f"{abs(down)} {'down' if down > 0 else 'up'}")
    if right:
        parts.append(f"{abs(right)} {'right' if right > 0 else 'left'}")
    return " ".join(parts)


def _times(count: int) -> str:
    return f" x{count}" if count > 1 else ""


def describe_value(value: Any) -> str:
    """Describe what was observed on a channel, in 80 characters at most."""
    if isinstance(value, dict):
        text = ", ".join(f"{key} {describe_value(one)}" for key, one in value.items())
    elif isinstance(value, tuple | list):
        text = ", ".join(map(describe_value, value))
    elif np.asarray(value).dtype.kind not in "biuf":
        text = " ".join(str(value).split())
    else:
        numbers = np.asarray(value).ravel()
        text = " ".join(f"{number:.4g}" for number in numbers[:_MOST_NUMBERS].tolist())
        text += f" ... ({numbers.size} numbers)" if numbers.size > _MOST_NUMBERS else ""
    return text if len(text) <= 80 else f"{text[:77]}..."


def _plain(value: Any) -> str:
    text = " ".join(str(value.tolist() if isinstance(value, np.ndarray) else value).split())
    return text if len(text) <= 40 else f"{text[:37]}..."


# A drift move is a cross move too, so it comes first.
_KINDS = (
    (DriftMoveActor, _drift),
    (CrossMoveActor, _cross),
    (MoveActor, _move),
    (BinaryAttackActor, _binary),
    (EncodingBasedAttackActor, _encodings),
    (SelectiveAttackActor, _selective),
)
