"""The films and windows of the pages: one for each simulation, small, and made by their module."""

import re

import numpy as np
import pytest

pytest.importorskip("pygame", reason="needs abmarl[render]")

from PIL import Image

from abmarl.examples import shipped
from docs.machinery import pictures
from docs.machinery.pages import DOCS
from docs.machinery.seeker import Seeker, kind

MOST_BYTES, MOST_BYTES_OF_ALL = 400_000, 4_000_000
MADE = {name.replace("-", "_"): make for name, make in pictures.MADE.items()}


def test_every_simulation_has_a_film_on_its_page():
    assert set(pictures.FILMS) == set(shipped)
    for page in (DOCS / "simulations").glob("*.md"):
        if page.stem == "index":
            continue
        assert page.stem in MADE
        assert f"](../pictures/{page.stem}.gif)" in page.read_text()


def test_films_are_small():
    films = [DOCS / "pictures" / f"{name}.gif" for name in MADE]
    sizes = {film.name: film.stat().st_size for film in films if film.exists()}
    assert len(sizes) == len(shipped) + 2
    assert max(sizes.values()) < MOST_BYTES
    assert sum(sizes.values()) < MOST_BYTES_OF_ALL


def test_pictures_of_pages_are_there():
    for page in DOCS.rglob("*.md"):
        for link in re.findall(r"!\[[^\]]{15,}\]\(([^)]+)\)", page.read_text()):
            assert (page.parent / link).is_file(), (page, link)


@pytest.mark.parametrize("name", ["maze-navigation", "playing", "multi-corridor"])
def test_they_are_made_again_alike(name, tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "PICTURES", tmp_path)
    pictures.main([name])
    made = sorted(tmp_path.iterdir())
    assert made
    for path in made:
        with Image.open(path) as new, Image.open(DOCS / "pictures" / path.name) as old:
            assert new.size == old.size
            assert getattr(new, "n_frames", 1) == getattr(old, "n_frames", 1)
            first, second = (np.asarray(one.convert("RGB")).astype(int) for one in (new, old))
            # Fonts may differ from machine to machine, by a little.
            assert (np.abs(first - second).max(-1) > 40).mean() < 0.02


def test_unknown_pictures():
    with pytest.raises(SystemExit, match="no picture 'mona-lisa'; there are team-battle, "):
        pictures.main(["mona-lisa"])


def test_seekers_go_the_shortest_way():
    vec = shipped["maze-navigation"]().vectorize(num_envs=1, seed=3, autoreset=False)
    seeker = Seeker(kind(1))
    seeker.bind(vec, "navigator")
    observations, infos = vec.reset()
    steps = 0
    while not infos["ended"][0]:
        ways = seeker(observations["navigator"], infos["active"]["navigator"])
        observations, *_, infos = vec.step({"navigator": ways})
        steps += 1
        assert steps < 60
    assert infos["episode"]["return"]["navigator"][0, 0] > 0
