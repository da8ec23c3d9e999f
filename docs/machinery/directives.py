"""Directives of the pages: ``{drawn}`` runs its code and shows the picture that it makes."""

import hashlib
import html
import traceback
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from docs.machinery import pages, reference, sketch, tables


class Drawn(SphinxDirective):
    """Code and the picture that it leaves in ``picture``.

    All the code of a page, also that in plain ``python`` fences before it, is run in one namespace.
    Lines after ``# drawn`` are run and not shown. Options: ``alt`` (required) says what is to be
    seen, ``caption`` stands below the picture.
    """

    has_content = True
    required_arguments = 0
    option_spec: ClassVar = {"alt": directives.unchanged_required, "caption": directives.unchanged}

    def run(self):
        """Return the code block and the figure."""
        if "alt" not in self.options:
            raise self.error("a drawn block needs :alt:, what is to be seen in the picture")
        target = Path(self.env.app.outdir) / "_images"
        target.mkdir(parents=True, exist_ok=True)
        number = self.env.temp_data.setdefault("drawn", 0)
        self.env.temp_data["drawn"] = number + 1
        try:
            data = self._pictures()[number]
        except Exception as error:
            raise self.error(f"the code of this page fails: {_brief(error)}") from error
        path = target / f"{self.env.docname.replace('/', '-')}-{number}{sketch.suffix(data)}"
        path.write_bytes(data)
        # Browsers keep pictures; another one gets another address.
        digest = hashlib.sha256(data).hexdigest()[:8]
        up = "../" * self.env.docname.count("/")
        image = nodes.raw(
            "",
            f'<img src="{up}_images/{path.name}?{digest}" class="drawn" '
            f'alt="{html.escape(self.options["alt"])}"/>',
            format="html",
        )
        shown = []
        code = pages.visible("\n".join(self.content))
        if code:
            block = nodes.literal_block(code, code)
            block["language"] = "python"
            shown.append(block)
        shown.append(image)
        if "caption" in self.options:
            text, messages = self.state.inline_text(self.options["caption"], self.lineno)
            shown += [nodes.paragraph("", "", *text), *messages]
        return shown

    def _pictures(self):
        """Return the pictures of the whole page, made when the first one is asked for."""
        if "pictures" not in self.env.temp_data:
            page = Path(self.env.doc2path(self.env.docname))
            self.env.temp_data["pictures"] = pages.pictures(page)
        return self.env.temp_data["pictures"]


class Ratios(SphinxDirective):
    """The table of measured ratios, from ``benchmarks/ratios.json``."""

    def run(self):
        """Return the table."""
        rows = tables.ratios()
        table = nodes.table()
        group = nodes.tgroup(cols=2)
        group += [nodes.colspec(colwidth=75), nodes.colspec(colwidth=25)]
        head, body = nodes.thead(), nodes.tbody()
        head += _row("what", "how many times as fast")
        body += [_row(what, ratio) for what, ratio in rows]
        group += [head, body]
        table += group
        return [table]


def _row(*cells):
    row = nodes.row()
    row += [nodes.entry("", nodes.paragraph("", cell)) for cell in cells]
    return row


def _brief(error):
    """Return what went wrong, and on which line of which page."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"{frame.filename}:{frame.lineno}: " for frame in frames if ".md" in frame.filename]
    return f"{''.join(lines[-1:])}{type(error).__name__}: {error}"


def setup(app):
    """Register the directives; Sphinx calls this."""
    app.add_directive("drawn", Drawn)
    app.add_directive("ratios", Ratios)
    app.connect("autodoc-process-bases", reference.only_public_bases)
    app.connect("autodoc-process-signature", reference.own_signature)
    # After napoleon, which has stars of its own to escape.
    app.connect("autodoc-process-docstring", reference.escape_stars, priority=900)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
