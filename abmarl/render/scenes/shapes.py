"""The markers that agents may be drawn as, by matplotlib's names."""

from typing import Any

SHAPES = (
    "o", ".", ",", "s", "^", ">", "v", "<", "D", "d", "p", "h", "H", "8", "*", "P", "X",
    "+", "x", "|", "_", "1", "2", "3", "4",
)  # fmt: skip
LONGEST_TEXT = 4


def text_of(shape: str) -> str | None:
    """What stands between the dollars of a marker such as ``"$R$"``; None: it is none of these."""
    inner = shape[1:-1].strip()
    short = 0 < len(inner) <= LONGEST_TEXT and inner.isprintable()
    framed = len(shape) > 2 and shape[0] == shape[-1] == "$"
    return inner if framed and short and not set(inner) & set("$\\^_{}") else None


def check_shape(shape: Any) -> str:
    """The marker itself.

    Raises:
        ValueError: it cannot be drawn.
    """
    if isinstance(shape, str) and (shape in SHAPES or text_of(shape)):
        return shape
    raise ValueError(
        f"unknown render_shape {shape!r}: known are {' '.join(SHAPES)}, and up to {LONGEST_TEXT} "
        "letters between dollars, as in '$R$'"
    )
