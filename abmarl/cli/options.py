"""Options that several commands have."""

import os
from typing import Annotated

import typer


def _want_traceback(wanted: bool) -> None:
    if wanted:
        os.environ["ABMARL_TRACEBACK"] = "1"


Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        callback=_want_traceback,
        help="Tell the whole story of an error; so does ABMARL_TRACEBACK=1.",
    ),
]
Checkpoint = Annotated[
    int | None,
    typer.Option(
        "--checkpoint",
        "-c",
        min=0,
        metavar="N",
        show_default=False,
        help="The checkpoint of which iteration. [default: the last one]",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", show_default=False, help="The same seed gives the same run."),
]
