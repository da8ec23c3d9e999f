"""What one agent sees: the cells in its view, and its windows of observations."""

from typing import Any, NamedTuple

import numpy as np

from abmarl.kernels.sight import hidden_cells

# The channels of the package that are pictures of cells, the one to show first.
WINDOWS = (
    "position_centered_encoding", "stacked_position_centered_encoding", "team",
    "absolute_encoding",
)  # fmt: skip


class VisibleCells(NamedTuple):
    """The cells that an agent sees.

    Attributes:
        row, col: where the window begins on the grid, which may be outside of it.
        visible: bool [side, side], on the grid and not hidden by a blocking agent.
    """

    row: int
    col: int
    visible: np.ndarray

    def on_grid(self, rows: int, cols: int) -> np.ndarray:
        """Return the cells of the grid that are seen, bool [rows, cols]."""
        seen = np.zeros((rows, cols), bool)
        side = len(self.visible)
        top, left = max(self.row, 0), max(self.col, 0)
        bottom, right = min(self.row + side, rows), min(self.col + side, cols)
        seen[top:bottom, left:right] = self.visible[
            top - self.row : bottom - self.row, left - self.col : right - self.col
        ]
        return seen


def sight_of(store: Any, agent: Any, slot: int, world: int = 0) -> VisibleCells | None:
    """Return the cells that an agent, number `slot`, sees; None without a view range or a place."""
    reach = getattr(agent, "view_range", None)
    at = int(store.cell[world, slot])
    if reach is None or at == 0:
        return None
    padding = store.padding
    reach = int(store.traits["view_range"][slot])
    side = 2 * reach + 1
    row, col = padding.unravel(at)
    rows, cols = row - reach + np.arange(side), col - reach + np.arange(side)
    inside = (rows >= 0) & (rows < store.rows)
    visible = inside[:, None] & ((cols >= 0) & (cols < store.cols))
    hidden = padding.scratch()
    if hidden.size and store.walls.shape[1] > 1:
        lines = store.world.sight._replace(hidden=hidden)
        hidden_cells(store.world._replace(sight=lines), world, at, reach)
        bits = np.unpackbits(hidden.view(np.uint8), bitorder="little")[: side * side]
        visible &= ~bits.reshape(side, side).astype(bool)
    return VisibleCells(row - reach, col - reach, visible)


def window_of(observations: dict[str, np.ndarray]) -> tuple[str, np.ndarray] | None:
    """Return the channel to draw and its labels.

    Returns:
        The channel and int [h, w]: 0 empty, -1 out of bounds, -2 masked, else an encoding or a
        team; of the stacked channel the encoding with the most agents. None if there is none.
    """
    for key in WINDOWS:
        array = observations.get(key)
        if array is None:
            continue
        if array.ndim == 3:
            most = array.max(axis=2)
            array = np.where(most > 0, array.argmax(axis=2) + 1, most)
        return key, array
    return None


def layers_of(
    channel: str, value: Any
) -> tuple[list[tuple[str, np.ndarray, np.ndarray | None]], list[int]]:
    """Return the windows of cells that a channel is made of; none if it is something else.

    Returns:
        Two lists. Of every window what it shows, or "" for a channel of one window; the cells
        [h, w], labels as in `window_of` or the numbers of a user's channel; and int [h, w], how
        many agents are in each cell, or None where that is not observed. Then the encodings of the
        channel of which nobody is seen.
    """
    array = np.asarray(value) if channel in WINDOWS else value
    if not isinstance(array, np.ndarray):
        return [], []
    if channel in WINDOWS and array.ndim == 3:
        layers = list(enumerate(np.moveaxis(array, 2, 0), 1))
        seen = [
            (f"encoding {kind}", np.where(layer > 0, kind, layer), layer)
            for kind, layer in layers
            if layer.max() > 0
        ]
        return seen, [kind for kind, layer in layers if layer.max() <= 0]
    return ([("", array, None)] if array.ndim == 2 and min(array.shape) > 1 else []), []
