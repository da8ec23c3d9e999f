"""Matrices as pictures."""

import numpy as np
import pytest

from abmarl.render import plot_matrix

imageio = pytest.importorskip("imageio.v3")
pytest.importorskip("matplotlib")


def picture(path, values, **more):
    rows, columns = (list("abcdef")[:size] for size in np.shape(values))
    plot_matrix(path, values, rows, columns, **more)
    return imageio.imread(path)[..., :3].astype(int)


def test_cells_have_the_colours_of_their_values(tmp_path):
    image = picture(tmp_path / "m.png", np.array([[0.0, 1.0, np.nan], [0.5, 0.2, 0.9]]))
    red, green, blue = np.moveaxis(image, -1, 0)
    assert (red - green > 80).sum() > 5_000  # the lowest
    assert (green - red > 60).sum() > 5_000  # the highest
    assert (blue - red > 30).sum() > 1_000


def test_limits_make_pictures_comparable(tmp_path):
    values = np.array([[0.5, 0.5]])
    image = picture(tmp_path / "m.png", values, limits=(0, 1))
    assert abs(image[..., 0] - image[..., 1]).max() < 40  # nothing but the middle
    full = picture(tmp_path / "n.png", values, limits=(0.5, 1))
    assert (full[..., 0] - full[..., 1] > 80).sum() > 5_000


@pytest.mark.parametrize("columns", [1, 4])
def test_long_titles_are_not_cut_off(tmp_path, columns):
    title = "predator-prey-resources with many words: return of predators and of everybody else"
    image = picture(tmp_path / "m.png", np.zeros((1, columns)), title=title)
    paper = image[0, 0]
    assert (image[:, -5:] == paper).all()  # nothing reaches the edge
    plain = picture(tmp_path / "n.png", np.zeros((1, columns)))
    assert len(image) > len(plain)  # there is room for a second line
    assert ((image < 128).sum() - (plain < 128).sum()) > 10_000  # of ink


def test_what_is_wrong(tmp_path):
    with pytest.raises(ValueError, match=r"values has shape \[2\], there are 1 rows and 2 col"):
        plot_matrix(tmp_path / "m.png", np.zeros(2), ["a"], ["b", "c"])
    with pytest.raises(ValueError, match=r"known suffixes: \.png"):
        plot_matrix(tmp_path / "m.svg", np.zeros((1, 1)), ["a"], ["b"])
    (tmp_path / "m.png").write_bytes(b"earlier")
    with pytest.raises(OSError, match="No such file"):
        plot_matrix(tmp_path / "none" / "m.png", np.zeros((1, 1)), ["a"], ["b"])
    assert (tmp_path / "m.png").read_bytes() == b"earlier"
