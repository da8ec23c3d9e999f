"""Where agents stand in their cells: alone in the middle, several fanned out. Arrays only."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from abmarl.render.scenes.scene import Scene

SHOWN = 4
# Centres of k agents in a cell and how large they are, as parts of the cell.
_SCALES = np.array([1.0, 1.0, 0.62, 0.54, 0.56])
_FANS = np.zeros((SHOWN + 1, SHOWN, 2))
_FANS[2, :2] = [(-0.22, 0.0), (0.22, 0.0)]
_FANS[3, :3] = [(0.0, -0.24), (-0.22, 0.2), (0.22, 0.2)]
_FANS[4] = [(-0.22, -0.22), (0.22, -0.22), (-0.22, 0.22), (0.22, 0.22)]


class Placed(NamedTuple):
    """The agents to be drawn.

    Attributes:
        slots: int [n], their numbers, ascending.
        share: int [n], how many are drawn in the cell of each, 1 to 4.
        dx, dy: float [n], how far from the middle of its cell, in cells.
        crowds: int [m, 3], row, column and number of agents of cells with more than are drawn.
        scales: float [5], by `share`: how large they are.
    """

    slots: np.ndarray
    share: np.ndarray
    dx: np.ndarray
    dy: np.ndarray
    crowds: np.ndarray
    scales: np.ndarray = _SCALES


def place_agents(scene: Scene, rows: slice, cols: slice, first: Sequence[int] = ()) -> Placed:
    """Place the agents that live in some rows and columns.

    Of a crowd every look is drawn once before any is drawn twice, so that a lone enemy is not
    hidden; of those that look alike, the ones with the lowest numbers. The numbers in `first` come
    before all others.
    """
    inside = scene.alive & (scene.row >= rows.start) & (scene.row < rows.stop)
    inside &= (scene.col >= cols.start) & (scene.col < cols.stop)
    slots = np.flatnonzero(inside)
    cell = scene.row[slots].astype(np.int64) * scene.cols + scene.col[slots]
    where, place, count = np.unique(cell, return_inverse=True, return_counts=True)
    crowded = where[count > SHOWN]
    crowds = np.stack([crowded // scene.cols, crowded % scene.cols, count[count > SHOWN]], 1)
    if len(crowds):
        # Those of one look in one cell are numbered; low numbers of any look come first.
        alike = _rank(place * (int(scene.look.max()) + 1) + scene.look[slots]) + 1
        alike[np.isin(slots, first)] = 0
        kept = np.flatnonzero(_rank(place, alike) < SHOWN)
        slots, place = slots[kept], place[kept]
    share = np.minimum(count, SHOWN)[place]
    fan = _FANS[share, _rank(place)]
    return Placed(slots, share, fan[:, 0], fan[:, 1], crowds)


def _rank(keys: np.ndarray, order: np.ndarray | None = None) -> np.ndarray:
    """The place of every one of `keys` int [n] among the equal ones, by `order`, then by number.

    With ``keys = [5, 7, 5, 5]`` it is ``[0, 0, 1, 2]``.
    """
    size = len(keys)
    if not size:
        return np.zeros(0, np.int64)
    codes = keys if order is None else keys * (int(order.max()) + 1) + order
    sorting = np.argsort(codes, kind="stable")
    found = keys[sorting]
    starts = np.concatenate([[True], found[1:] != found[:-1]])
    first = np.maximum.accumulate(np.where(starts, np.arange(size), 0))
    rank = np.empty(size, np.int64)
    rank[sorting] = np.arange(size) - first
    return rank
