import numpy as np
import pytest
from PIL import Image

pytest.importorskip("matplotlib")
pytest.importorskip("matplotlib", reason="needs abmarl[render]")

from abmarl.examples import shipped
from abmarl.render import Run, plot_alive, plot_matrix, plot_runs
from abmarl.render.plots import _group_colors, acting_over_time
from abmarl.rollout import collect
from abmarl.rollout.whereabouts import whereabouts


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


imageio = pytest.importorskip("imageio.v3")


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


def made(name="predator-prey-resources", steps=40, horizon=15, seed=0):
    sim = shipped[name]()
    vec = sim.vectorize(num_envs=6, seed=seed, horizon=horizon, num_threads=1)
    rollout = collect(vec, "random", steps, name=name, progress=False)
    return Run(name, rollout, whereabouts(sim, rollout), {"prey": "royalblue"})


@pytest.fixture(scope="module")
def run():
    return made()


def test_acting_over_time_against_a_plain_loop(run):
    rollout = run.rollout
    counts = {name: {} for name in rollout.groups}
    for world in range(rollout.num_envs):
        age = 0
        for step in range(rollout.num_steps):
            for name, column in rollout.active.items():
                counts[name].setdefault(age, []).append(int(column[step, world].sum()))
            age = 0 if rollout.ended[step, world] else age + 1
    found = acting_over_time(rollout)
    for name, ages in counts.items():
        assert found[name] == pytest.approx([np.mean(ages[k]) for k in sorted(ages)])


def test_png(run, tmp_path):
    plot_runs(tmp_path / "one.png", [run])
    with Image.open(tmp_path / "one.png") as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    assert (np.abs(pixels - (65, 105, 225)).sum(-1) < 30).any()  # royalblue, the prey
    # Two rows of maps below the curves: dark blue cells in the lower half.
    dark = (pixels - (8, 29, 88)).__abs__().sum(-1) < 40
    assert dark[len(dark) // 2 :].sum() > 200
    plot_runs(tmp_path / "two.png", [run, made(seed=1)])
    with Image.open(tmp_path / "two.png") as image:
        assert image.height > 1.4 * len(pixels)


def test_svg_is_the_same_each_time(run, tmp_path):
    for name in ("one.svg", "two.svg"):
        plot_runs(tmp_path / name, [run])
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text()
    for words in ("episode return", "episode length", "survivors", "where they attacked", "prey"):
        assert words in text


def test_runs_with_other_groups_and_without_maps(run, tmp_path):
    maze = made("maze-navigation")
    plot_runs(tmp_path / "both.svg", [run._replace(where=None), maze])
    text = (tmp_path / "both.svg").read_text()
    assert "navigator" in text
    assert "predator" in text
    assert "where they were, maze-navigation" in text
    assert "where they attacked" not in text


def test_no_episode_ended(tmp_path):
    plot_runs(tmp_path / "short.svg", [made(steps=1, horizon=None)])
    assert (tmp_path / "short.svg").read_text().count("no episode ended") >= 2


def test_bad_input(run, tmp_path):
    with pytest.raises(ValueError, match=r"known suffixes: \.png \.svg"):
        plot_runs(tmp_path / "one.pdf", [run])
    with pytest.raises(ValueError, match="there is no run"):
        plot_runs(tmp_path / "one.png", [])
    with pytest.raises(OSError, match=r"missing/one\.png"):
        plot_runs(tmp_path / "missing" / "one.png", [run])


def test_groups_never_share_a_colour():
    names = ["a", "b", "c"]
    run = Run("run", None, None, dict.fromkeys(names, "tab:orange"))
    assert len(set(_group_colors([run], names).values())) == 3
