"""How Sphinx builds these pages: ``make docs``."""

import contextlib
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

import abmarl  # noqa: E402 - after the path is set

with contextlib.suppress(ImportError):
    # gym says farewell on import, and a build that says nothing is easier to read.
    import gym_notices.notices

    gym_notices.notices.notices.clear()

project = "abmarl"
author = "The abmarl developers"
copyright = "The abmarl developers, BSD-3-Clause"
version = release = abmarl.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docs.machinery.directives",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["machinery"]
nitpicky = True
# Shapes such as [rows, cols] in the first line of a property look like names of several things.
suppress_warnings = ["ref.python"]
# What Python, NumPy and gymnasium define is not looked up: a build needs no network.
nitpick_ignore_regex = [("py:.*", r"(?!abmarl\.).*"), ("py:.*", r"abmarl\.(.*\.)?_.*")]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autoclass_content = "class"
# Docstrings name things in single backticks.
default_role = "literal"
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"abmarl {version}"
html_show_sourcelink = False
html_static_path = []
html_copy_source = False
