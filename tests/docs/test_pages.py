"""The pages of the documentation: their code runs, says what they claim, and draws."""

import re
import subprocess
import sys

import numpy as np
import pytest

from abmarl import examples
from abmarl.gridworld import agent as agents
from abmarl.gridworld.registry import registry
from docs.machinery import pages, sketch

PAGES = [page for page in pages.pages() if pages.blocks(page.read_text())]
# What a comment behind print(...) promises, up to an explanation.
PROMISE = re.compile(r"^ *print\(.*\) +# (?P<text>.+)$", re.M)


def name_of(page):
    return str(page.relative_to(pages.DOCS).with_suffix(""))


def snake(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_of_page(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = pages.namespace(page)
    capsys.readouterr()
    blocks = pages.blocks(page.read_text())
    for block in blocks:
        picture = pages.run(block, names, str(page))
        if block.drawn:
            check_picture(sketch.rendered(picture))
    printed = capsys.readouterr().out.splitlines()
    for block in blocks:
        for promise in PROMISE.findall(block.code):
            assert any(keeps(promise, line) for line in printed), promise


def keeps(promise, line):
    """Whether a comment is what was printed, with ``...`` for anything and a remark behind it."""
    text = ".*".join(map(re.escape, promise.split("...")))
    return re.fullmatch(text, line) or (line and re.match(re.escape(line) + "[:,;] ", promise))


def check_picture(data):
    if sketch.suffix(data) in (".png", ".gif"):
        assert len(data) > 1000
    else:
        assert data.lstrip().startswith(b"<?xml")
        assert data.count(b"<path") > 5


def test_a_promise_can_be_broken():
    assert keeps("(3, 4): rows, columns", "(3, 4)")
    assert keeps("Dict('move': ...)", "Dict('move': Box)")
    assert not keeps("(3, 4): rows, columns", "(3, 5)")
    assert not keeps("True", "Tru")
    assert not keeps("anything", "")


def component_pages():
    for kind, components in registry.items():
        for name, component in components.items():
            if component.__module__.startswith("abmarl."):
                yield f"{kind}s/{snake(name)}"
    for name in agents.__all__:
        yield f"agents/{snake(name)}"


@pytest.mark.parametrize("name", list(component_pages()))
def test_every_component_has_a_page_with_an_example(name):
    text = (pages.DOCS / "components" / f"{name}.md").read_text()
    assert any(block.drawn for block in pages.blocks(text))


def test_every_shipped_simulation_has_a_page():
    text = "".join(page.read_text() for page in (pages.DOCS / "simulations").glob("*.md"))
    for name in examples.shipped:
        assert f"`{name}`" in text, name


@pytest.mark.parametrize("name", ["rollout", "evaluate"])
def test_every_option_of_the_command_is_explained(name):
    command = [sys.executable, "-m", "abmarl", name, "--help"]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    text = (pages.DOCS / "guide" / "command_line.md").read_text()
    options = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", found.stdout, re.M)) - {"--help"}
    assert len(options) > 10
    assert not {option for option in options if f"`{option}`" not in text}


def test_blocks_are_found_with_their_lines():
    text = "# Page\n\n```python\na = 1\n```\n\n```{drawn}\n:alt: A picture.\n\npicture = a\n```\n"
    first, second = pages.blocks(text)
    assert (first.code, first.line, first.drawn) == ("a = 1\n", 4, False)
    assert (second.code, second.line, second.drawn) == ("picture = a\n", 10, True)


def test_what_readers_do_not_see():
    assert pages.visible("a = 1\n# drawn\npicture = a\n") == "a = 1"
    assert pages.visible("# drawn\npicture = a\n") == ""


def test_errors_name_the_line_of_the_page():
    block = pages.Block("a = 1\nb = c\n", 7, False)
    with pytest.raises(NameError) as caught:
        pages.run(block, {}, "page.md")
    assert caught.traceback[-1].lineno + 1 == 8


def test_a_drawn_block_must_draw():
    names = {"picture": 1}
    with pytest.raises(ValueError, match=r"page\.md, line 3: the block leaves nothing"):
        pages.run(pages.Block("a = 1\n", 3, True), names, "page.md")


def test_sketches_are_reproducible():
    def drawn():
        return sketch.rendered(sketch.window(np.array([[-2, -1, 0], [1, 2, 3]])))

    assert drawn() == drawn()
    with pytest.raises(TypeError, match="a picture is a Panel"):
        sketch.rendered("a picture")
