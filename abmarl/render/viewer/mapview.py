"""The part of a grid that a window shows: zoom, pan and fit. Pure arithmetic, in pixels."""

from abmarl.render.drawing.layout import MARGIN, Layout

LARGEST_CELL = 160
_ZOOM = 1.2
_NEAR = 11


class MapView:
    """Looks at a grid through a frame of some size.

    Until somebody zooms or pans, the whole grid is fitted into the frame, as far as a pixel per
    cell allows.

    Args:
        rows: Height of the grid in cells.
        cols: Its width.
        size: Width and height of the frame in pixels.
    """

    def __init__(self, rows: int, cols: int, size: tuple[int, int]):
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
        """Another frame; what is in its middle stays there."""
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
        """Bring a cell to the middle of the frame, where not all of the grid is to be seen."""
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
        """The place on the grid, as row and column, at a point of the frame."""
        return (y - self.top) / self.cell, (x - self.left) / self.cell

    def cell_at(self, x: float, y: float) -> tuple[int, int] | None:
        """The cell at a point of the frame, or None beside the grid."""
        row, col = (int(part // 1) for part in self.place(x, y))
        return (row, col) if 0 <= row < self.rows and 0 <= col < self.cols else None

    @property
    def layout(self) -> Layout:
        """How to draw it."""
        return Layout(*self.size, self.cell, self.left, self.top, None)

    def _center(self, row: float, col: float) -> None:
        width, height = self.size
        self.left = round(width / 2 - col * self.cell)
        self.top = round(height / 2 - row * self.cell)

    def _stay_in_sight(self) -> None:
        """At least a quarter of the frame, or of a small grid, stays covered."""
        width, height = self.size
        keep_x = min(width // 4, self.cols * self.cell)
        keep_y = min(height // 4, self.rows * self.cell)
        self.left = min(max(self.left, keep_x - self.cols * self.cell), width - keep_x)
        self.top = min(max(self.top, keep_y - self.rows * self.cell), height - keep_y)
