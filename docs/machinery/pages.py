"""The code on the pages: where it is, and how it is run. Knows no Sphinx."""

import contextlib
import io
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[1]
DRAWN = "drawn"
SEPARATOR = "# drawn"
_FENCE = re.compile(r"^(?P<fence>```+)(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)\s*$", re.M | re.S)
_CONTINUES = re.compile(r"---\ncontinues: (?P<name>\w+)\n---\n")


@dataclass(frozen=True)
class Block:
    """A piece of code on a page.

    Attributes:
        code: What is run.
        line: The line of the page on which it starts, from 1.
        drawn: Whether it must make a picture.
    """

    code: str
    line: int
    drawn: bool


def pages() -> list[Path]:
    """All pages."""
    return sorted(path for path in DOCS.rglob("*.md"))


def blocks(text: str) -> list[Block]:
    """Return the Python code of a page, in its order: fences ``python`` and ``{drawn}``."""
    found = []
    for match in _FENCE.finditer(text):
        info = match["info"].strip()
        drawn = info.startswith(f"{{{DRAWN}}}")
        if info == "python" or drawn:
            body, line = match["body"], text.count("\n", 0, match.start("body")) + 1
            if drawn:  # options stand before the code
                options = re.match(r"(:[\w-]+:[^\n]*\n)*\n?", body).group()
                body, line = body[len(options) :], line + options.count("\n")
            found.append(Block(body, line, drawn))
    return found


def visible(code: str) -> str:
    """Return the part of the code of a drawn block that readers see: up to a line ``# drawn``."""
    return code.split(f"{SEPARATOR}\n")[0].strip("\n")


def namespace(page: Path) -> dict:
    """Where the code of a page is run.

    A page that begins with ``continues: name`` between lines ``---`` goes on with what the code of
    that page, in the same folder, has left.
    """
    from docs.machinery import sketch

    earlier = _CONTINUES.match(page.read_text())
    if earlier is None:
        return {"__name__": "page", "sketch": sketch}
    before = page.with_name(f"{earlier['name']}.md")
    names = namespace(before)
    for block in blocks(before.read_text()):
        run(block, names, str(before))
    return names


def run(block: Block, names: dict, page: str):
    """Run a block.

    Returns:
        What a drawn block left in ``picture``, else None.

    Raises:
        ValueError: A drawn block made no picture.
    """
    names.pop("picture", None)
    # Empty lines in front, so that errors name the line of the page.
    source = "\n" * (block.line - 1) + block.code
    exec(compile(source, page, "exec"), names)
    if block.drawn and "picture" not in names:
        raise ValueError(f"{page}, line {block.line}: the block leaves nothing in `picture`.")
    return names.get("picture") if block.drawn else None


def pictures(page: Path) -> list[bytes]:
    """Run a page in a folder of its own, without output, and return its pictures as files."""
    from docs.machinery import sketch

    found = []
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        try:
            os.chdir(folder)
            names = namespace(page)
            for block in blocks(page.read_text()):
                picture = run(block, names, str(page))
                if block.drawn:
                    found.append(sketch.rendered(picture))
        finally:
            os.chdir(home)
    return found
