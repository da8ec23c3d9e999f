"""Errors that the person at the terminal can do something about."""

import contextlib
import os
from collections.abc import Iterator

# What the package raises for bad input. Anything else is a defect and keeps its traceback.
EXPECTED = (ValueError, TypeError, NotImplementedError, MemoryError, OSError, ImportError)


class UserError(Exception):
    """Something to be told in one or two lines, with exit code 2."""


@contextlib.contextmanager
def for_the_user(about: str = "") -> Iterator[None]:
    """Turn the errors that bad input leads to into a `UserError`.

    Args:
        about: What the message starts with, as the option that was at fault.
    """
    try:
        yield
    except EXPECTED as error:
        raise UserError(f"{about}{': ' if about else ''}{brief(error)}") from error


def brief(error: BaseException) -> str:
    """What an exception says, in two lines at most."""
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename is not None else ""
        return f"{place}{error.strerror}"
    lines = [line.rstrip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return "out of memory" if isinstance(error, MemoryError) else type(error).__name__
    return "\n".join(lines[:2])


def wants_traceback() -> bool:
    """Whether ABMARL_TRACEBACK asks for the whole story of an error."""
    return os.environ.get("ABMARL_TRACEBACK", "") not in ("", "0")
