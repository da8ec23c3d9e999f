"""What commands that open a window need, and what they say where it is missing."""

import contextlib
from collections.abc import Iterator

from abmarl.cli.errors import UserError, for_the_user


def needs_window() -> None:
    """Refuse to start where nothing can be drawn.

    Raises:
        UserError: pygame is not installed.
    """
    from abmarl import extras

    with for_the_user():
        extras.load("pygame")


@contextlib.contextmanager
def needs_screen(instead: str) -> Iterator[None]:
    """Say what can be done where there is no screen.

    Args:
        instead: what to do then, in words.
    """
    from abmarl.render import NoScreenError

    try:
        yield
    except NoScreenError as error:
        reason = str(error).partition(":")[0]
        raise UserError(f"{reason}: {instead}") from error
