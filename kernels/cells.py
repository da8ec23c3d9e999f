"""Cell index math.

A cell of a grid of ``rows x cols`` is stored as an index into a padded grid: ``pad`` extra cells
on every side, ``width = cols + 2 * pad`` cells in a row. A step by (dr, dc) is the addition of
``dr * width + dc``, and as long as it is not longer than ``pad`` it cannot leave the array, so
inner loops need neither division nor bounds checks: cells outside the grid are marked as such.
"""

import numpy as np

from abmarl.kernels.compile import kernel, rule


@rule
def ravel_cell(row, col, width, pad):
    """The padded index of cell (row, col)."""
    return (row + pad) * width + col + pad


@kernel
def ravel_cells(positions, width, pad, cells):
    """``positions`` int [M, 2] (row, column) to padded indices, int [M]."""
    for k in range(cells.shape[0]):
        cells[k] = ravel_cell(positions[k, 0], positions[k, 1], width, pad)


@kernel
def unravel_cells(cells, width, pad, positions):
    """Padded indices, int [B, N], to rows and columns, int32 [B, N, 2]."""
    for b in range(cells.shape[0]):
        for i in range(cells.shape[1]):
            p = np.int64(cells[b, i])
            row = p // width
            positions[b, i, 0] = row - pad
            positions[b, i, 1] = p - row * width - pad
