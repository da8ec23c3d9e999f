"""Where things go in a picture of a grid: pure arithmetic, in pixels."""

from typing import NamedTuple

PICTURE = 640
MARGIN = 12
SCORE_HEIGHT = 30
_SMALLEST_CELL, _LARGEST_CELL = 2, 96
_NARROWEST = 320


class Layout(NamedTuple):
    """Pixels of a picture.

    Attributes:
        width: of the whole picture.
        height: of the whole picture.
        cell: side of a cell, its upper and left grid line included.
        left: column of the grid's leftmost line; may lie outside of the picture.
        top: row of the grid's uppermost line; likewise.
        score: row in which the score line begins, or None without one.
    """

    width: int
    height: int
    cell: int
    left: int
    top: int
    score: int | None

    def shown(self, rows: int, cols: int) -> tuple[slice, slice]:
        """The rows and the columns of the grid of which something lies in the picture."""
        first_row, first_col = max(-self.top // self.cell, 0), max(-self.left // self.cell, 0)
        last_row = min((self.height - 1 - self.top) // self.cell, rows - 1)
        last_col = min((self.width - 1 - self.left) // self.cell, cols - 1)
        return slice(first_row, max(last_row + 1, 0)), slice(first_col, max(last_col + 1, 0))


def picture_size(rows: int, cols: int) -> tuple[int, int]:
    """The size that suits a grid: about 640 pixels along its longer side, width and height even.

    Even, because most video formats store colour for blocks of 2 x 2 pixels.

    Returns:
        Width and height.
    """
    room = PICTURE - 2 * MARGIN
    cell = min(max(room // max(rows, cols), _SMALLEST_CELL), _LARGEST_CELL)
    width = max(cols * cell + 1 + 2 * MARGIN, _NARROWEST)
    height = rows * cell + 1 + MARGIN + SCORE_HEIGHT
    return width + width % 2, height + height % 2


def layout(rows: int, cols: int, size: tuple[int, int]) -> Layout:
    """Fit a grid into a picture, with square cells of a whole number of pixels.

    Raises:
        ValueError: not one pixel per cell.
    """
    width, height = size
    room_x, room_y = width - 2 * MARGIN - 1, height - MARGIN - SCORE_HEIGHT - 1
    cell = min(room_x // cols, room_y // rows)
    if cell < 1:
        raise ValueError(
            f"a picture of {width} x {height} pixels is too small for {cols} x {rows} cells: "
            f"picture_size({rows}, {cols}) is {picture_size(rows, cols)}"
        )
    left = (width - cols * cell - 1) // 2
    top = MARGIN + (room_y - rows * cell) // 2
    return Layout(width, height, cell, left, top, top + rows * cell + 1)
