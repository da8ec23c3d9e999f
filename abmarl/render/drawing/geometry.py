"""Where a grid lies in a picture, fitted in or zoomed: pure arithmetic, in pixels."""

from typing import Any, NamedTuple

PICTURE = 640
MARGIN = 12
SCORE_HEIGHT = 30
_NARROWEST = 320
_PICTURE_CELL = 2, 96  # the smallest and the largest cell of a picture whose size is free
LARGEST_CELL = 160  # of a view that is zoomed in
_ZOOM = 1.2
_NEAR = 11


class MapGeometry(NamedTuple):
    """Where the map lies in a picture, in pixels.

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

    def corner(self, row: Any, col: Any) -> tuple[Any, Any]:
        """Return x and y of the upper left corner of a cell, or of many as arrays."""
        return self.left + col * self.cell, self.top + row * self.cell

    def visible_cells(self, rows: int, cols: int) -> tuple[slice, slice]:
        """Return the rows and the columns of which something lies in the picture."""
        first_row, first_col = max(-self.top // self.cell, 0), max(-self.left // self.cell, 0)
        last_row = min((self.height - 1 - self.top) // self.cell, rows - 1)
        last_col = min((self.width - 1 - self.left) // self.cell, cols - 1)
        return slice(first_row, max(last_row + 1, 0)), slice(first_col, max(last_col + 1, 0))


def picture_size(rows: int, cols: int) -> tuple[int, int]:
    """Return the size that suits a grid: about 640 pixels along its longer side, even.

    Width and height are even because most video formats store colour for blocks of 2 x 2 pixels.

    Returns:
        Width and height.
    """
    room = PICTURE - 2 * MARGIN
    smallest, largest = _PICTURE_CELL
    cell = min(max(room // max(rows, cols), smallest), largest)
    width = max(cols * cell + 1 + 2 * MARGIN, _NARROWEST)
    height = rows * cell + 1 + MARGIN + SCORE_HEIGHT
    return width + width % 2, height + height % 2


def fit_geometry(rows: int, cols: int, size: tuple[int, int]) -> MapGeometry:
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
    return MapGeometry(width, height, cell, left, top, top + rows * cell + 1)


class MapView:
    """The part of a grid that a window shows: zoomed, panned or fitted.

    The whole grid is fitted into the frame until somebody zooms or pans.

    Args:
        rows: height of the grid in cells.
        cols: its width.
        size: width and height of the frame in pixels.
    """

    def __init__(self, rows: int, cols: int, size: tuple[int, int]) -> None:
        self.rows, self.cols = rows, cols
        self.size = size
        self.fit()

    def fit(self) -> None:
        """Show the whole grid, centred."""
        width, height = self.size
        room = min((width - 2 * MARGIN) // self.cols, (height - 2 * MARGIN) // self.rows)
        self.cell = self._fitted = min(max(room, 1), LARGEST_CELL)
        self.fitted = True
        self._center(self.rows / 2, self.cols / 2)

    def resize(self, size: tuple[int, int]) -> None:
        """Change the frame; what is in its middle stays there."""
        if size == self.size:
            return
        row, col = self.place(self.size[0] / 2, self.size[1] / 2)
        self.size = size
        if self.fitted:
            self.fit()
        else:
            self._center(row, col)

    def zoom(self, clicks: float, x: float, y: float) -> None:
        """Make cells larger (clicks > 0) or smaller; what is at a point of the frame stays."""
        row, col = self.place(x, y)
        cell = round(self.cell * _ZOOM**clicks)
        if cell == self.cell:
            cell += 1 if clicks > 0 else -1
        smallest = min(self._fitted, 8)
        self.cell = min(max(cell, smallest), LARGEST_CELL)
        self.left, self.top = round(x - col * self.cell), round(y - row * self.cell)
        self.fitted = False
        self._stay_in_sight()

    def pan(self, dx: float, dy: float) -> None:
        """Move the grid under the frame."""
        self.left, self.top = round(self.left + dx), round(self.top + dy)
        self.fitted = False
        self._stay_in_sight()

    def center(self, row: int, col: int) -> None:
        """Bring a cell to the middle of the frame, unless the whole grid is visible."""
        if not self.shows_all:
            self._center(row + 0.5, col + 0.5)
            self._stay_in_sight()

    @property
    def shows_all(self) -> bool:
        """Whether there is room for the whole grid."""
        return self.cols * self.cell <= self.size[0] and self.rows * self.cell <= self.size[1]

    def approach(self) -> None:
        """Zoom in, to some ten cells along the shorter side; by half at least."""
        width, height = self.size
        near = max(min(width, height) // _NEAR, round(1.5 * self.cell), self.cell + 1)
        row, col = self.place(width / 2, height / 2)
        self.cell = min(near, LARGEST_CELL)
        self.fitted = False
        self._center(row, col)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the place on the grid, as row and column, at a point of the frame."""
        return (y - self.top) / self.cell, (x - self.left) / self.cell

    def cell_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return the cell at a point of the frame, or None beside the grid."""
        row, col = (int(part // 1) for part in self.place(x, y))
        return (row, col) if 0 <= row < self.rows and 0 <= col < self.cols else None

    @property
    def geometry(self) -> MapGeometry:
        """Where to draw the map in the frame."""
        return MapGeometry(*self.size, self.cell, self.left, self.top, None)

    def _center(self, row: float, col: float) -> None:
        width, height = self.size
        self.left = round(width / 2 - col * self.cell)
        self.top = round(height / 2 - row * self.cell)

    def _stay_in_sight(self) -> None:
        """Keep a quarter of the frame, or the whole of a small grid, covered."""
        width, height = self.size
        keep_x = min(width // 4, self.cols * self.cell)
        keep_y = min(height // 4, self.rows * self.cell)
        self.left = min(max(self.left, keep_x - self.cols * self.cell), width - keep_x)
        self.top = min(max(self.top, keep_y - self.rows * self.cell), height - keep_y)
