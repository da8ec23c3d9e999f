"""Zoom, pan and fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abmarl.render.drawing.geometry import LARGEST_CELL, MapView

sides = st.integers(1, 600)


@given(sides, sides, st.tuples(st.integers(60, 1500), st.integers(60, 1500)))
def test_fits_and_is_centred(rows, cols, size):
    view = MapView(rows, cols, size)
    if view.cell > 1:
        assert view.left >= 0
        assert view.top >= 0
        assert view.left + cols * view.cell <= size[0]
        assert view.top + rows * view.cell <= size[1]
    assert abs(view.left * 2 + cols * view.cell - size[0]) <= 1
    assert abs(view.top * 2 + rows * view.cell - size[1]) <= 1


def test_what_is_under_the_mouse_stays_there():
    view = MapView(20, 31, (640, 480))
    for clicks in (1, 1, 2, -1, 3):
        row, col = view.place(300, 200)
        view.zoom(clicks, 300, 200)
        again = view.place(300, 200)
        assert abs(again[0] - row) < 1 / view.cell
        assert abs(again[1] - col) < 1 / view.cell


def test_zoom_has_ends():
    view = MapView(500, 500, (640, 480))
    view.zoom(100, 10, 10)
    assert view.cell == LARGEST_CELL
    view.zoom(-100, 10, 10)
    assert view.cell == 1


@given(st.lists(st.tuples(st.integers(-3000, 3000), st.integers(-3000, 3000)), max_size=5))
def test_panning_does_not_lose_the_grid(moves):
    view = MapView(5, 9, (640, 480))
    for move in moves:
        view.pan(*move)
    assert -9 * view.cell < view.left < 640
    assert -5 * view.cell < view.top < 480


def test_cells():
    view = MapView(3, 5, (500, 300))
    x, y = view.left + 3.5 * view.cell, view.top + 1.5 * view.cell
    assert view.cell_at(x, y) == (1, 3)
    assert view.cell_at(view.left - 1, y) is None
    assert view.cell_at(x, view.top + 3 * view.cell) is None


def test_another_frame_keeps_the_middle():
    view = MapView(50, 50, (500, 500))
    view.zoom(6, 250, 250)
    view.pan(-100, 0)
    before = view.place(250, 250)
    view.resize((300, 400))
    assert view.place(150, 200) == pytest.approx(before, abs=0.1)
    view.fit()
    view.resize((500, 500))
    assert view.cell == MapView(50, 50, (500, 500)).cell


def test_only_what_is_hidden_is_brought_to_the_middle():
    view = MapView(50, 50, (500, 500))
    before = view.geometry
    view.center(3, 4)
    assert view.geometry == before
    view.zoom(10, 250, 250)
    view.center(30, 20)
    assert view.cell_at(250, 250) == (30, 20)


def test_rows_and_columns_shown():
    view = MapView(50, 60, (500, 500))
    view.zoom(10, 250, 250)
    rows, cols = view.geometry.visible_cells(50, 60)
    assert view.cell_at(0, 0) == (rows.start, cols.start)
    assert view.cell_at(499, 499) == (rows.stop - 1, cols.stop - 1)
    view.pan(10_000, 10_000)
    rows, cols = view.geometry.visible_cells(50, 60)
    assert (rows.start, cols.start) == (0, 0)
