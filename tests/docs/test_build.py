"""The documentation builds without a warning, links to nothing that is missing, and is complete."""

import re
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from docs.machinery.reference import public_names, public_packages

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.version_info < (3, 11), reason="Sphinx needs Python 3.11"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the pages, built as ``make docs`` does it."""
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fresh-env", "--fail-on-warning",
               "--keep-going", "-b", "html", "-d", folder / "doctrees", ROOT / "docs",
               folder / "html"]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stdout + done.stderr, "a build says nothing"
    return folder / "html"


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.update(found[key] for key in ("id", "name") if found.get(key))
        self.links += [found[key] for key in ("href", "src") if found.get(key)]


def test_links_lead_somewhere(built):
    known = {path.resolve(): Page(path) for path in built.rglob("*.html")}
    assert len(known) > 50
    broken = []
    for path, page in known.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                broken.append((path.name, link))
                continue
            anchors = known[target].anchors if target in known else {parts.fragment}
            if parts.fragment and unquote(parts.fragment) not in anchors:
                broken.append((path.name, link))
    assert not broken


def test_pictures_are_there_and_described(built):
    for path in built.rglob("*.html"):
        for tag in re.findall(r"<img [^>]*class=\"drawn\"[^>]*>", path.read_text()):
            assert re.search(r'alt="[^"]{15,}"', tag), tag


def test_every_public_name_is_in_the_reference(built):
    with (built / "objects.inv").open("rb") as file:
        for _ in range(4):
            file.readline()
        lines = zlib.decompress(file.read()).decode().splitlines()
    documented = {line.split(" ", 1)[0] for line in lines}
    assert "abmarl.gridworld" in public_packages()
    missing = [sorted(names) for names in public_names().values() if not names & documented]
    assert not missing


def test_every_page_is_in_a_table_of_contents(built):
    """Sphinx warns of others, unless they say that they are orphans."""
    assert not [path for path in (ROOT / "docs").rglob("*.md") if ":orphan:" in path.read_text()]
