"""Scenes of what was recorded, where a world cannot be simulated again.

A rollout holds what every agent saw, not where it was. So each agent has a tile with its name and
its window of observations; a tile without a window shows the agent alone. Agents that do not act
have none.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from abmarl.render.scenes.cast import Look
from abmarl.render.scenes.scene import Caption, Scene
from abmarl.render.scenes.sight import window_of

_OUTSIDE = Look("s", (120, 122, 130), 420.0)
_MASKED = Look("s", (206, 206, 212), 420.0)
_UNKNOWN = Look("o", (150, 150, 155), 200.0)
# What lies between the tiles, as a label that no encoding has.
_BETWEEN, _GAP = -3, Look("s", (236, 234, 228), 460.0)


class Tiles(NamedTuple):
    """A scene of tiles, and whose tile everything in it belongs to.

    Attributes:
        scene: the scene.
        owner: for every entry of the scene, the group of the agent that saw it and its number in
            there; None between the tiles.
    """

    scene: Scene
    owner: list[tuple[str, int] | None]


def tiles(
    observations: Mapping[str, Mapping[str, np.ndarray]],
    active: Mapping[str, np.ndarray],
    groups: Mapping[str, Any],
    looks: Mapping[int, tuple[Look, bool]],
    step: int,
    title: str,
) -> Tiles:
    """Lay out what the agents of a world saw.

    Args:
        observations: group -> channel -> [n, ...].
        active: group -> bool [n], whose tiles are filled.
        groups: group -> something with ``ids`` and ``encoding``.
        looks: encoding -> how it is drawn, and whether it blocks the view.
        step: for the score line.
        title: likewise.
    """
    windows = []
    for name, group in groups.items():
        for k in range(len(group.ids)):
            seen = {key: np.asarray(column[k]) for key, column in observations[name].items()}
            found = window_of(seen)
            window = _window(group.encoding or 0, found)
            windows.append((name, k, window if active[name][k] else np.full_like(window, _BETWEEN)))
    height, width = (max(window.shape[side] for _, _, window in windows) + 1 for side in (0, 1))
    across = math.ceil(math.sqrt(len(windows) * height / width))
    down = -(-len(windows) // across)
    board = np.full((down * height, across * width), _BETWEEN, np.int64)
    whose = np.full(board.shape, -1)
    for number, (_, _, window) in enumerate(windows):
        top, left = number // across * height + 1, number % across * width
        board[top : top + window.shape[0], left : left + window.shape[1]] = window
        whose[top : top + window.shape[0], left : left + window.shape[1]] = number
    board, whose = board[:, :-1], whose[:, :-1]
    captions = tuple(
        Caption(k // across * height, k % across * width, width - 1, groups[name].ids[number])
        for k, (name, number, _) in enumerate(windows)
    )
    row, col = np.nonzero(board)
    whose[board == _BETWEEN] = -1
    owner = [None if k < 0 else windows[k][:2] for k in whose[row, col].tolist()]
    ids = ["" if one is None else f"seen by {groups[one[0]].ids[one[1]]}" for one in owner]
    kinds, look = np.unique(board[row, col], return_inverse=True)
    known = {_BETWEEN: (_GAP, False), -1: (_OUTSIDE, True), -2: (_MASKED, True), **looks}
    drawn = [known.get(kind, (_UNKNOWN, False)) for kind in kinds.tolist()]
    count = len(row)
    scene = Scene(
        rows=board.shape[0],
        cols=board.shape[1],
        ids=tuple(ids),
        row=row,
        col=col,
        alive=np.ones(count, bool),
        health=np.ones(count),
        blocking=np.array([solid for _, solid in drawn], bool)[look],
        team=np.ones(count, np.int64),
        acting=np.zeros(count, bool),
        look=look,
        looks=tuple(one for one, _ in drawn),
        captions=captions,
        step=step,
        title=title,
    )
    return Tiles(scene, owner)


def _window(encoding: int, found: tuple[str, np.ndarray] | None) -> np.ndarray:
    """What an agent with an encoding saw, as encodings; an agent that saw nothing is alone."""
    if found is None:
        return np.array([[encoding]])
    channel, labels = found
    # There -1 is the agent itself, not what is out of bounds.
    return np.where(labels == -1, encoding, labels) if channel == "absolute_encoding" else labels
