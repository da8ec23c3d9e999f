import matplotlib.colors as reference
import pytest

from abmarl.render.colors import names, rgb

KNOWN = [
    *reference.CSS4_COLORS,
    *reference.TABLEAU_COLORS,
    *reference.BASE_COLORS,
    *(f"C{k}" for k in range(23)),
    *("#1f7", "#1f7c", "#12aBcF", "#12abcf80", "0.5", "0", "1.0", ".25"),
]


@pytest.mark.parametrize("color", KNOWN)
def test_like_matplotlib(color):
    # C0, C1, ... follow matplotlib's style there and the default style here.
    with __import__("matplotlib").rc_context({"axes.prop_cycle": _default_cycle()}):
        expected = tuple(round(255 * channel) for channel in reference.to_rgb(color))
    assert rgb(color) == expected


def _default_cycle():
    import matplotlib

    return matplotlib.rcParamsDefault["axes.prop_cycle"]


def test_names_are_all_of_matplotlibs():
    expected = {*reference.CSS4_COLORS, *reference.TABLEAU_COLORS, *reference.BASE_COLORS}
    assert set(names()) == expected | {"tab:grey"}


@pytest.mark.parametrize("color", [(1.0, 0.5, 0.0), [1, 0.5, 0, 0.3]])
def test_floats(color):
    assert rgb(color) == (255, 128, 0)


@pytest.mark.parametrize(
    ("color", "message"),
    [
        ("gren", "unknown colour 'gren'.*'green'.*allowed are the names of CSS"),
        ("#12345", "unknown colour"),
        ("2.5", "unknown colour"),
        ("", "unknown colour"),
        ((255, 0, 0), "3 or 4 floats in"),
        ((0.5, 0.5), "3 or 4 floats in"),
        ((float("nan"), 0, 0), "3 or 4 floats in"),
    ],
)
def test_refused(color, message):
    with pytest.raises(ValueError, match=message):
        rgb(color)


@pytest.mark.parametrize("color", [None, 5, ("a", "b", "c")])
def test_refused_kinds(color):
    with pytest.raises(TypeError, match="a colour is a name"):
        rgb(color)
