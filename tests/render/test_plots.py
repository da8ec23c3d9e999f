import numpy as np
import pytest
from PIL import Image

from abmarl.render import plot_alive


def test_curves_have_their_colours(tmp_path):
    path = tmp_path / "alive.png"
    alive = {"red": np.linspace(6, 0, 50), "others": np.linspace(6, 3, 80)}
    plot_alive(path, alive, {"red": "red"}, title="Survivors")
    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    assert pixels.shape == (630, 1080, 3)
    for color in ((255, 0, 0), (0xFF, 0x7F, 0x0E)):
        assert (pixels == color).all(-1).sum() > 200
    assert [entry.name for entry in tmp_path.iterdir()] == ["alive.png"]


def test_the_same_again_is_the_same_file(tmp_path):
    for name in ("a.png", "b.png"):
        plot_alive(tmp_path / name, {"x": [3, 2, 2], "nobody": [0, 0, 0]})
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_one_step_and_gaps(tmp_path):
    plot_alive(tmp_path / "a.png", {"x": [0.5]}, ylabel="fraction")
    plot_alive(tmp_path / "b.png", {"x": [1.0, np.nan, 0.5]})


@pytest.mark.parametrize(
    ("name", "alive", "message"),
    [
        ("x.pdf", {"a": [1]}, "known suffixes: .png"),
        ("x.png", {}, "no team"),
        ("x.png", {"a": []}, r"'a' has shape \[0\]"),
        ("x.png", {"a": [[1, 2]]}, r"'a' has shape \[1, 2\]"),
    ],
)
def test_refused(tmp_path, name, alive, message):
    with pytest.raises(ValueError, match=message):
        plot_alive(tmp_path / name, alive)
    assert not list(tmp_path.iterdir())


def test_a_wrong_colour_keeps_the_earlier_file(tmp_path):
    path = tmp_path / "x.png"
    path.write_bytes(b"earlier")
    with pytest.raises(ValueError, match="unknown colour"):
        plot_alive(path, {"a": [1, 2]}, {"a": "blurple-ish"})
    assert path.read_bytes() == b"earlier"
    with pytest.raises(OSError, match="nowhere"):
        plot_alive(tmp_path / "nowhere" / "x.png", {"a": [1, 2]})
