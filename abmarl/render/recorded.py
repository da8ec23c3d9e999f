"""Scenes of what was recorded, where a world cannot be simulated again.

A rollout holds what every agent saw, not where it was. So each agent has a tile with its window of
observations in it; a tile without a window shows the agent alone. Tiles of agents that do not act
are empty.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from abmarl.render.cast import Look
from abmarl.render.scene import Scene
from abmarl.render.sight import window_of

_OUTSIDE = Look("s", (120, 122, 130), 420.0)
_MASKED = Look("s", (206, 206, 212), 420.0)
_UNKNOWN = Look("o", (150, 150, 155), 200.0)


class Tiles(NamedTuple):
    """A scene of tiles, and whose tile everything in it belongs to.

    Attributes:
        scene: the scene.
        owner: for every entry of the scene, the group and the number in it of the agent that saw
            it.
    """

    scene: Scene
    owner: list[tuple[str, int]]


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
            window = np.array([[group.encoding or 0]]) if found is None else found[1]
            windows.append((name, k, window if active[name][k] else np.zeros_like(window)))
    height = max(window.shape[0] for _, _, window in windows) + 1
    width = max(window.shape[1] for _, _, window in windows) + 1
    across = math.ceil(math.sqrt(len(windows) * height / width))
    down = -(-len(windows) // across)
    row, col, label, owner, ids = [], [], [], [], []
    for number, (name, k, window) in enumerate(windows):
        at_row, at_col = np.nonzero(window)
        row.append(at_row + number // across * height)
        col.append(at_col + number % across * width)
        label.append(window[at_row, at_col])
        owner += [(name, k)] * len(at_row)
        ids += [f"seen by {groups[name].ids[k]}"] * len(at_row)
    labels = np.concatenate(label).astype(np.int64)
    kinds, look = np.unique(labels, return_inverse=True)
    known = {-1: (_OUTSIDE, True), -2: (_MASKED, True), **looks}
    drawn = [known.get(kind, (_UNKNOWN, False)) for kind in kinds.tolist()]
    count = len(labels)
    scene = Scene(
        rows=down * height - 1,
        cols=across * width - 1,
        ids=tuple(ids),
        row=np.concatenate(row),
        col=np.concatenate(col),
        alive=np.ones(count, bool),
        health=np.ones(count),
        blocking=np.array([solid for _, solid in drawn], bool)[look] if count else look > 0,
        team=np.ones(count, np.int64),
        look=look,
        looks=tuple(one for one, _ in drawn),
        step=step,
        title=title,
    )
    return Tiles(scene, owner)
